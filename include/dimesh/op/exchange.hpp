// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a tensor get from any split to any other in one step? Every rank sends every other the
// part of its block that the other one's new block needs, and keeps what it has: no rank receives
// an element that it holds. The single step where moves axis by axis would not nest.
//
//   exchange<layout<pod, split<batch, cols, rows>>>(
//       tensor<T, layout<pod, split<batch, rows, cols>>, batch>)
//     -> tensor<T, layout<pod, split<batch, cols, rows>>, batch>
//
// Of a replicated block every receiver asks the copy that has its own coordinates along the axes of
// replication: the choice is the same on all ranks, and spreads the load over the copies.
#pragma once

#include "dimesh/op/parts/blocks.hpp"
#include "dimesh/op/parts/exchange_plan.hpp"
#include "dimesh/op/parts/goal.hpp"
#include "dimesh/op/refusals/misuse.hpp"

namespace dimesh {

namespace detail {

/// What the rank at the origin sends and receives, in elements.
struct exchange_volume {
  index_t sent = 0, received = 0;
  index_t block = 0;  // of the larger block: with none there is no call
  constexpr exchange_volume(const placement& old, const table& from, const placement& now,
                            const table& to, unsigned talk) {
    const box had = old.origins(from), wanted = now.origins(to);
    block = old.most(from) > now.most(to) ? old.most(from) : now.most(to);
    for (index_t r = 1; r < group_size(talk, old.sizes); ++r) {
      sent += intersection(had, now.peers(to, r, talk)).size();
      received += intersection(old.peers(from, r, talk), wanted).size();
    }
  }
};

constexpr void count_exchange(tally& t, unsigned talk, index_t sent, index_t received,
                              index_t block) {
  if (talk != 0 && block > 0) t.collective(event_kind::all_to_all, talk, sent, received);
}

template <class T> struct exchange_back_op;

/// Elements T, any splits and replications to any others.
template <class T> struct exchange_op {
  static constexpr event_kind kind = event_kind::all_to_all;
  static constexpr bool takes_complex = true;

  void fill(results y, operands x) const {
    move_parts<false, T>(exchange_plan::of(x[0], y[0], false), x[0].data<const T>(),
                         y[0].data<T>());
  }
  void start(results y, operands x, flight& f) const {
    move_parts<false, T>(exchange_plan::of(x[0], y[0], false), x[0].data<const T>(), y[0].data<T>(),
                         &f);
  }
  constexpr void cost(tally& t, results y, operands x) const {
    const unsigned talk = talking(exchange_plan::axes(x[0].layout(), y[0].layout()), x[0].sizes());
    const exchange_volume v(placement_of(x[0]), x[0].layout(), placement_of(y[0]), y[0].layout(),
                            talk);
    const index_t size = x[0].facts->element;
    count_exchange(t, talk, v.sent * size, v.received * size, v.block);
  }
  static constexpr bool needs(int, unsigned) { return false; }
  /// Blocks that only changed hands go back, and of copies whose cotangent counts once what each
  /// rank lacks; other copies send their cotangents back to be added.
  constexpr void transpose(const auto& to) const {
    const table &from = to.x(0).layout(), &now = to.y().layout();
    const unsigned moved = moved_axes(from, now);
    const unsigned added = moved & now.mask(use::replicated) & ~to.ybar.once;
    if ((moved & from.mask(use::replicated)) == 0 && talking(added, to.ybar.sizes()) == 0)
      return to.give(0, exchange_op{}, to.ybar);
    tensor_core settled(to.ybar);
    settle(settled, settled.once & moved);
    to.give(0, exchange_back_op<T>{}, settled);
  }
};

/// From what an exchange to the dual of x's layout made: cotangents go back the way the values
/// came, and those of copies add up.
template <class T> struct exchange_back_op {
  static constexpr bool takes_complex = true;

  void fill(results y, operands x) const {
    zero_bytes(y[0].memory.data(), y[0].bytes());
    move_parts<true, T>(exchange_plan::of(x[0], y[0], true), x[0].data<const T>(), y[0].data<T>());
  }
  constexpr void cost(tally& t, results y, operands x) const {
    const table from = dual_of(y[0].layout()), to = dual_of(x[0].layout());
    const unsigned talk = talking(exchange_plan::axes(from, to), x[0].sizes());
    const exchange_volume v(placement_of(y[0]), from, placement_of(x[0]), to, talk);
    const index_t size = x[0].facts->element;
    count_exchange(t, talk, v.received * size, v.sent * size, v.block);
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const { to.give(0, exchange_op<T>{}, to.ybar); }
};

/// Layout L as a tensor with the dims of X has it.
template <class L, class Dims> struct canonical_over;
template <class L, class... D> struct canonical_over<L, list<D...>> {
  using type = canonical<L, D...>;
};
/// X has layout L already, as its type says.
template <class L, class X> inline constexpr bool has_layout = false;
template <class L, class X>
  requires(!is_poison<X> && !is_probe<X>)
inline constexpr bool has_layout<L, X> =
    std::is_same_v<typename canonical_over<L, typename spec_of<X>::dims>::type,
                   typename spec_of<X>::layout>;

// Compiled once in dimesh::compiled.
DIMESH_INSTANCE(exchange_op<std::int32_t>, 0);
DIMESH_INSTANCE(exchange_op<float>, 0);
DIMESH_INSTANCE(exchange_op<float>, 1);
DIMESH_INSTANCE(exchange_op<double>, 0);
DIMESH_INSTANCE(exchange_op<double>, 1);

}  // namespace detail

/// x under layout L in one step. Shapes stay; addends along axes that L leaves partial stay
/// addends.
template <Layout L, Operand X> constexpr auto exchange(const X& x) {
  using rule = detail::goal_rule<L, false>;
  using fault = detail::fault_of<rule, X>;
  static_assert(
      ok<only_of_rules<fault>>,
      "exchange: the rules of the new layout do not agree: axes must be in its mesh and do one "
      "thing each, dims have "
      "one rule; mend the layout");
  static_assert(ok<only_not_divisible<fault>>,
                "exchange: the extent of a split dim is not a multiple of its mesh axes; change "
                "one, or split uneven<dim>");
  static_assert(
      ok<only<fault, meshes_differ>>,
      "exchange: the layout is for another mesh than the tensor's; name a layout of its mesh");
  static_assert(ok<only<fault, tensor_is_placed>>,
                "exchange: the tensor, or the layout, has a place on an axis that moves; relayout "
                "goes there and comes from there");
  static_assert(ok<only<fault, partial_operand>>,
                "exchange: the tensor holds addends along an axis that moves; complete it first, "
                "or use relayout");
  static_assert(
      ok<only<fault, axis_not_partial>>,
      "exchange: the layout asks for addends where the tensor has none; name a layout that splits "
      "or replicates there");
  static_assert(ok<only<fault, dim_has_halo>>,
                "exchange: blocks with halos stay where they are; exchange before halo_exchange");
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else if constexpr (detail::has_layout<L, X>)
    return detail::unchanged(x);
  else
    return detail::apply_rule<rule, value_of<X>>(detail::exchange_op<value_of<X>>{}, x);
}

// ---- names and arguments of the wrong kind ------------------------------------------------------

namespace detail {
using exchange_call = call_taking<names_taken<1, 1, named_kind::layout>, 1, a_tensor>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::exchange_call, detail::list<N...>, A...>
constexpr poison exchange(const A&...) {
  static_assert(ok<detail::misuse<detail::exchange_call, detail::list<N...>, A...>>,
                "exchange: a layout stands in the angle brackets, a tensor in the parentheses: "
                "exchange<layout<pod>>(x)");
  return {};
}

}  // namespace dimesh
