// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In which order are three operands and more multiplied, where they may have to move first? Pair by
// pair, the one first that costs a rank the least, arithmetic and received bytes together; of three
// operands what is left counts, too. Found while compiling, from what types say. A product is
// linear in each operand: addends of one stay addends to the end, if the last result is smaller.
//
//   a[m, k/rows] . b[k/rows, n] . c[n, o]     -> a . b first where that sends less: the summed dim
//                                                is split alike, and m x n is small
#pragma once

#include "dimesh/op/parts/contract_best.hpp"

namespace dimesh::detail {

/// What a rank could compute while it receives a byte: about what a core does, and its share of a
/// network.
inline constexpr double operations_a_byte = 16;

struct product_step {
  int first = 0, second = 1;
  double cost = -1;
};

/// Along which axes does y, the product of x[i] and x[j], stay addends? Where one of these holds
/// some (or, of wanted axes, where a summed dim is split), no other operand needs the axis, and the
/// last result is wanted as addends, or has fewer bytes than y.
constexpr unsigned carried_axes(rule_operands x, dim_list out, int i, int j, const tensor_facts& y,
                                unsigned wanted) {
  unsigned held = 0, used = 0;
  for (int a = 0; a < y.layout.axes; ++a)
    if (y.layout.axis[a].what != use::replicated) used |= 1u << a;
  for (int k = 0; k < x.count; ++k) {
    const unsigned addends = x[k].layout.mask(use::partial);
    if (k != i && k != j) {
      used |= addends | x[k].layout.mask(use::split);
      continue;
    }
    held |= addends;
    for (int d = 0; d < x[k].rank; ++d)
      if (y.place_of(x[k].dim[d]) < 0) held |= x[k].layout.axes_of(d) & wanted;
  }
  const unsigned may = held & ~used;
  if ((may & ~wanted) == 0) return may;
  facts_of_own_dims last = y;
  last.rank = 0;
  table whole;
  whole.axes = y.layout.axes;
  last.layout = whole;
  for (int d = 0; d < out.size; ++d) last.add_dim(out[d]);
  last.layout = kept_splits(x, last);
  const measure by;
  return by.bytes(last, last.layout) < by.bytes(y, y.layout) ? may : may & wanted;
}
/// The product of x[i] and x[j] as a tensor: the dims of `out` and of other operands, split as by
/// by::best<>, and with the addends that it keeps; those along wanted axes, if it can.
constexpr facts_of_own_dims facts_of_pair(rule_operands x, dim_list out, int i, int j,
                                          unsigned wanted) {
  const tensor_facts* const at[] = {&x[i], &x[j]};
  facts_of_own_dims y = x[i];
  y.rank = 0, y.is_static = true;
  table whole;  // a temporary would end g++ 12
  whole.axes = x[i].layout.axes;
  y.layout = whole;
  const dim_union all({at, 2});
  for (int d = 0; d < all.size; ++d) {
    bool kept = out.has(all.at[d]);
    for (int k = 0; k < x.count; ++k)
      kept = kept || (k != i && k != j && x[k].place_of(all.at[d]) >= 0);
    if (!kept) continue;
    y.add_dim(all.at[d]);
    y.is_static = y.is_static && all.at[d]->extent != dynamic;
  }
  y.layout = kept_splits({at, 2}, y);
  y.layout = with_addends(y.layout, carried_axes(x, out, i, j, y, wanted));
  for (int a; (a = axis_without_addends(y.layout, {at, 2}, y)) >= 0;) y.layout.axis[a] = {};
  return y;
}
/// What the product of a and b costs a rank, whose result is y.
constexpr double cost_of_product(const tensor_facts& a, const tensor_facts& b,
                                 const tensor_facts& y) {
  const tensor_facts* const at[] = {&a, &b};
  const measure by;
  const contract_meeting m = cheapest_meeting({at, 2}, y.dims(), {by, &y.layout, &y, 0, true});
  const dim_union all({at, 2});
  double work = 1;
  for (int d = 0; d < all.size; ++d) work *= by.extent_of(all.at[d]);
  for (int i = 0; i < a.layout.axes; ++i)
    if (m.whole[0].axis[i].what == use::split || m.whole[1].axis[i].what == use::split)
      work /= by.size_of(a, i);
  return work + operations_a_byte * m.bytes;
}
/// The pair that is multiplied first.
constexpr product_step cheapest_step(rule_operands x, dim_list out, unsigned wanted) {
  product_step best;
  for (int i = 0; i < x.count; ++i)
    for (int j = i + 1; j < x.count; ++j) {
      const facts_of_own_dims y = facts_of_pair(x, out, i, j, wanted);
      double cost = cost_of_product(x[i], x[j], y);
      if (x.count == 3) {
        const tensor_facts* const rest[] = {&y, &x[3 - i - j]};
        const facts_of_own_dims all = facts_of_pair({rest, 2}, out, 0, 1, wanted);
        cost += cost_of_product(y, *rest[1], all);
      }
      if (best.cost < 0 || cost < best.cost) best = {i, j, cost};
    }
  return best;
}

/// Calls f(pair, y) for the products of a chain but the last one, which come out as y; then
/// last(pair).
template <class F, class G>
constexpr auto for_each_product(rule_operands x, dim_list out, unsigned wanted, const F& f,
                                const G& last) {
  facts_of_own_dims all[max_operands];
  const tensor_facts* at[max_operands];
  int count = x.count;
  for (int k = 0; k < count; ++k) all[k] = x[k], at[k] = &all[k];
  for (; count > 2; --count) {
    const rule_operands now{at, count};
    const product_step step = cheapest_step(now, out, wanted);
    const facts_of_own_dims y = facts_of_pair(now, out, step.first, step.second, wanted);
    const tensor_facts* const pair[] = {&all[step.first], &all[step.second]};
    f(rule_operands{pair, 2}, y);
    facts_of_own_dims left[max_operands];
    int n = 0;
    left[n++] = y;
    for (int k = 0; k < count; ++k)
      if (k != step.first && k != step.second) left[n++] = all[k];
    for (int k = 0; k < n; ++k) all[k] = left[k];
  }
  return last(rule_operands{at, 2});
}
/// An axis along which the goal holds addends, and the last product of all has none; -1 if there is
/// none.
constexpr int axis_without_addends_at_last(const table& goal, rule_operands x,
                                           const tensor_facts& last) {
  return for_each_product(
      x, last.dims(), goal.mask(use::partial), [](rule_operands, const tensor_facts&) {},
      [&](rule_operands pair) { return axis_without_addends(goal, pair, last); });
}

/// The memory that a product of sized operands wants, whose result is y; 0 where it has enough.
constexpr index_t memory_wanted_for(rule_operands x, const tensor_facts& y, index_t memory) {
  if (!is_sized(x)) return 0;
  const search s{{}, &y.layout, &y, static_cast<double>(memory), true};
  return memory_wanted(s, x, best_choice(x, y.dims(), s));
}
/// The most memory that a product of the chain wants.
template <class L, class Out>
constexpr index_t memory_wanted_by_chain(rule_operands x, unsigned wanted, index_t memory) {
  index_t most = 0;
  const auto take = [&](rule_operands pair, const tensor_facts& y) {
    const index_t n = memory_wanted_for(pair, y, memory);
    most = n > most ? n : most;
  };
  for_each_product(x, dims_in<Out>, wanted, take, [&](rule_operands pair) {
    tensor_facts y = facts_of_result(pair[0], Out{});
    y.layout = goal_of_product<L>(pair, y).layout;
    take(pair, y);
  });
  return most;
}

}  // namespace dimesh::detail
