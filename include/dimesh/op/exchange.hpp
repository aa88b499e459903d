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

#include <bit>

#include "dimesh/collective/all_to_all.hpp"
#include "dimesh/op/parts/blocks.hpp"
#include "dimesh/op/parts/goal.hpp"

namespace dimesh {

namespace detail {

/// The parts of a rank's block that others have for it, or want of it, and where they lie: in the
/// block itself if every part is one run of its elements, else one after another in a buffer.
struct exchange_side {
  box whole;
  std::vector<box> part;
  std::vector<collective::run> runs;
  index_t packed = 0;  // elements of the buffer, 0 if there is none

  void resize(std::size_t ranks) {
    if (part.size() < ranks) part.resize(ranks), runs.resize(ranks);
  }
  void lay_out(std::size_t ranks, std::size_t me, bool may_stay) {
    bool stays = may_stay;
    for (std::size_t r = 0; r < ranks; ++r) stays = stays && (r == me || is_run(whole, part[r]));
    packed = 0;
    for (std::size_t r = 0; r < ranks; ++r) {
      const index_t count = r == me ? 0 : part[r].size();
      runs[r] = {count == 0 ? 0 : stays ? offset_in(whole, part[r]) : packed, count};
      if (!stays) packed += count;
    }
  }
};

/// Who needs what of whom, when blocks go from table `from` to table `to`. Kept from call to call.
struct exchange_plan {
  unsigned talk = 0;
  index_t most = 0;  // elements of the largest block of any rank
  std::size_t ranks = 0;
  exchange_side had, wanted;
  box kept;

  /// Axes that replicate in `from` do not talk: receivers take what has their coordinates there.
  static constexpr unsigned axes(const table& from, const table& to) {
    return moved_axes(from, to) & from.mask(use::split);
  }
  static exchange_plan& of(const grid_state& grid, const placement& where, const table& from,
                           const table& to, bool back) {
    thread_local exchange_plan p;
    const index_t before = where.origins(from).size(), after = where.origins(to).size();
    p.talk = talking(axes(from, to), grid.sizes());
    p.most = before > after ? before : after;
    p.had.whole = where.own(from);
    p.wanted.whole = where.own(to);
    p.kept = intersection(p.had.whole, p.wanted.whole);
    p.ranks = p.talk == 0 ? 0 : static_cast<std::size_t>(group_size(p.talk, grid.sizes()));
    p.had.resize(p.ranks);
    p.wanted.resize(p.ranks);
    for (std::size_t r = 0; r < p.ranks; ++r) {
      const auto peer = static_cast<index_t>(r);
      p.had.part[r] = intersection(p.had.whole, where.peers(to, peer, p.talk));
      p.wanted.part[r] = intersection(where.peers(from, peer, p.talk), p.wanted.whole);
    }
    const auto me = p.ranks == 0 ? 0 : static_cast<std::size_t>(grid.along(p.talk).rank());
    p.had.lay_out(p.ranks, me, !back);
    p.wanted.lay_out(p.ranks, me, true);
    return p;
  }
};

/// Moves x, laid out as `from`, to y, laid out as `to`; or adds to what y holds.
template <bool Add, class T>
void move_parts(const exchange_plan& p, const grid_state& grid, const exchange_side& from,
                const T* x, const exchange_side& to, T* y) {
  const strides old_stride(from.whole), new_stride(to.whole);
  const T* kept = x + offset_in(from.whole, p.kept);
  T* place = y + offset_in(to.whole, p.kept);
  if (p.kept.size() > 0) {
    if constexpr (Add)
      local::add_box(p.kept.rank, p.kept.length, kept, old_stride.data(), place, new_stride.data());
    else
      local::copy_box(p.kept.rank, p.kept.length, kept, old_stride.data(), place,
                      new_stride.data());
  }
  if (p.talk == 0) return;
  storage out, in;
  const T* sent = x;
  T* received = y;
  if (from.packed > 0) {
    out = storage::acquire(static_cast<std::size_t>(from.packed) * sizeof(T));
    T* packed = static_cast<T*>(out.data());
    sent = packed;
    for (std::size_t r = 0; r < p.ranks; ++r)
      if (from.runs[r].count > 0)
        local::pack(from.whole.rank, from.part[r].length, x + offset_in(from.whole, from.part[r]),
                    old_stride.data(), packed + from.runs[r].at);
  }
  if (to.packed > 0) {
    in = storage::acquire(static_cast<std::size_t>(to.packed) * sizeof(T));
    received = static_cast<T*>(in.data());
  }
  collective::all_to_all_v(grid.along(p.talk), sent, from.runs.data(), received, to.runs.data(),
                           p.most);
  if (to.packed == 0) return;
  for (std::size_t r = 0; r < p.ranks; ++r)
    if (to.runs[r].count > 0) {
      const T* part = received + to.runs[r].at;
      T* at = y + offset_in(to.whole, to.part[r]);
      if constexpr (Add)
        local::unpack_add(to.whole.rank, to.part[r].length, part, at, new_stride.data());
      else
        local::unpack(to.whole.rank, to.part[r].length, part, at, new_stride.data());
    }
}

/// What the rank at the origin sends and receives, in elements.
struct exchange_volume {
  index_t sent = 0, received = 0;
  index_t block = 0;  // of the larger block: with none there is no call
  constexpr exchange_volume(const placement& where, const table& from, const table& to,
                            unsigned talk) {
    const box had = where.origins(from), wanted = where.origins(to);
    block = had.size() > wanted.size() ? had.size() : wanted.size();
    for (index_t r = 1; r < group_size(talk, where.sizes); ++r) {
      sent += intersection(had, where.peers(to, r, talk)).size();
      received += intersection(where.peers(from, r, talk), wanted).size();
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
  static constexpr bool takes_complex = true;

  void fill(results y, operands x) const {
    const grid_state& grid = *x[0].grid;
    const auto& p =
        exchange_plan::of(grid, placement_of(x[0]), x[0].layout(), y[0].layout(), false);
    move_parts<false, T>(p, grid, p.had, x[0].data<const T>(), p.wanted, y[0].data<T>());
  }
  constexpr void cost(tally& t, results y, operands x) const {
    const unsigned talk = talking(exchange_plan::axes(x[0].layout(), y[0].layout()), x[0].sizes());
    const exchange_volume v(placement_of(x[0]), x[0].layout(), y[0].layout(), talk);
    const index_t size = x[0].facts->element;
    count_exchange(t, talk, v.sent * size, v.received * size, v.block);
  }
  static constexpr bool needs(int, unsigned) { return false; }
  /// Blocks that only changed hands go back; copies send their cotangents back to be added.
  constexpr void transpose(const auto& to) const {
    const table &from = to.x(0).layout(), &now = to.y().layout();
    const unsigned moved = moved_axes(from, now);
    if ((moved & (from.mask(use::replicated) | now.mask(use::replicated))) == 0)
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
    const grid_state& grid = *x[0].grid;
    const auto& p = exchange_plan::of(grid, placement_of(x[0]), dual_of(y[0].layout()),
                                      dual_of(x[0].layout()), true);
    zero_bytes(y[0].memory.data(), y[0].bytes());
    move_parts<true, T>(p, grid, p.wanted, x[0].data<const T>(), p.had, y[0].data<T>());
  }
  constexpr void cost(tally& t, results y, operands x) const {
    const table from = dual_of(y[0].layout()), to = dual_of(x[0].layout());
    const unsigned talk = talking(exchange_plan::axes(from, to), x[0].sizes());
    const exchange_volume v(placement_of(x[0]), from, to, talk);
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
    return x;
  else
    return detail::apply_rule<rule, value_of<X>>(detail::exchange_op<value_of<X>>{}, x);
}

}  // namespace dimesh
