// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do the layouts of several operands join into one? Axis by axis, on plain tables: whoever
// splits must split the same dim the same way, whoever has that dim must split it too, and addends
// combine only as the kind of operation allows; all of them live on the same ranks. Elementwise
// operations and einsum share this rule.
//
//   join_tables(join_kind::product, {batch over rows; hidden, replicated}, 2, 2)
//     -> batch over rows;   a second operand with batch replicated -> dim_split_in_one_operand_only
#pragma once

#include "dimesh/layout/fault.hpp"
#include "dimesh/layout/table.hpp"

namespace dimesh::detail {

/// What addends may do: nothing; stay (a linear map of one operand); add up with other addends;
/// be multiplied by one replicated operand; be divided by one.
/// Real: nonlinear, and of real numbers alone.
enum class join_kind : signed char { nonlinear, real, linear, sum, product, quotient };

struct joined {
  table t;  // over the union of the operands' dims
  fault_code found = fault_code::none;
  int first = 0, second = 0, axis = 0;  // culprits, as places

  constexpr void blame(fault_code f, int one, int two, int a) {
    if (found == fault_code::none) found = f, first = one, second = two, axis = a;
  }
};

/// One operand: its table over the union, and which dims it has.
struct joinable {
  table t;
  bool has[max_dims]{};
};

/// Operands live at one place of an axis, or all of them on all of its ranks. Culprits: the places.
constexpr void join_places(joined& out, const joinable* x, int operands, int a) {
  int from = -1;
  for (int i = 0; i < operands; ++i)
    if (x[i].t.axis[a].what == use::placed && from < 0) from = i;
  if (from < 0) return;
  const axis_use u = x[from].t.axis[a];
  for (int i = 0; i < operands; ++i) {
    if (x[i].t.axis[a].what != use::placed)
      return out.blame(fault_code::placed_in_one_operand_only, u.at, u.at, a);
    if (x[i].t.axis[a].at != u.at)
      return out.blame(fault_code::placed_elsewhere, u.at, x[i].t.axis[a].at, a);
  }
  out.t.axis[a] = u;
}

constexpr void join_splits(joined& out, const joinable* x, int operands, int a) {
  int from = -1;
  for (int i = 0; i < operands; ++i) {
    const axis_use u = x[i].t.axis[a];
    if (u.what != use::split) continue;
    if (from >= 0 && x[from].t.axis[a].dim != u.dim)
      return out.blame(fault_code::dims_share_mesh_axis, x[from].t.axis[a].dim, u.dim, a);
    if (from < 0) from = i;
  }
  if (from < 0) return;
  const axis_use u = x[from].t.axis[a];
  for (int i = 0; i < operands; ++i) {
    if (!x[i].has[static_cast<int>(u.dim)]) continue;
    if (x[i].t.axis[a].what != use::split) {
      if (x[i].t.axis[a].what == use::replicated)
        out.blame(fault_code::dim_split_in_one_operand_only, u.dim, u.dim, a);
    } else if (!x[i].t.splits_alike(u.dim, x[from].t) &&
               x[i].t.split_count(u.dim) == x[from].t.split_count(u.dim)) {
      out.blame(fault_code::dim_split_differently, u.dim, u.dim, a);
    }
  }
  out.t.axis[a] = u;
}

constexpr void join_partials(joined& out, join_kind kind, const joinable* x, int operands, int a) {
  int partial = -1, others = -1, count = 0;
  for (int i = 0; i < operands; ++i) {
    if (x[i].t.is_partial(a)) {
      if (x[i].t.axis[a].what != use::partial || kind <= join_kind::real)
        return out.blame(fault_code::partial_operand, 0, 0, a);
      if (partial < 0) partial = i;
      ++count;
    } else if (others < 0 || x[i].t.axis[a].what == use::split) {
      others = i;
    }
  }
  if (count == 0) return;
  if (others >= 0 && x[others].t.axis[a].what == use::split)
    return out.blame(fault_code::partial_meets_split, x[others].t.axis[a].dim, 0, a);
  if (kind == join_kind::sum && count < operands)
    return out.blame(fault_code::partial_meets_replicated, 0, 0, a);
  if (kind == join_kind::product && count > 1)
    return out.blame(fault_code::both_operands_partial, 0, 0, a);
  if (kind == join_kind::quotient && (count > 1 || partial != 0))
    return out.blame(fault_code::partial_operand, 0, 0, a);
  out.t.axis[a].what = use::partial;
}

/// Halo and unevenness of unsplit dims too must agree among the holders.
constexpr void join_dims(joined& out, const joinable* x, int operands, int dims) {
  for (int d = 0; d < dims; ++d) {
    int from = -1;
    for (int i = 0; i < operands; ++i) {
      if (!x[i].has[d]) continue;
      if (from >= 0 &&
          (x[i].t.halo[d] != x[from].t.halo[d] || x[i].t.uneven[d] != x[from].t.uneven[d] ||
           x[i].t.ragged[d] != x[from].t.ragged[d]))
        out.blame(fault_code::dim_split_differently, d, d, 0);
      if (from < 0) from = i;
    }
    if (from < 0) continue;
    out.t.halo[d] = x[from].t.halo[d];
    out.t.uneven[d] = x[from].t.uneven[d];
    out.t.ragged[d] = x[from].t.ragged[d];
  }
}

constexpr joined join_tables(join_kind kind, const joinable* x, int operands, int dims) {
  joined out;
  out.t.axes = x[0].t.axes;
  for (int a = 0; a < out.t.axes; ++a) {
    join_places(out, x, operands, a);
    join_splits(out, x, operands, a);
    join_partials(out, kind, x, operands, a);
  }
  join_dims(out, x, operands, dims);
  return out;
}

}  // namespace dimesh::detail
