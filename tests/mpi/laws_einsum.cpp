// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4 6 8
// labels: device
// checks: 581 1218 1218 1911 2340 2388
// Products of tensors in every layout of the dims of the whole product: blocks of the right values,
// addends where a summed dim is split, transposes, and not a byte through MPI.
#include "dimesh/op/einsum.hpp"

#include <doctest/doctest.h>

#include "support/adjoint.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;

/// Calls f(grid, tag<L>) for layouts of dims p, q, r on every shape of the mesh.
template <class M, layout_choice Choice, class F> void for_each_program(F&& f) {
  for_each_grid<M>([&](const dm::grid<M>& g) {
    for_all_layouts<M, dm::detail::list<p, q, r>, Choice>([&](auto t) {
      INFO("layout ", std::string(dm::detail::spelled<typename decltype(t)::type>()));
      f(g, t);
    });
  });
}

/// Extents of p, q, r.
const std::vector<extents> sizes = {{5, 4, 3}, {1, 7, 2}, {0, 3, 2}, {3, 0, 2}};

template <class L, class Grid> void check_product(const Grid& g, bool adjoint) {
  for (const extents& n : sizes) {
    const array a = numbers({"p", "q"}, {n[0], n[1]}, 1), b = numbers({"q", "r"}, {n[1], n[2]}, 2);
    const auto x = scattered<dm::tensor<double, L, p, q>>(g, a);
    const auto y = scattered<dm::tensor<double, L, q, r>>(g, b);
    const auto f = [](const auto& u, const auto& v) { return dm::einsum<p, r>(u, v); };
    CHECK(agrees(f(x, y), einsum({"p", "r"}, {a, b})));
    if (adjoint) check_operation(f, {}, {a, b}, x, y);
  }
}

TEST_CASE("a matrix product in every layout of a plane") {
  for_each_program<plane, unevenly>(
      [](const auto& g, auto t) { check_product<typename decltype(t)::type>(g, true); });
}

TEST_CASE("a matrix product in a sample of the layouts of a cube") {
  for_each_program<cube, layout_choice{.uneven = true, .stride = 9, .first = 4}>(
      [](const auto& g, auto t) { check_product<typename decltype(t)::type>(g, false); });
}

TEST_CASE("a matrix product with addends on one side") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    const array a = numbers({"p", "q"}, {5, 4}, 1), b = numbers({"q", "r"}, {4, 3}, 2);
    const auto v = scattered<
        dm::tensor<double, dm::layout<plane, dm::partial<x>, dm::split<dm::uneven<q>, y>>, p, q>>(
        g, a);
    const auto w =
        scattered<dm::tensor<double, dm::layout<plane, dm::split<dm::uneven<q>, y>>, q, r>>(g, b);
    const auto f = [](const auto& u, const auto& v) { return dm::einsum<r, p>(u, v); };
    CHECK(agrees(f(v, w), einsum({"r", "p"}, {a, b})));
    check_operation(f, {}, {a, b}, v, w);
  });
}

TEST_CASE("three operands, one of them addends, in either place") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    const array a = numbers({"p", "q"}, {5, 4}, 1), b = numbers({"q", "r"}, {4, 3}, 2),
                c = numbers({"r"}, {3}, 3);
    using L = dm::layout<plane, dm::split<dm::uneven<p>, y>>;
    const auto v = scattered<dm::tensor<double, L, p, q>>(g, a);
    const auto w = scattered<dm::tensor<double, dm::layout<plane, dm::partial<x>>, q, r>>(g, b);
    const auto k = scattered<dm::tensor<double, L, r>>(g, c);
    const auto f = [](const auto& i, const auto& j, const auto& l) {
      return dm::einsum<p>(i, j, l);
    };
    CHECK(agrees(f(v, w, k), einsum({"p"}, {a, b, c})));
    CHECK(agrees(f(k, w, v), einsum({"p"}, {a, b, c})));
    check_operation(f, precision{1e-3, 1e-5}, {a, b, c}, v, w, k);
  });
}

TEST_CASE("batched, outer and full products, any order of dims") {
  for_each_program<plane, layout_choice{.uneven = true, .stride = 3}>([](const auto& g, auto t) {
    using L = typename decltype(t)::type;
    const array a = numbers({"r", "p", "q"}, {3, 5, 4}, 1), b = numbers({"q", "r"}, {4, 3}, 2);
    const array c = numbers({"p"}, {5}, 3);
    const auto x = scattered<dm::tensor<double, L, r, p, q>>(g, a);
    const auto y = scattered<dm::tensor<double, L, q, r>>(g, b);
    const auto z = scattered<dm::tensor<double, L, p>>(g, c);
    CHECK(agrees(dm::einsum<p, r>(x, y), einsum({"p", "r"}, {a, b})));  // batched over r
    CHECK(agrees(dm::einsum<p, q, r>(x, y), einsum({"p", "q", "r"}, {a, b})));  // nothing summed
    CHECK(agrees(dm::einsum<r, p, q>(y, z), einsum({"r", "p", "q"}, {b, c})));  // outer
    CHECK(agrees(dm::einsum<>(y, y), einsum({}, {b, b})));  // all summed
    CHECK(agrees(dm::einsum<q>(x, y, z), einsum({"q"}, {a, b, c})));  // three operands
    check_operation([](const auto& u, const auto& v) { return dm::einsum<p, r>(u, v); }, {}, {a, b},
                    x, y);
  });
}

}  // namespace
