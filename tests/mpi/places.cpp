// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors that live at one place of an axis: what is done to them is right there and is not done
// anywhere else, whatever the other axes do; they get there, on and back; and so do gradients.
//
// ranks: 1 2 4
#include "dimesh/op/place.hpp"

#include <doctest/doctest.h>

#include "dimesh/dimesh.hpp"
#include "support/adjoint.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
using dm::use;

constexpr layout_choice at_places{.partial = true, .uneven = true, .orders = false, .places = 2};
const std::vector<extents> sizes = {{5, 4}, {1, 3}, {0, 2}};

template <class X, class A>
inline constexpr dm::detail::axis_use use_along =
    dm::spec_of<X>::table.axis[dm::axis_index<typename X::mesh_type, A>];

/// Every change of what axis A does that begins or ends at a place.
template <class A, class X> void check_moves(const X& v, const array& a) {
  constexpr auto now = use_along<X, A>;
  const auto has = [&v](dm::index_t k) { return k < v.grid().template size<A>(); };
  if constexpr (now.what == use::replicated) {
    CHECK(agrees(dm::place<A, 0>(v), a));
    check_operation([](const auto& w) { return dm::place<A, 0>(w); }, {}, {a}, v);
    if (has(1)) check_operation([](const auto& w) { return dm::place<A, 1>(w); }, {}, {a}, v);
  } else if constexpr (now.what == use::partial) {
    CHECK(agrees(dm::reduce<A, 0>(v), a));
    check_operation([](const auto& w) { return dm::reduce<A, 0>(w); }, {}, {a}, v);
    if (has(1)) check_operation([](const auto& w) { return dm::reduce<A, 1>(w); }, {}, {a}, v);
  } else if constexpr (now.what == use::placed) {
    CHECK(agrees(dm::broadcast<A>(v), a));
    check_operation([](const auto& w) { return dm::broadcast<A>(w); }, {}, {a}, v);
    check_operation([](const auto& w) { return dm::send<A, 0>(w); }, {}, {a}, v);
    if (!has(1)) return;
    CHECK(agrees(dm::send<A, now.at, 1>(v), a));
    check_operation([](const auto& w) { return dm::send<A, 1>(w); }, {}, {a}, v);
  }
}

/// Operations that know nothing of places.
template <class X> void check_uses(const X& v, const array& a) {
  const auto twice = [](const auto& w) { return w + w; };
  CHECK(agrees(twice(v), map([](const auto& e) { return 2 * e[0]; }, {a})));
  check_operation(twice, {}, {a}, v);
  CHECK(agrees(dm::sum<q>(v), sum({"p"}, a)));
  check_operation([](const auto& w) { return dm::complete(dm::sum<q>(w)); }, {}, {a}, v);
  CHECK(agrees(dm::complete(dm::sum(v)), sum({}, a)));
  if constexpr (!dm::spec_of<X>::table.any_partial()) {
    const auto product = [](const auto& w) { return dm::einsum<p>(w, w * w + 1.0); };
    CHECK(agrees(product(v),
                 einsum({"p"}, {a, map([](const auto& e) { return e[0] * e[0] + 1; }, {a})})));
    check_operation(product, smooth, {a}, v);
    check_operation([](const auto& w) { return dm::whole<p>(w); }, {}, {a}, v);
  }
  const auto all = dm::to_rank(v, 0);
  if (v.grid().rank() == 0) CHECK(all == a.values);
}

TEST_CASE("places on a line") {
  for_each_case<line, at_places, p, q>(sizes, [](const auto& v, const array& a) {
    check_moves<x>(v, a);
    check_uses(v, a);
  });
}

constexpr layout_choice sample{
    .partial = true, .uneven = true, .orders = false, .places = 2, .stride = 3, .first = 4};

TEST_CASE("places on a plane: a sample of layouts") {
  for_each_case<plane, sample, p, q>({{5, 4}}, [](const auto& v, const array& a) {
    check_moves<x>(v, a);
    check_moves<y>(v, a);
    check_uses(v, a);
  });
}

constexpr layout_choice goals{.uneven = true, .orders = false, .places = 2};
constexpr layout_choice some_goals{
    .uneven = true, .orders = false, .places = 2, .stride = 9, .first = 3};

constexpr layout_choice few{
    .partial = true, .uneven = true, .orders = false, .places = 2, .stride = 7, .first = 4};

/// To every layout of the choice, and its adjoint.
template <layout_choice Choice, class X> void check_relayouts(const X& v, const array& a) {
  using M = typename X::mesh_type;
  for_each_layout<M, dm::detail::list<p, q>, Choice>([&](auto t) {
    using L = typename decltype(t)::type;
    using Y = dm::tensor<double, L, p, q>;
    if (!comes_out_even<dm::spec_of<Y>>(v.grid(), a.size)) return;
    INFO("to ", std::string(dm::detail::spelled<L>()));
    CHECK(agrees(dm::relayout<L>(v), a));
    check_operation([](const auto& w) { return dm::relayout<L>(w); }, {}, {a}, v);
  });
}

TEST_CASE("relayout from places and to places") {
  for_each_case<line, at_places, p, q>(
      {{5, 4}}, [](const auto& v, const array& a) { check_relayouts<goals>(v, a); });
  for_each_case<plane, sample, p, q>(
      {{5, 4}}, [](const auto& v, const array& a) { check_relayouts<some_goals>(v, a); });
}

}  // namespace
