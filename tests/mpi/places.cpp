// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors that live at one place of an axis: what is done to them is right there and is not done
// anywhere else, whatever the other axes do; they get there, on and back; and so do gradients.
//
// ranks: 1 2 4
// checks: 832 1549 2104
#include "dimesh/op/place.hpp"

#include <doctest/doctest.h>

#include "dimesh/any_tensor.hpp"
#include "dimesh/dimesh.hpp"
#include "dimesh/op/cast.hpp"
#include "dimesh/op/halo_exchange.hpp"
#include "dimesh/op/shift.hpp"
#include "dimesh/op/start.hpp"
#include "dimesh/op/stencil.hpp"
#include "dimesh/show/print.hpp"
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

[[maybe_unused]] constexpr layout_choice few{
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

TEST_CASE("a send is the first that asks for an axis: ranks between which nothing goes go on") {
  using there = dm::layout<plane, dm::placed<x, 1>>;
  using X = dm::tensor<double, dm::layout<plane, dm::placed<x, 0>>, q>;
  const auto check = [](const auto& send) {
    const dm::grid<plane> g(y{1});
    if (g.size<x>() < 2) return;
    const auto w = send(dm::constant<X>(g, 3, q{2}));
    MPI_Barrier(MPI_COMM_WORLD);  // where those that have no part in it would wait
    CHECK(agrees(w, array{{"q"}, {2}, {3, 3}}));
  };
  check([](const X& v) { return dm::send<x, 0, 1>(v); });
  check([](const X& v) { return dm::relayout<there>(v); });
  check([](const X& v) { return dm::await(dm::start_send<x, 1>(v)); });
  check([](const X& v) { return dm::await(dm::start_relayout<there>(v)); });
}

template <class F> std::string error_of(const F& f) {
  try {
    f();
  } catch (const dm::error& e) {
    return e.what();
  }
  return "";
}

TEST_CASE("what is made, moved, shown and refused by numbers") {
  const dm::grid<line> g;
  const dm::index_t ranks = g.size<x>();
  const bool here = g.coord<x>() == 0;
  using X = dm::tensor<double, dm::layout<line, dm::placed<x, 0>>, p, q>;
  using R = dm::tensor<double, dm::layout<line>, p, q>;
  const array a = numbers({"p", "q"}, {6, 4}, 9);
  const auto v = dm::from_rank<X>(g, a.values, g.ranks() - 1, p{6}, q{4});
  CHECK(agrees(v, a));
  CHECK(agrees(dm::clone(v), a));
  CHECK(dm::broadcast_element(v, {1, 2}) == a.values[6]);
  CHECK(dm::any_tensor(v).is<X>());
  CHECK(!dm::any_tensor(v).is<R>());
  CHECK(v.block<q>().length == (here ? 4 : 0));
  CHECK(v.extent<q>() == 4);

  std::ostringstream printed;
  dm::print_gathered(
      dm::from_rank<dm::tensor<double, dm::layout<line, dm::placed<x, 0>>, q>>(g, {1, 2, 3}, q{3}),
      printed);
  if (g.rank() == 0) CHECK(printed.str() == "double[q=3] placed<x, 0>\n[1 2 3]\n");

  const dm::random_key key{11};
  const auto one = dm::normal<X>(g, key, 0, 1, p{6}, q{4}),
             two = dm::uniform<X>(g, key, 0, 1, p{6}, q{4});
  const auto three = dm::normal<R>(g, key, 0, 1, p{6}, q{4});
  const auto four = dm::uniform<R>(g, key, 0, 1, p{6}, q{4});
  CHECK(dm::to_rank(one) == dm::to_rank(three));
  CHECK(dm::to_rank(two) == dm::to_rank(four));
  auto nothing = dm::zeros<dm::tensor<double, dm::layout<line, dm::placed<x, 0>>>>(g);
  dm::fill(nothing, 3);
  dm::fill_by(nothing, [] { return 4.0; });
  CHECK(dm::value(dm::broadcast<x>(nothing)) == 4);

  using far = dm::tensor<double, dm::layout<line, dm::placed<x, 7>>, p>;
  const std::string says = "axis 'x', whose coordinates are 0.." + std::to_string(ranks - 1);
  CHECK(error_of([&] { (void)dm::zeros<far>(g, p{6}); }).find(says) != std::string::npos);
  CHECK(error_of([&] { (void)dm::place<x, 7>(three); }).find(says) != std::string::npos);
  CHECK(error_of([&] { (void)dm::send<x, 7>(one); }).find(says) != std::string::npos);
}

/// Element i is element i - by of the first dim, around the end.
array map_shifted(const array& a, dm::index_t by) {
  return make(a.dims, a.size, [&](const extents& at) {
    extents from = at;
    from[0] = (at[0] + a.size[0] - by) % a.size[0];
    return value_at(a, a.dims, from);
  });
}

TEST_CASE("stored elements, halos and stencils at a place") {
  const dm::grid<plane> g(y{1});
  using L = dm::layout<plane, dm::placed<y, 0>, dm::split<dm::uneven<p>, x>>;
  const array a = numbers({"p", "q"}, {9, 4}, 9);
  using B = dm::tensor<dm::bfloat16, L, p, q>;
  const auto b = dm::cast<dm::bfloat16>(scattered<dm::tensor<double, L, p, q>>(g, a));
  CHECK(agrees(dm::broadcast<y>(b), a));
  CHECK(agrees(dm::send<y, 0>(b), a));
  static_assert(std::is_same_v<std::remove_const_t<decltype(b)>, B>);
  for_each_grid<plane>([&](const dm::grid<plane>& h) {
    const auto v = scattered<dm::tensor<double, L, p, q>>(h, a);
    const auto wide = dm::halo_exchange<1, p>(v, dm::boundary::periodic);
    const auto sums = [](const auto& u) { return dm::at<p>(u, -1) + dm::at<p>(u, 1); };
    check_operation(
        [&](const auto& w) {
          return dm::stencil(sums, dm::halo_exchange<1, p>(w, dm::boundary::periodic));
        },
        {}, {a}, v);
    CHECK(wide.local_size() == (h.template coord<y>() == 0 ? (v.template local<p>() + 2) * 4 : 0));
    CHECK(agrees(dm::shift<p>(v, 2), map_shifted(a, 2)));
  });
}

}  // namespace
