// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How is a law checked over layouts, meshes and extents at once? On every factorisation of the
// ranks into the mesh, every list of extents and every enumerated layout, the law gets a
// distributed tensor and the same as a whole array.
//
//   for_each_case<plane, evenly, p, q>({{4, 6}, {0, 2}}, [](auto x, const array& a) {
//     CHECK(agrees(f(x), oracle_f(a)));
//   });
#pragma once

#include <memory>

#include "dimesh/grid.hpp"
#include "support/layouts.hpp"
#include "support/note.hpp"
#include "support/oracle.hpp"

namespace test_support {

namespace detail {
template <class M, class... A>
std::unique_ptr<dimesh::grid<M>> grid_of(const dimesh::mesh_sizes<M>& sizes, list<A...>) {
  return std::make_unique<dimesh::grid<M>>([&] {
    A a;
    if constexpr (A::size == dimesh::dynamic) a.n = sizes[dimesh::axis_index<M, A>];
    return a;
  }()...);
}
}  // namespace detail

/// Calls f(grid) for every shape that the mesh can have on the ranks there are.
template <class M, class F> void for_each_grid(F&& f) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for_each_sizes<M>(ranks, [&](const dimesh::mesh_sizes<M>& sizes) {
    const auto g = detail::grid_of<M>(sizes, typename M::axes{});
    std::string text;
    for (const index_t n : sizes.size) text += (text.empty() ? "" : " x ") + std::to_string(n);
    const note said("mesh of ", text);
    f(*g);
  });
}

/// Calls f(tag<A>) for every axis of a mesh, f(tag<D>) for every dim of a tensor.
template <class... T, class F> void for_each_of(dimesh::detail::list<T...>, F&& f) {
  (f(dimesh::detail::tag<T>{}), ...);
}

/// The table of a spec; where its layout is a value, under the rules of now.
template <class Spec> const dimesh::detail::table& table_now() {
  if constexpr (dimesh::detail::is_at_run_time<typename Spec::layout>)
    return dimesh::detail::facts_now<Spec>().layout;
  else
    return Spec::table;
}

/// Can blocks of these extents be cut under the spec on this grid, and are its places there?
template <class Spec, class Grid> bool comes_out_even(const Grid& g, const extents& size) {
  const dimesh::detail::table& t = table_now<Spec>();
  for (int a = 0; a < t.axes; ++a)
    if (t.axis[a].what == dimesh::use::placed && t.axis[a].at >= g.state().sizes()[a]) return false;
  for (int d = 0; d < Spec::rank; ++d)
    if (!t.uneven[d] &&
        size[static_cast<std::size_t>(d)] % dimesh::detail::ranks_over(t, d, g.state().sizes()) !=
            0)
      return false;
  return true;
}

/// Calls f(x) if Holds says so of x's layout, a table: one that the type says, so that what types
/// forbid there is not compiled, or one that is a value.
template <auto Holds, class X, class F> void where(const X& x, F&& f) {
  if constexpr (dimesh::detail::is_probe<X>) {
    if (Holds(dimesh::detail::core_of(x).layout())) f(x);
  } else if constexpr (Holds(dimesh::spec_of<X>::table)) {
    f(x);
  }
}
/// If its dim D is whole; if it holds no addends.
template <class D, class X, class F> void where_whole(const X& x, F&& f) {
  [[maybe_unused]] constexpr int d = dimesh::detail::index_of<D, typename dimesh::spec_of<X>::dims>;
  where<[](const auto& t) { return t.split_count(d) == 0; }>(x, f);
}
template <class X, class F> void where_not_partial(const X& x, F&& f) {
  where<[](const auto& t) { return !t.any_partial(); }>(x, f);
}

namespace detail {
/// The cases of one layout.
template <class L, class... D, class Grid, class F>
void for_each_extents(const Grid& g, const std::vector<extents>& sizes, F& f) {
  using X = dimesh::tensor<double, L, D...>;
  for (const extents& size : sizes) {
    if (!comes_out_even<dimesh::spec_of<X>>(g, size)) continue;
    const array a = numbers({std::string(dimesh::detail::name_of<D>())...}, size, 1);
    const note said("layout ", dimesh::detail::spelled<L>(), ", first extent ",
                    size.empty() ? 0 : size[0], ", last ", size.empty() ? 0 : size.back());
    f(scattered<X>(g, a), a);
  }
}
}  // namespace detail

/// Calls f(x, a) for every mesh shape, layout and list of extents that fit together: x a tensor of
/// small integers under the layout, a the same as a whole array.
template <class M, layout_choice Choice, class... D, class F>
void for_each_case(const std::vector<extents>& sizes, F&& f) {
  for_each_grid<M>([&](const dimesh::grid<M>& g) {
    for_each_layout<M, dimesh::detail::list<D...>, Choice>(
        [&](auto t) { detail::for_each_extents<typename decltype(t)::type, D...>(g, sizes, f); });
  });
}
/// The same with layouts as for_all_layouts has them: as values, and a few as types.
template <class M, layout_choice Choice, class... D, class F>
void for_all_cases(const std::vector<extents>& sizes, F&& f) {
  for_each_grid<M>([&](const dimesh::grid<M>& g) {
    for_all_layouts<M, dimesh::detail::list<D...>, Choice>(
        [&](auto t) { detail::for_each_extents<typename decltype(t)::type, D...>(g, sizes, f); });
  });
}

}  // namespace test_support
