// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// checks: 204 197 195
// labels: heavy
// Elementwise operations and reductions of tensors of bfloat16 and their transposes: exact on small
// whole numbers. And gradients of float masters that a model uses in bfloat16, which are not.
#include "dimesh/element/bfloat16.hpp"

#include <doctest/doctest.h>

#include "dimesh/create.hpp"
#include "dimesh/grad/complete.hpp"
#include "dimesh/op/argmax.hpp"
#include "dimesh/op/cast.hpp"
#include "dimesh/op/einsum.hpp"
#include "dimesh/op/functions.hpp"
#include "dimesh/op/softmax.hpp"
#include "dimesh/op/value.hpp"
#include "support/adjoint.hpp"
#include "support/host.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
using bf = dm::bfloat16;

TEST_CASE("bfloat16 map, sum, mean: computed in float") {
  for_each_case<line, unevenly, p, q>({{4, 4}, {1, 8}}, [](const auto& w, const array& a) {
    using L = typename std::remove_cvref_t<decltype(w)>::layout_type;
    const array b = numbers({"q"}, {a.size[1]}, 2);
    const auto u = scattered<dm::tensor<bf, L, p, q>>(w.grid(), a);
    const auto v = scattered<dm::tensor<bf, L, q>>(w.grid(), b);
    const auto f = [](const auto& i, const auto& j) { return i * j + 2 * i - j; };
    const auto of = [](const std::vector<double>& e) { return e[0] * e[1] + 2 * e[0] - e[1]; };
    CHECK(agrees(f(u, v), map(of, {a, b})));
    check_operation(f, {}, {a, b}, u, v);
    const auto g = [](const auto& i, const auto& j) {
      return dm::map<float>([](auto s, auto t) { return s * t + 2 * s - t; }, i, j);
    };
    CHECK(agrees(g(u, v), map(of, {a, b})));
    check_operation(g, {}, {a, b}, u, v);
    const auto mixed = [](const auto& i, const auto& j) { return i - j * dm::cast<float>(i); };
    check_operation(mixed, {}, {a, b}, u, v);
    check_operation([](const auto& i) { return dm::sum<p>(i); }, {}, {a}, u);
    check_operation([](const auto& i) { return dm::sum<float, q>(i); }, {}, {a}, u);
    check_operation([](const auto& i) { return dm::complete(dm::mean<float>(i)); }, {}, {a}, u);
    CHECK(agrees(dm::sum<float, p>(u), sum({"q"}, a)));
  });
}

TEST_CASE("bfloat16: a long sum does not stall where its addends are small beside it") {
  const dm::grid<line> g;
  using L = dm::layout<line, dm::split<dm::uneven<p>, x>>;
  const auto ones = dm::constant<dm::tensor<bf, L, p>>(g, 1, p{10000});
  CHECK(dm::value(dm::complete(dm::sum<float>(ones))) == 10000);
  const auto pairs = dm::constant<dm::tensor<bf, dm::layout<line>, p, q>>(g, 1, p{3000}, q{2});
  const auto columns = dm::sum<p>(pairs);  // rows are added up, one after the other
  CHECK(test_support::on_host(columns)[1] == bf(3000));
}

TEST_CASE("bfloat16 softmax and argmax: of split dims and whole ones") {
  const dm::grid<line> g;
  using L = dm::layout<line, dm::split<dm::uneven<p>, x>>;
  const array a = numbers({"p", "q"}, {5, 4}, 3);
  const auto u = scattered<dm::tensor<bf, L, p, q>>(g, a);
  const auto wide = scattered<dm::tensor<double, L, p, q>>(g, a);
  const auto want = dm::softmax<p>(wide), got = dm::cast<double>(dm::softmax<p>(u));
  for (index_t i = 0; i < got.local_size(); ++i)
    CHECK(test_support::on_host(got)[i] ==
          doctest::Approx(test_support::on_host(want)[i]).scale(0).epsilon(0.01));
  const auto at = dm::argmax<q>(u), place = dm::argmax<q>(wide);
  for (index_t i = 0; i < at.local_size(); ++i)
    CHECK(test_support::on_host(at)[i] == test_support::on_host(place)[i]);
}

/// Two layers that share their weights, which are used in bfloat16, or as they are.
template <bool Rounded> struct model {
  template <class T> static auto used(const T& w) {
    if constexpr (Rounded)
      return dm::cast<bf>(w);
    else
      return w;
  }
  template <class W, class X> auto operator()(const W& w, const X& v) const {
    const auto h = dm::gelu(dm::complete(dm::einsum<p, r>(used(v), used(w))));
    const auto y = dm::complete(dm::einsum<float, p, q>(h, used(w)));
    return dm::mean(dm::square(y - v));
  }
};

TEST_CASE("float masters used in bfloat16: gradients are float, and near those in float") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    using L = dm::layout<plane, dm::split<dm::uneven<p>, x>, dm::split<dm::uneven<r>, y>>;
    const auto w =
        dm::uniform<dm::tensor<float, L, q, r>>(g, dm::random_key{1}, -0.3, 0.3, q{12}, r{20});
    const auto v =
        dm::uniform<dm::tensor<float, L, p, q>>(g, dm::random_key{2}, -1, 1, p{24}, q{12});
    const auto exact = dm::complete(dm::value_and_grad(model<false>{}, w)(v));
    const auto near = dm::complete(dm::value_and_grad(model<true>{}, w)(v));
    static_assert(std::is_same_v<decltype(near.gradient), decltype(exact.gradient)>);
    CHECK(std::abs(dm::value(near.value) - dm::value(exact.value)) < 0.01 * dm::value(exact.value));
    double off = 0, all = 0;
    for (index_t i = 0; i < w.local_size(); ++i) {
      off += std::pow(
          test_support::on_host(near.gradient)[i] - test_support::on_host(exact.gradient)[i], 2);
      all += std::pow(test_support::on_host(exact.gradient)[i], 2);
    }
    CHECK(std::sqrt(off) <= 0.02 * std::sqrt(all));
    CHECK((w.local_size() == 0 || off > 0));  // it is not the same computation
  });
}

}  // namespace
