// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4 6 8
// checks: 606 1260 1260 1962 2664 2712
// Whole programs in every layout of their dims: values used twice, contributions of several kinds
// to one cotangent, tensors without dims, collectives between local operations.
#include "dimesh/op/einsum.hpp"

#include <doctest/doctest.h>

#include "dimesh/op/complete.hpp"
#include "dimesh/op/functions.hpp"
#include "dimesh/op/reduce.hpp"
#include "dimesh/op/rename.hpp"
#include "dimesh/op/whole.hpp"
#include "support/adjoint.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;

constexpr precision cubic{1e-3, 1e-5};  // central differences are exact only up to second order

/// f(v, w, a, b) for tensors [p, q] and [q] of every layout.
template <layout_choice Choice, class F> void for_each_pair(F&& f) {
  for_each_case<plane, Choice, p, q>({{5, 4}, {1, 7}}, [&](const auto& v, const array& a) {
    using X = std::remove_cvref_t<decltype(v)>;
    const array b = numbers({"q"}, {a.size[1]}, 9);
    f(v, scattered<dm::tensor<double, typename X::layout_type, q>>(v.grid(), b), a, b);
  });
}

TEST_CASE("one value used twice: its cotangents add up") {
  for_each_pair<unevenly>([](const auto& v, const auto& w, const array& a, const array& b) {
    // Cotangents of w come from a broadcast sum, from itself, and from a product with what is
    // whole.
    const auto f = [](const auto& u, const auto& k) { return u * k + k * 2 + u; };
    check_operation(f, {}, {a, b}, v, w);
  });
}

TEST_CASE("tensors without dims") {
  for_each_pair<layout_choice{.uneven = true, .stride = 2}>([](const auto& v, const auto& w,
                                                               const array& a, const array& b) {
    const auto f = [](const auto& u, const auto& k) {
      return u * dm::complete(dm::sum(k)) + dm::complete(dm::sum(k));
    };
    const double s = sum({}, b).values[0];
    CHECK(agrees(f(v, w), map([s](const std::vector<double>& x) { return x[0] * s + s; }, {a})));
    check_operation(f, {}, {a, b}, v, w);
    check_operation([](const auto& u, const auto& k) { return dm::sum(u * k); }, {}, {a, b}, v, w);
  });
}

TEST_CASE("a loss that is completed, and one that is not") {
  for_each_pair<unevenly>([](const auto& v, const auto& w, const array& a, const array& b) {
    const array want = einsum({}, {a, b, b});
    const auto open = [](const auto& u, const auto& k) { return dm::sum(dm::einsum<p>(u, k * k)); };
    const auto closed = [=](const auto& u, const auto& k) { return dm::complete(open(u, k)); };
    CHECK(agrees(open(v, w), want));
    CHECK(agrees(closed(v, w), want));
    check_operation(closed, cubic, {a, b}, v, w);
  });
}

TEST_CASE("a tensor times itself, and under another name") {
  for_each_case<plane, layout_choice{.uneven = true, .stride = 2, .first = 1}, p, q>(
      {{5, 4}}, [](const auto& v, const array& a) {
        const auto norm = [](const auto& u) { return dm::einsum<>(u, u); };
        CHECK(agrees(norm(v), einsum({}, {a, a})));
        check_operation(norm, {}, {a}, v);
        // u u^T: the second operand must be whole where the first is split, or the two would
        // share an axis.
        const auto gram = [](const auto& u) {
          const auto all = dm::whole<p>(u);
          return dm::complete(dm::einsum<p, r>(all, dm::rename<p, r>(all)));
        };
        CHECK(agrees(gram(v), einsum({"p", "r"}, {a, renamed(a, "p", "r")})));
        check_operation(gram, {}, {a}, v);
      });
}

TEST_CASE("a layer and its loss in a sample of the layouts of a cube") {
  for_each_case<cube, layout_choice{.uneven = true, .stride = 16, .first = 5}, p, q>(
      {{5, 4}}, [](const auto& v, const array& a) {
        using L = typename std::remove_cvref_t<decltype(v)>::layout_type;
        const array b = numbers({"q", "r"}, {4, 3}, 2), c = numbers({"r"}, {3}, 3);
        const auto w = scattered<dm::tensor<double, L, q, r>>(v.grid(), b);
        const auto bias = scattered<dm::tensor<double, L, r>>(v.grid(), c);
        const auto layer = [](const auto& i, const auto& j, const auto& k) {
          return dm::complete(dm::einsum<p, r>(i, j)) + k;
        };
        CHECK(
            agrees(layer(v, w, bias), map([](const std::vector<double>& t) { return t[0] + t[1]; },
                                          {einsum({"p", "r"}, {a, b}), c})));
        check_operation(layer, {}, {a, b, c}, v, w, bias);
        const auto loss = [=](const auto& i, const auto& j, const auto& k) {
          return dm::complete(dm::sum(dm::square(layer(i, j, k))));
        };
        check_operation(loss, precision{1e-3, 1e-5}, {a, b, c}, v, w, bias);
      });
}

TEST_CASE("addends and whole values meet in one cotangent") {
  // w is replicated along both axes. One use is completed before the loss, whose cotangent then is
  // held whole; the other is not, whose cotangent is made of addends.
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    const array a = numbers({"p", "q"}, {5, 4}, 1), b = numbers({"q"}, {4}, 2);
    const auto v =
        scattered<dm::tensor<double, dm::layout<plane, dm::split<dm::uneven<p>, x>>, p, q>>(g, a);
    const auto w = scattered<dm::tensor<double, dm::layout<plane>, q>>(g, b);
    const auto f = [](const auto& u, const auto& k) {
      const auto one = dm::complete(dm::sum(dm::einsum<p>(u, k)));
      const auto two = dm::sum(k * k);
      return one * 3 + two + one * two;
    };
    check_operation(f, cubic, {a, b}, v, w);
    const auto again = [](const auto& u, const auto& k) {
      return dm::einsum<p>(u, k) * dm::sum(k) + dm::einsum<p>(u, k);
    };
    check_operation(again, cubic, {a, b}, v, w);
  });
}

}  // namespace
