// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Under which layouts do two operands meet for the fewest bytes that a rank receives? A search over
// the splits that they may give up, and over the sums that may be made before the product instead
// of after it; what is replicated is cut where that is free.
//
//   cheapest_meeting(x[m/rows, k], y[k/rows, n], out)   -> the layouts that cost the fewest bytes
#pragma once

#include "dimesh/op/parts/schedules.hpp"

namespace dimesh::detail {

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
/// blocks that a rank has (0: no bound), where that can be. Sums: operands that hold addends may be
/// summed first.
struct search {
  measure by;
  const table* goal = nullptr;
  const tensor_facts* y = nullptr;
  double memory = 0;
  bool sums = false;
};
/// Are there ragged blocks in the goal that the result does not have? They come of no relayout.
constexpr bool lacks_cuts(const search& s, const table& from) {
  for (int d = 0; d < s.y->rank; ++d)
    if (s.goal->ragged[d] && (!from.ragged[d] || from.axes_of(d) != s.goal->axes_of(d)))
      return true;
  return false;
}
/// Does the goal hold addends where the result has none?
constexpr bool lacks_addends(const search& s, const table& from) {
  return (s.goal->mask(use::partial) & ~from.mask(use::partial)) != 0;
}
/// What a meeting costs of whose result no relayout makes the goal.
inline constexpr double out_of_reach = 1e300;
/// What operand k is yet to receive.
constexpr double bytes_to_meet(const search& s, rule_operands x, const contract_meeting& m, int k) {
  return completing_bytes(s.by, x[k], x[k].layout, m.whole[k]);
}
/// What a meeting costs in bytes received, the way of the result to the goal among them.
constexpr double bytes_of_meeting(const search& s, rule_operands x, const contract_meeting& m) {
  double n = bytes_to_meet(s, x, m, 0) + bytes_to_meet(s, x, m, 1);
  if (s.goal != nullptr) {
    n += completing_bytes(s.by, *s.y, m.found.layout, *s.goal);
    if (lacks_cuts(s, m.found.layout) || lacks_addends(s, m.found.layout)) n += out_of_reach;
  }
  return n;
}
/// The bytes of operands that are gathered at once; rings and panels gather none.
constexpr double gathered_bytes(const search& s, rule_operands x, const contract_meeting& m) {
  double n = 0;
  for (int k = 0; k < 2; ++k)
    if (bytes_to_meet(s, x, m, k) > 0) n += s.by.bytes(x[k], m.whole[k]);
  return n;
}
/// By how many of these bytes is that more than the memory? (Of what does not reach the goal: any.)
constexpr double excess_bytes(const search& s, rule_operands x, const contract_meeting& m) {
  if (m.bytes >= out_of_reach) return out_of_reach;
  const double n = s.memory == 0 ? 0 : gathered_bytes(s, x, m) - s.memory;
  return n > 0 ? n : 0;
}
/// The axes that may do nothing any more, before x meets another operand.
constexpr unsigned may_give_up(const tensor_facts& x, bool sums) {
  const bool may_sum = sums && is_summable(x.kind);
  return x.layout.mask(use::split) | (may_sum ? x.layout.mask(use::partial) : 0);
}
/// The layouts under which einsum takes the operands that cost the fewest bytes: splits are given
/// up, sums are made, and what is replicated is cut.
constexpr contract_meeting cheapest_meeting(rule_operands x, dim_list out, const search& s = {}) {
  contract_meeting best = no_meeting(einsum_rule_of(x, out));
  const unsigned cut[2] = {may_give_up(x[0], s.sums), may_give_up(x[1], s.sums)};
  bool any = false;
  double least = 0;  // where nothing fits, what is gathered counts first
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
      const double excess = excess_bytes(s, x, m);
      if (!any || excess < least || (excess == least && m.bytes < best.bytes))
        best = m, any = true, least = excess;
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
/// Gathers, where they are within the memory; else what sends block by block; else, where nothing
/// does that, the gather that wants the least memory.
constexpr contract_choice best_choice(rule_operands x, dim_list out, const search& s) {
  contract_choice best{cheapest_meeting(x, out, s)};
  if (!best.m.found.ok() || s.memory == 0 || gathered_bytes(s, x, best.m) <= s.memory) return best;
  // Of elements that only store, products are made of gathered operands, in float (contract_by).
  const auto rounds = [](element_kind k) {
    return k == element_kind::bfloat16 || k == element_kind::half;
  };
  if (rounds(x[0].kind) || rounds(x[1].kind)) return best;
  bool any = false;
  const auto consider = [&](contract_choice c) {
    if (!c.m.found.ok()) return;
    c.m.bytes = bytes_of_meeting(s, x, c.m);
    if (c.m.bytes >= out_of_reach) return;
    if (!any || c.m.bytes < best.m.bytes) best = c, any = true;
  };
  for (int a = 0; a < x[0].layout.axes; ++a) {
    for (int k = 1; k >= 0; --k) consider({ring_meeting(x, out, a, k), a});
    for (int b = a + 1; b < x[0].layout.axes; ++b)
      consider({panel_meeting(x, out, a, b, -1), a, b});
  }
  return best;
}
/// The memory that a choice wants of a search that bounds it, 0 where it has enough.
constexpr index_t memory_wanted(const search& s, rule_operands x, const contract_choice& c) {
  if (s.memory == 0 || c.rows >= 0) return 0;
  const double n = gathered_bytes(s, x, c.m);
  if (n <= s.memory) return 0;
  const auto whole = static_cast<index_t>(n);
  return whole + (static_cast<double>(whole) < n ? 1 : 0);
}
/// The layout of a result that keeps the splits of its dims: those of the first operand, and those
/// of the second one over axes that are still free.
constexpr table kept_splits(rule_operands x, const tensor_facts& y) {
  table t = y.layout;
  for (int k = 0; k < x.count; ++k)
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
