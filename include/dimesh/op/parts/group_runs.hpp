// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which of a rank's rows belong to which group? Rows lie group by group, and the lengths of the
// groups say where each begins. Found in one pass over the lengths, at run time, with no memory.
//
//   lengths {3, 0, 2}, this rank's rows 2..4:
//   for_each_group(...)   -> f(0, 0, 1), f(1, 1, 0), f(2, 1, 2)      group, first row, rows
#pragma once

#include "dimesh/core/tensor_core.hpp"
#include "dimesh/memory/memory.hpp"

namespace dimesh::detail {

/// How far apart neighbouring rows and groups lie in a tensor, in elements; 0 where it has none.
struct group_steps {
  index_t row = 0, group = 0;
  group_steps(const tensor_core& x, const dim_facts* rows, const dim_facts* groups) {
    if (const int d = x.facts->place_of(rows); d >= 0) row = x.stride(d);
    if (const int d = x.facts->place_of(groups); d >= 0) group = x.stride(d);
  }
  index_t at(index_t g, index_t first) const { return g * group + first * row; }
};

[[noreturn]] inline void refuse_length(const dim_facts* group, index_t g, index_t length) {
  (words() << "grouped_einsum: group " << g << " of dim '" << group->name << "' has length "
           << length << "; lengths are not negative")
      .raise();
}
[[noreturn]] inline void refuse_lengths(const dim_facts* rows, index_t total, index_t there,
                                        bool split) {
  (words() << "grouped_einsum: the lengths of the groups add up to " << total << " rows, and "
           << (split ? "this rank's block of dim '" : "dim '") << rows->name << "' has " << there
           << "; every row belongs to a group")
      .raise();
}

/// Calls f(group, begin, length) for every group that this rank has: numbers and rows are counted
/// from the first of its own. A group with no row here has length 0.
template <class I, class F>
void for_each_group(const tensor_core& lengths, const I* length, const tensor_core& x,
                    const dim_facts* rows, const F& f) {
  const int r = x.facts->place_of(rows);
  const bool split = lengths.layout().split_count(0) > 0;  // its groups are this rank's rows
  const block own = x.own(r);
  const index_t count = lengths.local(0), there = split ? own.length : x.extent(r);
  const index_t first = split ? 0 : own.offset, last = first + own.length;
  index_t total = 0;
  for (index_t g = 0; g < count; ++g) {
    const auto n = static_cast<index_t>(get_element(length + g));
    if (n < 0) refuse_length(lengths.facts->dim[0], lengths.own(0).offset + g, n);
    total += n;
  }
  if (total != there) refuse_lengths(rows, total, there, split);
  index_t at = 0;
  for (index_t g = 0; g < count; ++g) {
    const index_t end = at + static_cast<index_t>(get_element(length + g));
    const index_t from = at < first ? first : at, to = end < last ? end : last;
    f(g, to > from ? from - first : index_t{0}, to > from ? to - from : index_t{0});
    at = end;
  }
}

}  // namespace dimesh::detail
