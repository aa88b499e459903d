// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4 6 8
// labels: device
// checks: 1884 3898 3898 6130 8362 8580
// Collectives change where values lie, never the values: whatever all_reduce, reduce_scatter,
// all_gather, all_to_all, own, whole and complete return is the same array, block by block, and
// MPI sees what their costs say.
#include "dimesh/op/all_gather.hpp"
#include "dimesh/op/all_reduce.hpp"
#include "dimesh/op/all_to_all.hpp"
#include "dimesh/op/complete.hpp"
#include "dimesh/op/own.hpp"
#include "dimesh/op/reduce_scatter.hpp"
#include "dimesh/op/whole.hpp"

#include <doctest/doctest.h>

#include "support/adjoint.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
using dm::use;

template <class D, bool Uneven> using dressed = std::conditional_t<Uneven, dm::uneven<D>, D>;

/// f(x) is still the array a, axis A of it has use `Now`, and it costs what is foreseen.
template <class A, use Now, class F, class X>
void check_move(const F& f, const X& x, const array& a) {
  const auto y = f(x);
  using S = dm::spec_of<std::remove_cvref_t<decltype(y)>>;
  static_assert(dm::use_of<S, A> == Now);
  CHECK(agrees(y, a));
  CHECK(costs_as_foreseen(f, x));
}

/// Does L fit the tensor's extents on its grid?
template <class L, class X> bool fits(const X& x, const array& a) {
  return comes_out_even<typename dm::detail::under<dm::spec_of<X>, L>>(x.grid(), a.size);
}

/// Axis A splits D (or uneven<D>) at its minor end.
template <class S, class D, class A> struct scattered_table {
  using bare = dm::detail::bare_dim<D>;
  static constexpr dm::detail::table result = dm::detail::tidied(
      dm::detail::spec_facts<S>,
      dm::detail::with_split(S::table, dm::axis_index<typename S::mesh, A>,
                             dm::detail::index_of<typename bare::type, typename S::dims>,
                             bare::uneven));
};
template <class S, class D, class A>
using scattered_layout =
    dm::detail::layout_type<typename S::mesh, typename S::dims, scattered_table<S, D, A>>;

/// Every collective that moves axis A of x to dim D.
template <bool Uneven, class A, class D, class X> void check_to_dim(const X& x, const array& a) {
  using S = dm::spec_of<X>;
  constexpr int axis = dm::axis_index<typename S::mesh, A>;
  constexpr auto now = S::table.axis[axis];
  using To = dressed<D, Uneven>;
  if constexpr (now.what == use::split) {
    using From = dm::detail::type_at<now.dim, typename S::dims>;
    if constexpr (!std::is_same_v<From, D> && now.level + 1 == S::table.split_count(now.dim))
      if (fits<scattered_layout<S, To, A>>(x, a))
        check_move<A, use::split>([](const auto& v) { return dm::all_to_all<From, To, A>(v); }, x,
                                  a);
  } else if (fits<scattered_layout<S, To, A>>(x, a)) {
    if constexpr (now.what == use::partial)
      check_move<A, use::split>([](const auto& v) { return dm::reduce_scatter<To, A>(v); }, x, a);
    else
      check_move<A, use::split>([](const auto& v) { return dm::own<To, A>(v); }, x, a);
  }
}

template <bool Uneven, class X> void check_collectives(const X& x, const array& a) {
  using S = dm::spec_of<X>;
  for_each_of(typename S::mesh::axes{}, [&](auto axis) {
    using A = typename decltype(axis)::type;
    constexpr auto now = S::table.axis[dm::axis_index<typename S::mesh, A>];
    if constexpr (now.what == use::partial)
      check_move<A, use::replicated>([](const auto& v) { return dm::all_reduce<A>(v); }, x, a);
    else if constexpr (now.what == use::split)
      if constexpr (now.level + 1 == S::table.split_count(now.dim))
        check_move<A, use::replicated>([](const auto& v) { return dm::all_gather<A>(v); }, x, a);
    for_each_of(typename S::dims{},
                [&](auto dim) { check_to_dim<Uneven, A, typename decltype(dim)::type>(x, a); });
  });
  for_each_of(typename S::dims{}, [&](auto dim) {
    using D = typename decltype(dim)::type;
    const auto y = dm::whole<D>(x);
    static_assert(!dm::is_split<dm::spec_of<std::remove_cvref_t<decltype(y)>>, D>);
    CHECK(agrees(y, a));
    CHECK(costs_as_foreseen([](const auto& v) { return dm::whole<D>(v); }, x));
  });
  const auto sum = dm::complete(x);
  static_assert(!dm::spec_of<std::remove_cvref_t<decltype(sum)>>::table.any_partial());
  CHECK(agrees(sum, a));
  CHECK(costs_as_foreseen([](const auto& v) { return dm::complete(v); }, x));
  if constexpr (!S::table.any_partial()) CHECK(sum.data() == x.data());
}

TEST_CASE("collectives on even blocks keep the values") {
  for_each_case<plane, with_partial, p, q>(
      {{24, 48}, {0, 24}}, [](const auto& x, const array& a) { check_collectives<false>(x, a); });
}

TEST_CASE("collectives on uneven blocks keep the values") {
  for_each_case<plane, unevenly_with_partial, p, q>(
      {{5, 4}, {0, 3}, {1, 9}, {8, 8}},
      [](const auto& x, const array& a) { check_collectives<true>(x, a); });
}

constexpr layout_choice cube_sample{.partial = true, .uneven = true, .stride = 17, .first = 6};

TEST_CASE("collectives on a cube: a sample of layouts") {
  for_each_case<cube, cube_sample, p, q>(
      {{5, 8}, {9, 1}}, [](const auto& x, const array& a) { check_collectives<true>(x, a); });
}

TEST_CASE("collectives of vectors on a line") {
  for_each_case<line, unevenly_with_partial, p>(
      {{0}, {1}, {7}, {24}}, [](const auto& x, const array& a) { check_collectives<true>(x, a); });
}

}  // namespace
