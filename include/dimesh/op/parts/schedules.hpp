// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Under which layouts do two operands meet whose blocks do not fit each other as they lie? A
// schedule says it: a function of what their types say. Where a search is asked for, it weighs the
// bytes that a rank receives; every rank works out the same.
//
//   ring_schedule: x[m/rows, k], y[k, n/rows]   -> y whole along rows, block after block
//   cheapest_meeting(x, out)                    -> the layouts that cost the fewest bytes
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
/// compute the same, and add in different orders.
constexpr contract_meeting ring_meeting(rule_operands x, dim_list out, int a) {
  if (const outcome o = no_halos(x); !o.ok()) return no_meeting(o);
  contract_meeting best = no_meeting(blamed_axis(fault_code::axis_splits_nothing, a));
  for (int k = 1; k >= 0; --k) {
    const outcome travels = gathered_along(x[k], a);
    contract_meeting m;
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

// ---- a search -----------------------------------------------------------------------------------

/// Cuts, for nothing, what one operand replicates along the axes that cut the same dim of the
/// other one. (Where a ragged dim is cut only the other one knows.)
constexpr void cut_alike(rule_operands x, table* t) {
  for (int k = 0; k < 2; ++k)
    for (int d = 0; d < x[k].rank; ++d) {
      const int e = x[1 - k].place_of(x[k].dim[d]);
      if (e < 0 || t[k].ragged[d]) continue;
      for (int level = t[1 - k].split_count(e); level < t[k].split_count(d); ++level) {
        const int a = t[k].axis_at(d, level);
        bool straight = t[1 - k].axis[a].what == use::replicated;
        for (int l = 0; l < level; ++l)
          straight = straight && t[k].axis_at(d, l) == t[1 - k].axis_at(e, l);
        if (!straight) break;
        t[1 - k] = with_split(t[1 - k], a, e, t[k].uneven[d], t[k].ragged[d]);
      }
    }
}
/// The bytes that a rank lacks of its block under `to`: nothing where blocks are only cut.
constexpr double lacking_bytes(const measure& by, const tensor_facts& x, const table& to) {
  const double all = by.bytes(x, to);
  double shared = all;
  for (int a = 0; a < to.axes; ++a)
    if (x.layout.axis[a].what == use::split && !(x.layout.axis[a] == to.axis[a]))
      shared /= by.size_of(x, a);
  return all - shared;
}
/// What a rank receives to complete y, which may hold addends, under `to`.
constexpr double completing_bytes(const measure& by, tensor_facts y, const table& from,
                                  const table& to) {
  double bytes = 0, block = by.bytes(y, from);
  y.layout = from;
  for (int a = 0; a < from.axes; ++a) {
    if (from.axis[a].what != use::partial || to.axis[a].what == use::partial) continue;
    const double n = by.size_of(y, a);
    const bool scatters = to.axis[a].what == use::split;
    bytes += (scatters ? 1.0 : 2.0) * (block - block / n);
    if (scatters) block /= n;
    y.layout.axis[a] = to.axis[a];
  }
  return bytes + lacking_bytes(by, y, to);
}

/// What a search is for: the fewest bytes that a rank receives, for a result under `goal` (null:
/// any layout) of which `y` is the rest of its type; at most so many bytes of operands beside the
/// blocks that a rank has (0: no bound), where that can be.
struct search {
  measure by;
  const table* goal = nullptr;
  const tensor_facts* y = nullptr;
  double memory = 0;
};
/// Are there ragged blocks in the goal that the result does not have? They come of no relayout.
constexpr bool lacks_cuts(const search& s, const table& from) {
  for (int d = 0; d < s.y->rank; ++d)
    if (s.goal->ragged[d] && (!from.ragged[d] || from.axes_of(d) != s.goal->axes_of(d)))
      return true;
  return false;
}
/// What a meeting costs in bytes received, the way of the result to the goal among them.
constexpr double bytes_of_meeting(const search& s, rule_operands x, const contract_meeting& m) {
  double n = lacking_bytes(s.by, x[0], m.whole[0]) + lacking_bytes(s.by, x[1], m.whole[1]);
  if (s.goal != nullptr) {
    n += completing_bytes(s.by, *s.y, m.found.layout, *s.goal);
    if (lacks_cuts(s, m.found.layout)) n += 1e300;
  }
  return n;
}
/// The bytes of operands that are gathered at once.
constexpr double gathered_bytes(const search& s, rule_operands x, const contract_meeting& m) {
  double n = 0;
  for (int k = 0; k < 2; ++k)
    if (lacking_bytes(s.by, x[k], m.whole[k]) > 0) n += s.by.bytes(x[k], m.whole[k]);
  return n;
}
/// The layouts under which einsum takes the operands that cost the fewest bytes: splits are given
/// up, and what is replicated is cut.
constexpr contract_meeting cheapest_meeting(rule_operands x, dim_list out, const search& s = {}) {
  contract_meeting best = no_meeting(einsum_rule_of(x, out));
  const unsigned cut[2] = {x[0].layout.mask(use::split), x[1].layout.mask(use::split)};
  bool any = false, fits = false;
  for (unsigned d0 = 0; d0 <= cut[0]; ++d0)
    for (unsigned d1 = 0; d1 <= cut[1]; ++d1) {
      if ((d0 & ~cut[0]) != 0 || (d1 & ~cut[1]) != 0) continue;
      contract_meeting m;
      m.whole[0] = without_axes(x[0].layout, d0);
      m.whole[1] = without_axes(x[1].layout, d1);
      cut_alike(x, m.whole);
      for (int k = 0; k < 2; ++k) m.whole[k] = tidied(x[k], m.whole[k]);
      m.found = product_under(x, m.whole, out);
      if (!m.found.ok()) continue;
      m.bytes = bytes_of_meeting(s, x, m);
      const bool small = s.memory == 0 || gathered_bytes(s, x, m) <= s.memory;
      if (!any || (small && !fits) || (small == fits && m.bytes < best.bytes))
        best = m, any = true, fits = small;
    }
  return best;
}
/// Operands are cut where that is free, and nothing else.
constexpr contract_meeting cut_meeting(rule_operands x, dim_list out) {
  contract_meeting m;
  for (int k = 0; k < 2; ++k) m.whole[k] = x[k].layout;
  cut_alike(x, m.whole);
  for (int k = 0; k < 2; ++k) m.whole[k] = tidied(x[k], m.whole[k]);
  m.found = product_under(x, m.whole, out);
  return m;
}

// ---- the best of all ----------------------------------------------------------------------------

/// What by::best takes: operands brought to where they meet, a ring along axis `rows`, or panels
/// along `rows` and `cols`.
struct contract_choice {
  contract_meeting m;
  int rows = -1, cols = -1;
  constexpr bool operator==(const contract_choice& c) const {
    return rows == c.rows && cols == c.cols && m.whole[0] == c.m.whole[0] &&
           m.whole[1] == c.m.whole[1];
  }
};
/// Gathers, where they are within the memory; else what sends no more than the best of them, and
/// keeps less.
constexpr contract_choice best_choice(rule_operands x, dim_list out, const search& s) {
  contract_choice best{cheapest_meeting(x, out, s)};
  if (!best.m.found.ok() || s.memory == 0 || gathered_bytes(s, x, best.m) <= s.memory) return best;
  bool any = false;
  for (int a = 0; a < x[0].layout.axes; ++a)
    for (int b = a; b < x[0].layout.axes; ++b) {
      contract_choice c{a == b ? ring_meeting(x, out, a) : panel_meeting(x, out, a, b, -1), a,
                        a == b ? -1 : b};
      if (!c.m.found.ok()) continue;
      c.m.bytes = bytes_of_meeting(s, x, c.m);
      if (!any || c.m.bytes < best.m.bytes) best = c, any = true;
    }
  return best;
}
/// The layout of a result that keeps the splits of its dims: those of the first operand, and those
/// of the second one over axes that are still free.
constexpr table kept_splits(rule_operands x, const tensor_facts& y) {
  table t = y.layout;
  for (int k = 0; k < 2; ++k)
    for (int d = 0; d < x[k].rank; ++d) {
      const int e = y.place_of(x[k].dim[d]);
      if (e < 0 || t.split_count(e) > 0) continue;
      for (int level = 0; level < x[k].layout.split_count(d); ++level) {
        const int a = x[k].layout.axis_at(d, level);
        if (t.axis[a].what != use::replicated) break;
        t = with_split(t, a, e, x[k].layout.uneven[d], x[k].layout.ragged[d]);
      }
    }
  return tidied(y, t);
}

}  // namespace dimesh::detail
