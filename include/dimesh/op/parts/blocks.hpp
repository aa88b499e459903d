// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do blocks get from where they are to where another layout wants them? Four moves, each going
// to a layout L: gather (S -> R) and reduce-scatter (P -> S), cut (R -> S) and pad (S -> P). They
// stand together because each is the transpose of another; all_gather.hpp, reduce_scatter.hpp and
// own.hpp give them names and check their use.
//
//   apply_as<spec<float, layout<pod>, batch>>(all_gather_op<float>{}, x[batch/rows])  -> [batch]
#pragma once

#include <bit>

#include "dimesh/collective/all_gather.hpp"
#include "dimesh/collective/reduce_scatter.hpp"
#include "dimesh/core/flight.hpp"
#include "dimesh/detail/compiled.hpp"
#include "dimesh/local/copy.hpp"
#include "dimesh/op/parts/transition.hpp"

namespace dimesh::detail {

/// Which of the moves below a plan is for.
enum class parts_move : index_t { gather, scatter };

/// The parts of an array that the ranks of a communicator hold, in rank order: who has which part
/// when blocks of `split` become blocks of `whole`, or the other way round. Of a sum that is
/// scattered, the axes along which it counts once say nothing (with[1]).
struct parts_plan : move_plan {
  const communicator* over = nullptr;  // null: there is nobody to talk to
  collective::wire wire{};
  box whole, own;
  strides stride;
  std::vector<box> part;
  std::vector<index_t> at, count;  // elements before it in the whole, and in it
  std::vector<int> units, first;  // the same one after another, as MPI counts
  index_t total = 0, mine = 0;
  bool equal = true;     // all parts have one size
  bool in_order = true;  // the parts one after another are the array
  bool fits = true;      // MPI can count them

  parts_plan(const tensor_core& split, const tensor_core& around, const plan_hints& with);
};

#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline parts_plan::parts_plan(const tensor_core& split, const tensor_core& around,
                                             const plan_hints& with)
    : whole(placement_of(split).own(around.layout())),
      own(placement_of(split).own(split.layout())),
      stride(whole) {
  const placement where = placement_of(split);
  const bool gathers = with[0] == static_cast<index_t>(parts_move::gather);
  wire = {split.facts->kind, split.facts->element};
  unsigned axes = moved_axes(split.layout(), around.layout());
  if (!gathers) axes &= around.facts->partial & ~static_cast<unsigned>(with[1]);
  axes = talking(axes, where.sizes);
  if (axes == 0) return;
  over = &split.grid->along(axes);
  for (index_t r = 0; r < over->size(); ++r) {
    part.push_back(where.peers(split.layout(), r, axes));
    const box& b = part.back();
    count.push_back(b.size());
    at.push_back(b.size() > 0 ? offset_in(whole, b) : 0);
    equal = equal && count.back() == count.front();
    in_order = in_order && (count.back() == 0 || (is_run(whole, b) && at.back() == total));
    total += count.back();
  }
  mine = count[static_cast<std::size_t>(over->rank())];
  fits = total <= wire.most_per_call();
  index_t next = 0;
  for (const index_t n : count) {
    units.push_back(fits ? static_cast<int>(n * wire.units()) : 0);
    first.push_back(fits ? static_cast<int>(next * wire.units()) : 0);
    next += n;
  }
}
#endif

/// The plan of a gather of x to y.
const parts_plan& gather_plan(const tensor_core& x, const tensor_core& y);
const parts_plan& scatter_plan(const tensor_core& x, const tensor_core& y);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline const parts_plan& gather_plan(const tensor_core& x, const tensor_core& y) {
  return plan_of<parts_plan>(x, y, {static_cast<index_t>(parts_move::gather)});
}
/// Of the sum of x scattered to y.
DIMESH_OUTLINE inline const parts_plan& scatter_plan(const tensor_core& x, const tensor_core& y) {
  return plan_of<parts_plan>(y, x, {static_cast<index_t>(parts_move::scatter), x.once});
}
#endif

/// received, the parts one after another, from the parts x of all ranks; or, with `later`, begins.
void gather_received(const parts_plan& p, const std::byte* x, std::byte* received,
                     collective::requests* later);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void gather_received(const parts_plan& p, const std::byte* x,
                                           std::byte* received, collective::requests* later) {
  if (p.equal)
    collective::all_gather_elements(*p.over, p.wire, x, p.mine, received, later);
  else if (p.fits)
    collective::all_gather_counted(*p.over, p.wire, x, p.mine, p.total, received,
                                   {nullptr, nullptr, p.units.data(), p.first.data()}, later);
  else
    collective::all_gather_elements_v(*p.over, p.wire, x, p.count.data(), received,
                                      p.wire.most_per_call());
}
#endif
/// Room for the parts one after another, where that is not the order of the whole.
inline storage room_for_parts(const parts_plan& p) {
  if (p.in_order) return {};
  return storage::acquire(static_cast<std::size_t>(p.total * p.wire.size));
}
template <class T> void unpack_parts(const parts_plan& p, const T* received, T* y) {
  for (std::size_t r = 0; r < p.part.size(); received += p.count[r++])
    local::unpack(p.whole.rank, p.part[r].length, received, y + p.at[r], p.stride.data());
}
template <class T> void pack_parts(const parts_plan& p, const T* x, T* packed) {
  for (std::size_t r = 0; r < p.part.size(); packed += p.count[r++])
    local::pack(p.whole.rank, p.part[r].length, x + p.at[r], p.stride.data(), packed);
}

/// y from the blocks x of all ranks.
template <class T> void gather_parts(const tensor_core& x, const tensor_core& y) {
  const parts_plan& p = gather_plan(x, y);
  if (p.over == nullptr) return collective::copy(x.data<T>(), y.data<T>(), p.whole.size());
  const storage scratch = room_for_parts(p);
  T* const received = p.in_order ? y.data<T>() : static_cast<T*>(scratch.data());
  gather_received(p, collective::bytes_of(x.data<T>()), collective::bytes_of(received), nullptr);
  if (!p.in_order) unpack_parts<T>(p, received, y.data<T>());
}
template <class T> void start_gather_parts(const tensor_core& x, const tensor_core& y, flight& f) {
  const parts_plan& p = gather_plan(x, y);
  if (p.over == nullptr || !p.fits) return gather_parts<T>(x, y);
  if (!p.equal || !p.in_order) f.keep(p);  // its counts, or its boxes
  f.axes = p.over->axes();
  f.in = room_for_parts(p);
  T* const received = p.in_order ? y.data<T>() : static_cast<T*>(f.in.data());
  gather_received(p, collective::bytes_of(x.data<T>()), collective::bytes_of(received),
                  &f.under_way);
  if (p.in_order) return;
  f.land = [](flight& g, tensor_core& to) {
    unpack_parts<T>(static_cast<const parts_plan&>(*g.plan), static_cast<const T*>(g.in.data()),
                    to.data<T>());
    return true;
  };
}

/// y, a block under `to`, from a larger block x under `from` on the same rank.
template <class T>
void cut_part(const placement& where, const table& from, const T* x, const table& to, T* y) {
  const box whole = where.own(from), own = where.own(to);
  local::pack(own.rank, own.length, x + offset_in(whole, own), strides(whole).data(), y);
}

/// y, its part, from the sum of x, the parts one after another; or, with `later`, begins.
void scatter_packed(const parts_plan& p, const std::byte* x, std::byte* y,
                    collective::requests* later);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void scatter_packed(const parts_plan& p, const std::byte* x, std::byte* y,
                                          collective::requests* later) {
  if (p.equal)
    collective::reduce_scatter_elements(*p.over, p.wire, x, p.mine, y, later);
  else if (p.fits)
    collective::reduce_scatter_counted(*p.over, p.wire, x, p.total, y, p.units.data(), later);
  else
    collective::reduce_scatter_elements_v(*p.over, p.wire, x, p.count.data(), y,
                                          p.wire.most_per_call());
}
#endif
/// y from the sum of the blocks x.
template <class T>
void scatter_parts(const tensor_core& x, const tensor_core& y, flight* later = nullptr) {
  const parts_plan& p = scatter_plan(x, y);
  if (p.over == nullptr)
    return local::pack(p.own.rank, p.own.length, x.data<const T>() + offset_in(p.whole, p.own),
                       p.stride.data(), y.data<T>());
  storage scratch = room_for_parts(p);
  if (!p.in_order) pack_parts<T>(p, x.data<const T>(), static_cast<T*>(scratch.data()));
  const T* const from = p.in_order ? x.data<T>() : static_cast<const T*>(scratch.data());
  const bool waits = later == nullptr || !p.fits;
  if (!waits && !p.equal) later->plan = p.shared_from_this();  // its counts
  scatter_packed(p, collective::bytes_of(from), collective::bytes_of(y.data<T>()),
                 waits ? nullptr : &later->under_way);
  if (waits) return;
  later->axes = p.over->axes();
  later->out = std::move(scratch);
}

/// What the rank at the origin hands over when it is summed and scattered, in elements.
constexpr index_t scattered_elements(const placement& where, const table& to, unsigned talk) {
  index_t sent = 0;
  for (index_t r = 0; r < group_size(talk, where.sizes); ++r)
    sent += where.peers(to, r, talk).size();
  return sent;
}

template <class T> struct reduce_scatter_op;

/// Elements T. To a layout in which axes that split the operand's dims at their minor ends
/// replicate.
template <class T> struct all_gather_op {
  static constexpr event_kind kind = event_kind::all_gather;
  static constexpr bool takes_complex = true;

  void fill(results y, operands x) const { gather_parts<T>(x[0], y[0]); }
  void start(results y, operands x, flight& f) const { start_gather_parts<T>(x[0], y[0], f); }
  constexpr void cost(tally& t, results y, operands x) const {
    const unsigned talk = talking(moved_axes(x[0].layout(), y[0].layout()), x[0].sizes());
    const index_t n = group_size(talk, x[0].sizes()), bytes = y[0].bytes();
    if (talk != 0 && bytes != 0)
      t.collective(event_kind::all_gather, talk, x[0].bytes(), bytes - bytes / n);
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const { to.give(0, reduce_scatter_op<T>{}, to.ybar); }
};

/// To a layout in which axes that the operand is partial along split dims at their minor ends.
/// Along axes whose value counts once there is nothing to sum: a block is cut out.
template <class T> struct reduce_scatter_op {
  static constexpr event_kind kind = event_kind::reduce_scatter;
  static constexpr bool takes_complex = true;

  static constexpr unsigned talk(const tensor_core& y, const tensor_core& x) {
    return talking(moved_axes(x.layout(), y.layout()) & x.facts->partial & ~x.once, x.sizes());
  }
  void fill(results y, operands x) const { scatter_parts<T>(x[0], y[0]); }
  void start(results y, operands x, flight& f) const { scatter_parts<T>(x[0], y[0], &f); }
  constexpr void cost(tally& t, results y, operands x) const {
    const unsigned axes = talk(y[0], x[0]);
    if (axes == 0) return;
    const index_t n = group_size(axes, x[0].sizes());
    const index_t bytes =
        scattered_elements(placement_of(y[0]), y[0].layout(), axes) * x[0].facts->element;
    if (bytes != 0) t.collective(event_kind::reduce_scatter, axes, bytes, bytes - bytes / n);
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const { to.give(0, all_gather_op<T>{}, to.ybar); }
};

template <class T> struct pad_op;

/// To a layout in which axes along which the operand is replicated split dims at their minor ends.
template <class T> struct cut_op {
  static constexpr std::string_view call = "own";
  static constexpr bool takes_complex = true;

  void fill(results y, operands x) const {
    cut_part<T>(placement_of(y[0]), x[0].layout(), x[0].data<T>(), y[0].layout(), y[0].data<T>());
  }
  constexpr void cost(tally& t, results y, operands) const { t.compute(0, 2 * y[0].bytes()); }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const { to.give(0, pad_op<T>{}, to.ybar); }
};

/// To a layout in which axes that split the operand's dims hold addends: its block among zeros.
template <class T> struct pad_op {
  static constexpr bool takes_complex = true;

  void fill(results y, operands x) const {
    const placement where = placement_of(x[0]);
    const box whole = where.own(y[0].layout()), own = where.own(x[0].layout());
    if (own.size() < whole.size()) zero_bytes(y[0].memory.data(), y[0].bytes());
    local::unpack(own.rank, own.length, x[0].data<const T>(),
                  y[0].data<T>() + offset_in(whole, own), strides(whole).data());
  }
  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(0, y[0].bytes() + 2 * x[0].bytes());
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const { to.give(0, cut_op<T>{}, to.ybar); }
};

// Compiled once in dimesh::compiled.
DIMESH_INSTANCE(reduce_scatter_op<float>, 0);
DIMESH_INSTANCE(reduce_scatter_op<float>, 1);
DIMESH_INSTANCE(reduce_scatter_op<double>, 0);
DIMESH_INSTANCE(reduce_scatter_op<double>, 1);
DIMESH_INSTANCE(all_gather_op<float>, 0);
DIMESH_INSTANCE(all_gather_op<float>, 1);
DIMESH_INSTANCE(all_gather_op<double>, 0);
DIMESH_INSTANCE(all_gather_op<double>, 1);
DIMESH_INSTANCE(cut_op<float>, 0);
DIMESH_INSTANCE(cut_op<float>, 1);
DIMESH_INSTANCE(cut_op<double>, 0);
DIMESH_INSTANCE(cut_op<double>, 1);

}  // namespace dimesh::detail
