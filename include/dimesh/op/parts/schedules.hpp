// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Under which layouts do two operands meet whose blocks do not fit each other as they lie? A
// schedule says it: a function of what their types say; every rank works out the same. (A search
// for the best: cheapest_meeting.hpp.)
//
//   ring_meeting(x[m/rows, k], y[k, n/rows], out, rows)   -> y whole along rows, block after block
#pragma once

#include "dimesh/op/parts/einsum_op.hpp"
#include "dimesh/op/parts/transition.hpp"

namespace dimesh::detail {

/// How the operands of a contraction meet: `whole` are the layouts under which einsum takes them.
/// Through: the dim whose blocks travel. Share: an axis that both replicate, of whose ranks each
/// takes a part of `through`; -1 if there is none.
struct contract_meeting {
  outcome found;
  table whole[2];
  const dim_facts* through = nullptr;
  int share = -1;
  int travels = -1;  // of a ring: the operand
  double bytes = 0;  // received by a rank, as far as types say
};
constexpr contract_meeting no_meeting(const outcome& o) {
  contract_meeting m;
  m.found = o;
  return m;
}

/// The rule of einsum for operands under other tables.
constexpr outcome product_under(rule_operands x, const table* tables, dim_list out) {
  tensor_facts f[2] = {x[0], x[1]};
  const tensor_facts* at[2] = {&f[0], &f[1]};
  for (int k = 0; k < 2; ++k) f[k].layout = tables[k];
  return einsum_rule_of({at, 2}, out);
}
/// How long are dims, how many ranks stand along axes? As far as types say; what only the run knows
/// is assumed, or told.
struct measure {
  int count = 0;
  const dim_facts* dim[2 * max_dims]{};  // whose extents are told
  index_t extent[2 * max_dims]{};
  const index_t* sizes = nullptr;
  const tensor_facts* large = nullptr;  // its dims are assumed to be long

  constexpr double extent_of(const dim_facts* d) const {
    if (d->extent != dynamic) return static_cast<double>(d->extent);
    for (int i = 0; i < count; ++i)
      if (same_dim(dim[i], d)) return static_cast<double>(extent[i]);
    return large != nullptr && large->place_of(d) >= 0 ? 4096 : 64;
  }
  constexpr double size_of(const tensor_facts& x, int a) const {
    const index_t n = sizes != nullptr ? sizes[a] : x.axis_sizes()[a];
    return n < 1 ? 2.0 : static_cast<double>(n);
  }
  /// The bytes of a rank's block under a table.
  constexpr double bytes(const tensor_facts& x, const table& t) const {
    double n = static_cast<double>(x.element);
    for (int d = 0; d < x.rank; ++d) n *= extent_of(x.dim[d]);
    for (int a = 0; a < t.axes; ++a)
      if (t.axis[a].what == use::split) n /= size_of(x, a);
    return n;
  }
};

/// Operand k under the table in which axis a no longer cuts its blocks.
constexpr outcome gathered_along(const tensor_facts& x, int a) {
  const axis_use u = x.layout.axis[a];
  if (u.what != use::split) return blamed_axis(fault_code::axis_splits_nothing, a);
  if (u.level + 1 != x.layout.split_count(u.dim))
    return blamed(fault_code::axis_not_innermost_of_dim, x.dim[static_cast<int>(u.dim)], a);
  return gather_rule_of(x, 1u << a);
}
constexpr outcome no_halos(rule_operands x) {
  for (int k = 0; k < x.count; ++k)
    if (const dim_facts* const d = haloed_dim(x[k]); d != nullptr)
      return blamed(fault_code::dim_has_halo, d);
  return outcome{};
}

/// One operand's blocks travel along axis a, which cuts the result, too: else all ranks would
/// compute the same, and add in different orders. The smaller one's, or those of operand `only`.
constexpr contract_meeting ring_meeting(rule_operands x, dim_list out, int a, int only = -1) {
  if (const outcome o = no_halos(x); !o.ok()) return no_meeting(o);
  contract_meeting best = no_meeting(blamed_axis(fault_code::axis_splits_nothing, a));
  for (int k = 1; k >= 0; --k) {
    if (only >= 0 && k != only) continue;
    const outcome travels = gathered_along(x[k], a);
    contract_meeting m;
    m.travels = k;
    for (int i = 0; i < 2; ++i) m.whole[i] = i == k ? travels.layout : x[i].layout;
    m.found = travels.ok() ? product_under(x, m.whole, out) : travels;
    if (m.found.ok() && m.found.layout.axis[a].what != use::split)
      m.found = blamed_axis(fault_code::axis_splits_nothing, a);
    if (travels.ok()) {
      m.through = x[k].dim[static_cast<int>(x[k].layout.axis[a].dim)];
      m.bytes = measure{}.bytes(x[k], m.whole[k]);
    }
    const bool tells_more = best.found.found == fault_code::axis_splits_nothing;
    if (m.found.ok() ? !best.found.ok() || m.bytes < best.bytes : !best.found.ok() && tells_more)
      best = m;
  }
  return best;
}

/// The axis of the mask that cuts, innermost, a dim of x that is summed; -1 if none does.
constexpr int summed_axis(const tensor_facts& x, dim_list out, unsigned axes) {
  for (int a = 0; a < x.layout.axes; ++a)
    if ((axes >> a & 1u) && x.layout.axis[a].what == use::split &&
        !out.has(x.dim[static_cast<int>(x.layout.axis[a].dim)]))
      return a;
  return -1;
}
/// The summed dim is cut along one of two axes in the one operand, along the other one in the
/// other; its blocks travel in panels. Spare: -1, or an axis whose ranks share the panels out.
constexpr contract_meeting panel_meeting(rule_operands x, dim_list out, int rows, int cols,
                                         int spare) {
  if (const outcome o = no_halos(x); !o.ok()) return no_meeting(o);
  const unsigned both = 1u << rows | 1u << cols;
  contract_meeting m;
  int along[2] = {-1, -1};
  for (int k = 0; k < 2; ++k) {
    along[k] = summed_axis(x[k], out, k == 0 ? both : both & ~(1u << along[0]));
    if (along[k] < 0)
      return no_meeting(
          blamed_axis(fault_code::axis_splits_nothing, k > 0 && along[0] == rows ? cols : rows));
    const outcome o = gathered_along(x[k], along[k]);
    if (!o.ok()) return no_meeting(o);
    m.whole[k] = o.layout;
    const dim_facts* const d = x[k].dim[static_cast<int>(x[k].layout.axis[along[k]].dim)];
    if (k > 0 && !same_dim(d, m.through))
      return no_meeting(blamed(fault_code::dim_split_differently, d));
    m.through = d;
  }
  m.found = product_under(x, m.whole, out);
  if (!m.found.ok() || spare < 0) return m;
  for (int k = 0; k < 2; ++k)
    if (x[k].layout.axis[spare].what != use::replicated)
      return no_meeting(blamed_axis(fault_code::axis_not_replicated, spare));
  m.share = spare;
  m.found.layout.axis[spare] = {use::partial};
  return m;
}

}  // namespace dimesh::detail
