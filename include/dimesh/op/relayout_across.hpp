// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a tensor get from one mesh to another over the same ranks? By naming a layout of that
// mesh, and its grid: experts, or a solver, have a mesh of their own. Two grids of one mesh will do
// as well. Every rank gets what it lacks, and nothing else moves.
//
//   relayout<layout<experts, split<expert, owner>>>(x, expert_grid)
//     -> x under that layout, on that grid
//   relayout<layout<experts>>(x, w)   the same, where tensor w lives
//   relayout<layout<experts>>(shape, mesh_sizes<experts>{owner{4}})   the same of a shape
//
// On the way back cotangents go where the values came from, and those of copies add up. Where the
// value is to be counted once, blocks go back, if nobody need add anything
// (docs/decisions/0020).
#pragma once

#include "dimesh/create.hpp"
#include "dimesh/detail/compiled.hpp"
#include "dimesh/op/parts/across_rule.hpp"
#include "dimesh/op/parts/far_grid.hpp"
#include "dimesh/op/parts/move_across.hpp"
#include "dimesh/op/parts/start.hpp"
#include "dimesh/op/parts/sums_across.hpp"
#include "dimesh/op/relayout.hpp"

namespace dimesh {

namespace detail {

/// The collective runs on the first grid, over all axes that have several ranks.
constexpr unsigned across_axes(const tensor_core& x) {
  return talking(across::all(x.layout()), x.sizes());
}
/// The rank whose cost a tally takes: the one at the origin, or where the tensor lives on the first
/// mesh, or where the tally says.
constexpr index_t rank_counted(const tally& t, const across& two) {
  index_t rank = 0;
  for (int a = 0; a < two.from.axes; ++a) {
    const axis_use u = two.from.axis[a];
    const index_t seat = t.seat[static_cast<std::size_t>(a)];
    rank = rank * two.old_place.sizes[a] + (u.what != use::placed ? 0
                                            : seat >= 0           ? seat
                                                                  : index_t{u.at});
  }
  return rank;
}
constexpr void count_across(tally& t, const tensor_core& on, const across& two, bool back) {
  if (two.is_local()) return;
  const index_t me = rank_counted(t, two);
  index_t sent = 0, received = 0;
  const auto add_to = [](index_t& n) { return [&n](index_t, const box& b) { n += b.size(); }; };
  two.each_sent(me, add_to(sent));
  two.each_received(me, add_to(received));
  const index_t size = on.facts->element;
  t.collective(event_kind::all_to_all, across_axes(on), (back ? received : sent) * size,
               (back ? sent : received) * size);
}

template <class T> struct across_back_op;

/// Elements T. From any splits, replications and places to any others on another mesh. A result
/// with partial axes is held whole by every rank, to be counted once.
template <class T> struct across_op {
  static constexpr std::string_view call = "relayout";
  static constexpr event_kind kind = event_kind::all_to_all;
  static constexpr bool takes_complex = true;
  far_grid to_where;
  cut_list cuts;  // of ragged dims, which keep theirs

  constexpr void land(tensor_core& y) const {
    to_where.take(y);
    y.once = y.facts->partial;
    y.cuts = cuts;
  }
  void fill(results y, operands x) const {
    const auto& p = across_plan::of(x[0], y[0], false);
    const space_facts *const here = x[0].facts->space, *const there = y[0].facts->space;
    if (here == there) return move_across<false, T>(p, x[0].data<const T>(), y[0].data<T>());
    const storage to = storage::acquire(static_cast<std::size_t>(y[0].bytes()));
    move_across<false, T>(p, x[0].data<const T>(), static_cast<T*>(to.data()));
    copy_between(y[0].memory.data(), there, to.data(), here, y[0].bytes());
  }
  /// To memory of another kind it is made at once: what has come is then copied.
  void start(results y, operands x, flight& f) const {
    if (x[0].facts->space != y[0].facts->space) return fill(y, x);
    const auto& p = across_plan::of(x[0], y[0], false);
    move_across<false, T>(p, x[0].data<const T>(), y[0].data<T>(), &f);
  }
  constexpr void cost(tally& t, results y, operands x) const {
    count_across(t, x[0], across_between(x[0], y[0]), false);
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const {
    const tensor_core &x = to.x(0), &y = to.y();
    const tensor_core& ybar = to.ybar;
    const bool adds = talking(ybar.facts->partial & ~ybar.once, ybar.sizes()) != 0;
    const bool copies = talking(x.facts->dual->partial, x.sizes()) != 0;
    if (!adds && (!copies || across_between(x, y).is_local_back()))
      return to.give(0, across_op{far_grid::of(x), x.cuts}, ybar);
    tensor_core settled(ybar);
    settle(settled, settled.once);
    to.give(0, across_back_op<T>{far_grid::of(x), x.cuts}, settled);
  }
};

/// The way that a value came, backwards: addends of its copies go to the rank that gave it away,
/// and are added up there.
template <class T> struct across_back_op {
  static constexpr std::string_view call = "relayout";
  static constexpr bool takes_complex = true;
  far_grid to_where;
  cut_list cuts;

  constexpr void land(tensor_core& y) const {
    to_where.take(y);
    y.once = 0;
    y.cuts = cuts;
  }
  void fill(results y, operands x) const {
    const auto& p = across_plan::of(y[0], x[0], true);
    const space_facts *const here = x[0].facts->space, *const there = y[0].facts->space;
    const in_space of_result(there);
    storage from = x[0].memory;
    if (here != there) {
      from = storage::acquire(static_cast<std::size_t>(x[0].bytes()));
      copy_between(from.data(), there, x[0].memory.data(), here, x[0].bytes());
    }
    zero_bytes(y[0].memory.data(), y[0].bytes());
    move_across<true, T>(p, static_cast<const T*>(from.data()), y[0].data<T>());
  }
  constexpr void cost(tally& t, results y, operands x) const {
    t.mesh = y[0].facts->mesh;
    count_across(t, y[0], across_between(y[0], x[0]), true);
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const {
    to.give(0, across_op<T>{far_grid::of(to.x(0)), to.x(0).cuts}, to.ybar);
  }
};

// Compiled once in dimesh::compiled.
DIMESH_INSTANCE(across_op<float>, 0);
DIMESH_INSTANCE(across_op<float>, 1);
DIMESH_INSTANCE(across_op<double>, 0);
DIMESH_INSTANCE(across_op<double>, 1);

/// Has this rank the same block on both sides? Then the result may lie in the memory of x.
bool stays(const tensor_core& x, const far_grid& to, const tensor_facts& after);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline bool stays(const tensor_core& x, const far_grid& to,
                                 const tensor_facts& after) {
  if (x.is_shape || !x.defined()) return false;
  // What some ranks share and others do not, none could write alike.
  if (x.memory.lent_to_write()) return false;
  const known_blocks& known = known_blocks::of(&after, x.facts);
  if (known.is_from(x, &after, to.grid)) return known.stays;
  placement there = placement_of(x);
  there.sizes = to.grid->sizes();
  there.coords = to.grid->coords();  // cuts stay
  const box a = placement_of(x).own(x.layout()), b = there.own(after.layout);
  bool same = a.size() == b.size();
  for (int d = 0; same && d < a.rank; ++d)
    same = a.begin[d] == b.begin[d] && a.length[d] == b.length[d];
  return same;
}
#endif

template <class Where> constexpr far_grid landing_of(const Where& where, bool shaped) {
  if constexpr (Tensor<Where>) {
    const tensor_core& y = core_of(where);
    if (!y.is_shape) require_grid("relayout", y);
    return far_grid::of(y, shaped);
  } else {
    return far_grid::of(where, shaped);
  }
}

template <class L, class X, class Where>
constexpr auto moved_across(const X& x, const Where& where) {
  using T = value_of<X>;
  const across_op<T> op{landing_of(where, core_of(x).is_shape), core_of(x).cuts};
  if constexpr (is_probe<X>) {
    using S = probe_spec<T, typename L::mesh, typename spec_of<X>::dims>;
    const tensor_facts* const facts[] = {
        &facts_under(spec_facts<S>, ruled<across_rule<L>>("relayout", x).layout)};
    return apply_on_cores(list<S>{}, facts, op, nullptr, x);
  } else {
    using S = under<spec_of<X>, typename canonical_over<L, typename spec_of<X>::dims>::type>;
    if constexpr (is_starting<X>) {  // what one rank shares, another one may have to send
      return start_as<S>(op, x);
    } else if constexpr (is_tracked<X> || is_shaped<X>) {
      return apply_as<S>(op, x);
    } else {
      const bool same = core_of(x).facts->space == spec_facts<S>.space &&
                        stays(core_of(x), op.to_where, spec_facts<S>);
      return apply_on_cores(list<S>{}, nullptr, op, same ? &core_of(x).memory : nullptr, x);
    }
  }
}

/// Is x known to have no addends?
template <class X> inline constexpr bool is_whole_sum = spec_of<X>::table.mask(use::partial) == 0;
template <class X>
  requires(is_probe<X>)
inline constexpr bool is_whole_sum<X> = false;

/// What x is summed up to on its mesh, on its way to layout L of another.
template <class S, class L> struct summed_table {
  static constexpr table result = summed_for(
      spec_facts<S>, target<L>::of(dims_in<typename S::dims>).layout, L::mesh::static_sizes.data());
};
template <class L, class X> constexpr auto summed_across(const X& x) {
  if constexpr (is_probe<X>) {
    const table goal = target<L>::of(core_of(x).facts->dims()).layout;
    return relaid_probe(x, summed_for(*core_of(x).facts, goal, L::mesh::static_sizes.data()));
  } else {
    using S = spec_of<X>;
    return relayout<layout_type<typename S::mesh, typename S::dims, summed_table<S, L>>>(x);
  }
}
/// Sums are made first, at once.
template <class L, class X, class Where>
constexpr auto relayout_across(const X& x, const Where& where) {
  if constexpr (is_whole_sum<X>) {
    return moved_across<L>(x, where);
  } else if constexpr (is_probe<X> && is_starting<X>) {
    return arrived(starting{relayout_across<L>(x.of, where)});  // made at once
  } else if constexpr (is_probe<X>) {
    if (core_of(x).layout().mask(use::partial) == 0) return moved_across<L>(x, where);
    (void)ruled<across_rule<L>>("relayout", x);
    return moved_across<L>(summed_across<L>(x), where);
  } else if constexpr (is_starting<X>) {
    return moved_across<L>(to_start(summed_across<L>(x.of)), where);
  } else {
    return moved_across<L>(summed_across<L>(x), where);
  }
}

}  // namespace detail

/// x under layout L on another grid over the same ranks, in any order; L and the grid are of one
/// mesh, which may be that of x. A tensor stands for the grid on which it lives. Of a shape: on a
/// grid of such sizes, its ranks in the same order.
/// Ragged dims keep the cuts of x on either grid; those that are ragged there only take them from
/// with_cuts.
/// Shapes of tensors stay. Communicates: one all-to-all over all ranks, where any rank lacks
/// anything; received bytes a rank: the elements of its new block that it lacks. Of copies, the
/// receivers ask one after another in turn. A block that stays as it is shares the memory of x.
/// What lives at a place is sent from there, or to there, alone. Addends are summed first, on their
/// mesh, by a relayout to a layout of all its ranks, whole or cut along dims that L splits (or the
/// longest): of those tried, from which ranks receive the fewest bytes in both, on average.
/// The meshes may name different spaces: what has moved is then copied to that of the result (where
/// no rank lacks anything, to_space is the way).
/// Throws dimesh::error, on every rank, where the grids are not over the same ranks, a run-time
/// extent cannot be cut evenly, or nothing fits that says where a ragged dim is cut.
template <Layout L, Operand X, class Where>
constexpr auto relayout(const X& x, const Where& where) {
  using rule = detail::across_rule<L>;
  using fault = detail::fault_of<rule, X>;
  using place = typename detail::landing_fault<L, X, Where>::type;
  static_assert(
      ok<only_of_rules<fault>>,
      "relayout: the rules of the new layout do not agree: axes must be in its mesh and do one "
      "thing each, dims have "
      "one rule; mend the layout");
  static_assert(ok<only_not_divisible<fault>>,
                "relayout: the extent of a split dim is not a multiple of its mesh axes; change "
                "one, or split uneven<dim>");
  static_assert(
      ok<only<fault, partial_operand>>,
      "relayout: the tensor holds maxima or minima of parts along this axis; complete it first");
  static_assert(ok<only<fault, element_not_summable>>,
                "relayout: ranks cannot add up elements of this type; cast the tensor first");
  static_assert(ok<only<fault, axis_not_partial>>,
                "relayout: the layout asks for addends, which are those of the axes of one mesh, "
                "and summed on the way to another; name a layout that splits or replicates there");
  static_assert(ok<only<fault, dim_has_halo>>,
                "relayout: blocks with halos stay where they are; relayout before halo_exchange");
  static_assert(ok<only<place, meshes_differ>>,
                "relayout: the layout is for one mesh, and the grid is of another; name a layout "
                "of the grid's mesh, or the other grid");
  static_assert(ok<only<place, wrong_arguments>>,
                "relayout: the second argument is a grid of the layout's mesh; its sizes without "
                "ranks will do for shapes alone");
  if constexpr (!ok<fault> || !ok<place> || is_poison<X>)
    return poison{};
  else
    return detail::relayout_across<L>(x, where);
}

}  // namespace dimesh
