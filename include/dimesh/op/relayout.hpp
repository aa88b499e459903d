// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a tensor get from any layout to any other? By the cheapest route of collectives, found
// while compiling and shown as a type: what a relayout does can be read, and asserted.
//
//   relayout<L>(x)                 -> x under L; x itself if that is its layout
//   relayout_plan<X, L>::steps     -> steps<slice_step<split<batch, rows>>, all_gather_step<cols>>
//   relayout_plan<X, L>::bytes()   -> what a rank hands to MPI (static extents and axes)
//
// Cuts come first, then sums, then one step that brings each rank what it lacks and nothing else.
#pragma once

#include "dimesh/op/parts/relayout_of_probe.hpp"

namespace dimesh {

/// What the steps of a relayout are called.
template <class... Step> struct steps {};
template <class... Split> struct slice_step {};  ///< local: the splits that come to be
template <class... Split> struct reduce_scatter_step {};  ///< the splits that addends become
template <Axis... A> struct all_reduce_step {};  ///< one call over all of A...
template <Axis... A> struct all_gather_step {};  ///< one call over all of A...
template <Dim From, Dim To, Axis A> struct all_to_all_step {};
template <Layout L> struct exchange_step {};  ///< one call, to layout L
template <class From, class To>
struct send_step {};  ///< one message, from placed<A, j> to placed<A, k>
template <class Place> struct reduce_step {};  ///< one call, to placed<A, k>
template <class Place> struct broadcast_step {};  ///< one call, from placed<A, k>
template <class Place> struct place_step {};  ///< local: to placed<A, k>

template <Layout L, Operand X> constexpr auto relayout(const X& x);

namespace detail {

/// The route of spec S, on a tape or not, to layout L and the tables along it, as types.
template <class S, class L, bool Recorded = false> struct route_of {
  using mesh = typename S::mesh;
  using dims = typename S::dims;
  static constexpr route result = tidied_route(spec_facts<S>, under<S, L>::table, Recorded);
  template <int I> struct table_after {
    static constexpr table result = route_of::result.at[I].to;
  };
  template <int I>
  static constexpr table before = I == 0 ? S::table : result.at[I == 0 ? 0 : I - 1].to;
  template <int I> using layout_after = layout_type<mesh, dims, table_after<I>>;
};

/// One step of a route as a type with a name.
template <class Route, int I> struct step_name {
  using mesh_axes = typename Route::mesh::axes;
  using dims = typename Route::dims;
  static constexpr table from = Route::template before<I>, to = Route::result.at[I].to;
  static constexpr unsigned moved = moved_axes(from, to);
  static constexpr int count = std::popcount(moved);
  /// The i-th axis that changes.
  static constexpr int axis(int i) {
    int a = 0;
    for (; i > 0 || !(moved >> a & 1u); ++a) i -= static_cast<int>(moved >> a & 1u);
    return a;
  }
  template <std::size_t i> using axis_type = type_at<axis(static_cast<int>(i)), mesh_axes>;
  template <std::size_t i>
  using split_type = split<type_at<to.axis[axis(static_cast<int>(i))].dim, dims>, axis_type<i>>;

  template <hop kind> static constexpr auto between_places() {
    using was = placed<axis_type<0>, index_t{from.axis[axis(0)].at}>;
    using is = placed<axis_type<0>, index_t{to.axis[axis(0)].at}>;
    if constexpr (kind == hop::send)
      return tag<send_step<was, is>>{};
    else if constexpr (kind == hop::reduce)
      return tag<reduce_step<is>>{};
    else if constexpr (kind == hop::broadcast)
      return tag<broadcast_step<was>>{};
    else
      return tag<place_step<is>>{};
  }
  template <std::size_t... i> static auto make(std::index_sequence<i...>) {
    constexpr hop kind = Route::result.at[I].kind;
    if constexpr (kind == hop::own)
      return tag<slice_step<split_type<i>...>>{};
    else if constexpr (kind == hop::reduce_scatter)
      return tag<reduce_scatter_step<split_type<i>...>>{};
    else if constexpr (kind == hop::all_reduce)
      return tag<all_reduce_step<axis_type<i>...>>{};
    else if constexpr (kind == hop::all_gather)
      return tag<all_gather_step<axis_type<i>...>>{};
    else if constexpr (kind == hop::all_to_all)
      return tag<all_to_all_step<type_at<from.axis[axis(0)].dim, dims>,
                                 type_at<to.axis[axis(0)].dim, dims>, axis_type<0>>>{};
    else if constexpr (kind == hop::exchange)
      return tag<exchange_step<typename Route::template layout_after<I>>>{};
    else
      return between_places<kind>();
  }
  using type = typename decltype(make(std::make_index_sequence<count>{}))::type;
};
template <class Route, class Indices> struct step_names;
template <class Route, int... I> struct step_names<Route, std::integer_sequence<int, I...>> {
  using type = steps<typename step_name<Route, I>::type...>;
};

/// Step I of the route.
template <class Route, int I, class X> constexpr auto stepped_by(const X& x) {
  using L = typename Route::template layout_after<I>;
  constexpr hop kind = Route::result.at[I].kind;
  constexpr unsigned moved = moved_axes(spec_of<X>::table, Route::result.at[I].to);
  const bool silent = talking(moved, sizes_of(x)) == 0;
  using T = value_of<X>;
  using S = under<spec_of<X>, L>;
  if constexpr (kind == hop::own)
    return apply_or_share<S>(cut_op<T>{}, x, silent);
  else if constexpr (kind == hop::reduce_scatter)
    return apply_or_share<S>(reduce_scatter_op<T>{}, x, silent);
  else if constexpr (kind == hop::all_reduce)
    return apply_or_share<S>(all_reduce_op<T>{{moved}}, x,
                             talking(moved & ~core_of(x).once, sizes_of(x)) == 0);
  else if constexpr (kind == hop::all_gather)
    return apply_or_share<S>(all_gather_op<T>{}, x, silent);
  else if constexpr (kind == hop::send)
    return apply_or_share<S>(send_op<T>{std::countr_zero(moved)}, x, false);
  else if constexpr (kind == hop::reduce)
    return apply_or_share<S>(reduce_op<T>{std::countr_zero(moved)}, x, false);
  else if constexpr (kind == hop::broadcast)
    return apply_or_share<S>(broadcast_op<T>{std::countr_zero(moved), 0}, x, false);
  else if constexpr (kind == hop::place)
    return apply_or_share<S>(place_op<T>{}, x, false);
  else
    return apply_or_share<S>(exchange_op<T>{}, x, silent);
}
/// Walks the route from step I on. What the last step makes is not copied.
template <class Route, int I, class X> constexpr auto walk(const X& x) {
  if constexpr (I == Route::result.size)
    return x;
  else if constexpr (I + 1 == Route::result.size)
    return stepped_by<Route, I>(x);
  else
    return walk<Route, I + 1>(stepped_by<Route, I>(x));
}
/// Walks all but the last step, which begins only.
template <class Route, int I, class X> constexpr auto start_walk(const X& x) {
  if constexpr (Route::result.size == 0)
    return arrived(starting<X>{x});
  else if constexpr (I + 1 == Route::result.size)
    return stepped_by<Route, I>(starting<X>{x});
  else
    return start_walk<Route, I + 1>(stepped_by<Route, I>(x));
}

template <class L, class X>
using layout_for = typename canonical_over<L, typename spec_of<X>::dims>::type;
template <class L, class X> using route_for = route_of<spec_of<X>, layout_for<L, X>, is_tracked<X>>;

template <class L, class X> constexpr auto start_relaid(const starting<X>& x) {
  if constexpr (is_shaped<X>)
    return started_on_shape(core_of(x.of).count, [&x] { return relayout<L>(x.of); });
  else if constexpr (is_probe<X>)
    return start_walk_probe<goal_rule<L, true>>(x.of);
  else
    return start_walk<route_for<L, X>, 0>(x.of);
}

}  // namespace detail

/// x under layout L (cut down to what concerns its dims). Shapes stay. Received bytes a rank: those
/// of the sums over what is partial, and the elements of its new block that it lacks. Throws
/// dimesh::error when a run-time extent cannot be cut evenly.
template <Layout L, Operand X> constexpr auto relayout(const X& x) {
  using rule = detail::goal_rule<L, true>;
  constexpr bool is_there = detail::has_layout<L, X>;  // the common case: then nothing is asked
  using fault = typename detail::operand_fault<is_there || is_poison<X> ||
                                               detail::is_probe<X>>::template type<rule, X>;
  static_assert(
      ok<only_of_rules<fault>>,
      "relayout: the rules of the new layout do not agree: axes must be in its mesh and do one "
      "thing each, dims have "
      "one rule; mend the layout");
  static_assert(ok<only_not_divisible<fault>>,
                "relayout: the extent of a split dim is not a multiple of its mesh axes; change "
                "one, or split uneven<dim>");
  static_assert(
      ok<only<fault, meshes_differ>>,
      "relayout: the layout is for another mesh than the tensor's; name a layout of its mesh, or "
      "pass a grid of that mesh, too: relayout<layout>(x, grid)");
  static_assert(
      ok<only<fault, partial_operand>>,
      "relayout: the tensor holds maxima or minima of parts along this axis; complete it first");
  static_assert(ok<only<fault, element_not_summable>>,
                "relayout: ranks cannot add up elements of this type; cast the tensor first");
  static_assert(
      ok<only<fault, axis_not_partial>>,
      "relayout: the layout asks for addends where the tensor has none; name a layout that "
      "splits or replicates there");
  static_assert(
      ok<only<fault, dim_has_halo>>,
      "relayout: blocks with halos stay where they are; change the layout before halo_exchange");
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else if constexpr (detail::is_starting<X>)
    return detail::start_relaid<L>(x);
  else if constexpr (detail::is_probe<X>)
    return detail::walk_probe<rule>(x);
  else if constexpr (is_there)
    return x;
  else
    return detail::walk<detail::route_for<L, X>, 0>(x);
}

/// What relayout<L> does to a tensor of type X.
template <Tensor X, Layout L> class relayout_plan {
  using route = detail::route_for<L, X>;
  using shape_only = typename detail::tensor_of_spec<spec_of<X>>::shaped;

 public:
  /// steps<...>, in order; steps<> where there is nothing to do.
  using steps =
      typename detail::step_names<route, std::make_integer_sequence<int, route::result.size>>::type;

  /// Payload of all steps on the rank at the origin; extents and axes are static.
  static constexpr index_t bytes() { return counted().template bytes<>(); }
  /// What that rank sends in them under ring algorithms.
  static constexpr index_t ring_bytes() { return counted().template ring_bytes<>(); }
  static constexpr ledger<typename spec_of<X>::mesh> counted() {
    ledger<typename spec_of<X>::mesh> l;
    (void)relayout<L>(shape_only().counted_by(&l.counts));
    return l;
  }
};

}  // namespace dimesh
