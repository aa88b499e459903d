// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where on the way back is a cotangent summed that holds addends along an axis? At the first place
// where it is no larger than where it has to be summed in any case, if something else is spared a
// sum by that (docs/decisions/0016).
//
//   y = complete(x); z = y + b     // the cotangent of z holds addends: summed before it fans out,
//                                  // so that the gradient of b is whole, too
#pragma once

#include "dimesh/collective/all_reduce.hpp"
#include "dimesh/core/operand.hpp"
#include "dimesh/layout/box.hpp"

namespace dimesh::detail {

/// So many nodes one looks ahead.
inline constexpr int furthest_sum = 16;

/// Bytes of the largest block: all ranks agree on it.
constexpr index_t most_bytes(const tensor_core& x) {
  index_t n = x.facts->element;
  for (int d = 0; d < x.rank(); ++d)
    n *= longest_block(x.layout(), d, x.extent(d), x.sizes(), {x.cuts.first(), x.facts->dim}) +
         x.layout().halo[d].both();
  return n;
}

/// Axes along which the transpose of an operation with result y sums, to give the cotangent of x:
/// there x holds addends, and y does not.
constexpr unsigned summed_here(const tensor_core& y, const tensor_core& x) {
  return x.facts->partial & y.facts->dual->partial;
}
/// Those along which the operand's own cotangent may have to be summed, if that is no smaller.
constexpr unsigned summed_on(const tensor_core& y, const held& x) {
  const unsigned axes = x.to->summed & y.facts->dual->partial;
  return axes != 0 && most_bytes(y) <= most_bytes(x.core) ? axes : 0;
}
/// Nothing but one node's contribution will be in this cell.
constexpr bool is_sole(const cell& c) { return c.uses == 1 && !c.filled; }

/// Is it of use to sum the cotangent of y along these axes before it fans out to the operands? If
/// it is smaller, or if two operands' cotangents are whole from then on.
constexpr bool pays(unsigned axes, const tensor_core& y, const held* operands) {
  unsigned seen = 0;
  for (const held* h = operands; h != nullptr; h = h->next) {
    if (h->to == nullptr || h->to->uses != 1) continue;
    const unsigned others = h->to->filled ? h->to->bar.once : ~0u;
    const unsigned whole = axes & h->core.facts->dual->partial & others;
    if ((seen & whole) != 0) return true;
    if ((axes & h->to->summed) != 0 && is_sole(*h->to) && most_bytes(y) < most_bytes(h->core))
      return true;
    seen |= whole;
  }
  return false;
}

/// The sum of what the ranks along some axes hold, elements of any type.
inline void sum_addends(const tensor_core& y, const tensor_core& x, unsigned axes) {
  const in_space here(x.facts->space);
  collective::all_reduce_elements(x.grid->along(axes), {x.facts->kind, x.facts->element},
                                  x.data<const std::byte>(), y.data<std::byte>(), x.elements());
}
constexpr void count_sum(tally& t, const tensor_core& x, unsigned axes) {
  const index_t bytes = x.bytes(), n = group_size(axes, x.sizes());
  if (bytes != 0) t.collective(event_kind::all_reduce, axes, bytes, 2 * (n - 1) * bytes / n);
}

}  // namespace dimesh::detail
