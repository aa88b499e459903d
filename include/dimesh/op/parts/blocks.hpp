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
#include "dimesh/local/copy.hpp"
#include "dimesh/op/parts/transition.hpp"

namespace dimesh::detail {

/// The parts of an array that the ranks of a communicator hold, in rank order. The arrays are kept
/// from call to call.
struct part_list {
  std::vector<box> part;
  std::vector<index_t> count;
  index_t total = 0;
  bool equal = true;    // all parts have one size
  bool in_order = true; // the parts one after another are the array

  /// Parts under table t of a box `whole`, for the ranks of the communicator over `axes`.
  static part_list& of(const placement& where, const table& t, const box& whole, unsigned axes) {
    thread_local part_list list;
    const auto n = static_cast<std::size_t>(group_size(axes, where.sizes));
    if (list.part.size() < n) list.part.resize(n), list.count.resize(n);
    list.total = 0;
    list.equal = list.in_order = true;
    for (std::size_t r = 0; r < n; ++r) {
      const box& b = list.part[r] = where.peers(t, static_cast<index_t>(r), axes);
      const index_t count = list.count[r] = b.size();
      list.equal = list.equal && count == list.count[0];
      list.in_order =
          list.in_order && (count == 0 || (is_run(whole, b) && offset_in(whole, b) == list.total));
      list.total += count;
    }
    return list;
  }
};

/// Are the parts of `whole` of one size and in rank order, as seen at once? So they are where one
/// axis cuts one dim evenly and no dim before it has a second element: the common case, kept quick.
constexpr bool plainly_in_order(const table& t, unsigned talk, const box& whole, const box& own) {
  const axis_use u = t.axis[std::countr_zero(talk)];
  return std::has_single_bit(talk) && !t.uneven[static_cast<int>(u.dim)] && is_run(whole, own);
}

/// y, a block under `to`, from the blocks x of all ranks under `from`.
template <class T>
void gather_parts(const grid_state& grid, const placement& where, const table& from, const T* x,
                  const table& to, T* y) {
  const unsigned talk = talking(moved_axes(from, to), grid.sizes());
  const box whole = where.own(to);
  if (talk == 0) return collective::copy(x, y, whole.size());
  const box own = where.own(from);
  if (plainly_in_order(from, talk, whole, own))
    return collective::all_gather(grid.along(talk), x, own.size(), y);
  const part_list& parts = part_list::of(where, from, whole, talk);
  storage scratch;  // [ranks][part], where that is not the order of y
  if (!parts.in_order)
    scratch = storage::acquire(static_cast<std::size_t>(parts.total) * sizeof(T));
  T* received = parts.in_order ? y : static_cast<T*>(scratch.data());
  const auto& c = grid.along(talk);
  if (parts.equal)
    collective::all_gather(c, x, parts.count[0], received);
  else
    collective::all_gather_v(c, x, parts.count.data(), received);
  if (parts.in_order) return;
  const strides stride(whole);
  for (std::size_t r = 0; r < static_cast<std::size_t>(c.size()); received += parts.count[r++])
    local::unpack(whole.rank, parts.part[r].length, static_cast<const T*>(received),
                  y + offset_in(whole, parts.part[r]), stride.data());
}

/// y, a block under `to`, from a larger block x under `from` on the same rank.
template <class T>
void cut_part(const placement& where, const table& from, const T* x, const table& to, T* y) {
  const box whole = where.own(from), own = where.own(to);
  local::pack(own.rank, own.length, x + offset_in(whole, own), strides(whole).data(), y);
}

/// y, a block under `to`, from the sum over the axes in `talk` of blocks x under `from`.
template <class T>
void scatter_parts(const grid_state& grid, const placement& where, unsigned talk, const table& from,
                   const T* x, const table& to, T* y) {
  if (talk == 0) return cut_part(where, from, x, to, y);
  const box whole = where.own(from);
  const box own = where.own(to);
  const auto& c = grid.along(talk);
  if (plainly_in_order(to, talk, whole, own))
    return collective::reduce_scatter(c, x, own.size(), y);
  const part_list& parts = part_list::of(where, to, whole, talk);
  storage scratch;  // [ranks][part], where that is not the order of x
  if (!parts.in_order) {
    scratch = storage::acquire(static_cast<std::size_t>(parts.total) * sizeof(T));
    T* packed = static_cast<T*>(scratch.data());
    const strides stride(whole);
    for (std::size_t r = 0; r < static_cast<std::size_t>(c.size()); packed += parts.count[r++])
      local::pack(whole.rank, parts.part[r].length, x + offset_in(whole, parts.part[r]),
                  stride.data(), packed);
    x = static_cast<const T*>(scratch.data());
  }
  if (parts.equal)
    collective::reduce_scatter(c, x, parts.count[0], y);
  else
    collective::reduce_scatter_v(c, x, parts.count.data(), y);
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
  static constexpr bool takes_complex = true;

  void fill(results y, operands x) const {
    gather_parts<T>(*x[0].grid, placement_of(x[0]), x[0].layout(), x[0].data<T>(), y[0].layout(),
                    y[0].data<T>());
  }
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
  static constexpr bool takes_complex = true;

  static constexpr unsigned talk(const tensor_core& y, const tensor_core& x) {
    return talking(moved_axes(x.layout(), y.layout()) & x.facts->partial & ~x.once, x.sizes());
  }
  void fill(results y, operands x) const {
    scatter_parts<T>(*x[0].grid, placement_of(x[0]), talk(y[0], x[0]), x[0].layout(),
                     x[0].data<T>(), y[0].layout(), y[0].data<T>());
  }
  constexpr void cost(tally& t, results y, operands x) const {
    const unsigned axes = talk(y[0], x[0]);
    if (axes == 0) return;
    const index_t n = group_size(axes, x[0].sizes());
    const index_t bytes =
        scattered_elements(placement_of(x[0]), y[0].layout(), axes) * x[0].facts->element;
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
    cut_part<T>(placement_of(x[0]), x[0].layout(), x[0].data<T>(), y[0].layout(), y[0].data<T>());
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
