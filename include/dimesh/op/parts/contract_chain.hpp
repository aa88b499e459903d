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

/// An axis along which the goal holds addends, and the last product of all has none; -1 if there is
/// none.
constexpr int axis_without_addends_at_last(const table& goal, rule_operands x,
                                           const tensor_facts& last) {
  const dim_list out = last.dims();
  facts_of_own_dims all[max_operands];
  const tensor_facts* at[max_operands];
  int count = x.count;
  for (int k = 0; k < count; ++k) all[k] = x[k], at[k] = &all[k];
  for (; count > 2; --count) {
    const rule_operands now{at, count};
    const product_step step = cheapest_step(now, out, goal.mask(use::partial));
    const facts_of_own_dims y =
        facts_of_pair(now, out, step.first, step.second, goal.mask(use::partial));
    facts_of_own_dims left[max_operands];
    int n = 0;
    left[n++] = y;
    for (int k = 0; k < count; ++k)
      if (k != step.first && k != step.second) left[n++] = all[k];
    for (int k = 0; k < n; ++k) all[k] = left[k];
  }
  return axis_without_addends(goal, {at, 2}, last);
}

/// What is wrong with operands, whatever their splits.
template <class L, class Out> struct chain_rule {
  using named = Out;
  using axes = list<>;
  template <class...> struct dims {
    using type = Out;
  };
  static constexpr outcome of(rule_operands x, dim_list out) {
    if (foreign_operand(x) >= 0) return einsum_rule_of(x, out);
    tensor_facts whole[max_operands];
    const tensor_facts* at[max_operands];
    for (int k = 0; k < x.count; ++k) {
      if (const int a = x[k].layout.first_partial(!is_summable(x[k].kind)); a >= 0)
        return blamed_axis(fault_code::partial_operand, a);
      whole[k] = x[k], at[k] = &whole[k];
      whole[k].layout = tidied(x[k], without_axes(x[k].layout, may_give_up(x[k], true)));
    }
    if (const outcome o = einsum_rule_of({at, x.count}, out); !o.ok()) return o;
    if (const outcome o = no_halos(x); !o.ok()) return o;
    const tensor_facts y = facts_of_result(x[0], Out{});
    const outcome o = goal_of_product<L>(x, y);
    if (!o.ok() || o.layout.mask(use::partial) == 0) return o;
    const int a = axis_without_addends_at_last(o.layout, x, y);
    return a < 0 ? o : blamed_axis(fault_code::axis_not_partial, a);
  }
};

/// The axes along which the last result is to be addends.
template <class Schedule, class Out> struct wanted_addends {
  static constexpr unsigned now() { return 0; }
};
template <class L, index_t Memory, class Out>
  requires(!std::is_void_v<L>)
struct wanted_addends<by::best<L, Memory>, Out> {
  static constexpr unsigned now() { return target<L>::of(dims_in<Out>).layout.mask(use::partial); }
};

template <class Schedule, class Out, std::size_t I, std::size_t J, std::size_t... Rest, class... X>
constexpr auto contract_pair(std::index_sequence<Rest...>, const X&... x);
template <class Schedule, class Out, class... X> constexpr auto contract_chain(const X&... x);
/// So many probes are multiplied in any order that the run finds, each of which is compiled.
inline constexpr std::size_t most_ordered_probes = 4;

/// Pair P of them first, or one behind it.
template <class Schedule, class Out, std::size_t P, class... X>
constexpr auto contract_probes(const product_step& step, const X&... x) {
  constexpr std::size_t n = sizeof...(X), i = P / n, j = P % n;
  if constexpr (i >= j) {
    return contract_probes<Schedule, Out, P + 1>(step, x...);
  } else {
    if constexpr (i + 2 < n)
      if (step.first != static_cast<int>(i) || step.second != static_cast<int>(j))
        return contract_probes<Schedule, Out, P + 1>(step, x...);
    return contract_pair<Schedule, Out, i, j>(std::make_index_sequence<n - 2>{}, x...);
  }
}
/// Which pair is the first depends on layouts, which of probes the run knows.
template <class Schedule, class Out, product_step Compiled, class... X>
constexpr auto contract_probe_chain(const X&... x) {
  const tensor_facts* const at[] = {core_of(x).facts...};
  const bool sketched = sketch_among(at, sizeof...(X)) != nullptr;
  const unsigned wanted = wanted_addends<Schedule, Out>::now();
  const product_step step =
      sketched ? Compiled : cheapest_step({at, sizeof...(X)}, dims_in<Out>, wanted);
  if constexpr (sizeof...(X) <= most_ordered_probes) {
    return contract_probes<Schedule, Out, 0>(step, x...);
  } else {
    if (step.first != Compiled.first || step.second != Compiled.second)
      (words() << "contract: an operand is a probe, and which pair of more than "
               << most_ordered_probes
               << " operands is multiplied first follows from a layout that no type says; multiply "
                  "some of them by a contract of their own")
          .raise();
    return contract_pair<Schedule, Out, static_cast<std::size_t>(Compiled.first),
                         static_cast<std::size_t>(Compiled.second)>(
        std::make_index_sequence<sizeof...(X) - 2>{}, x...);
  }
}
template <class Schedule, class Out, class... X> constexpr auto contract_chain(const X&... x) {
  if constexpr ((is_poison<X> || ...)) {
    return poison{};
  } else if constexpr (sizeof...(X) == 2) {
    return contract_call<Schedule, Out>::run(x...);
  } else {
    constexpr bool probes = (is_probe<X> || ...);
    constexpr unsigned wanted = wanted_addends<Schedule, Out>::now();
    constexpr product_step step =
        cheapest_step({facts_list<spec_of<X>...>::at, sizeof...(X)}, dims_in<Out>, wanted);
    if constexpr (probes)
      return contract_probe_chain<Schedule, Out, step>(x...);
    else
      return contract_pair<Schedule, Out, static_cast<std::size_t>(step.first),
                           static_cast<std::size_t>(step.second)>(
          std::make_index_sequence<sizeof...(X) - 2>{}, x...);
  }
}
template <class L, index_t Memory> constexpr index_t most_memory(tag<by::best<L, Memory>>) {
  return Memory;
}
/// The layout of a product that keeps addends along some axes.
template <class Inner, unsigned Stay, class A, class B> struct pair_goal {
  static constexpr rule_operands operands{facts_list<A, B>::at, 2};
  static constexpr table result = with_addends(
      goal_of_product<void>(operands, facts_of_result(operands[0], Inner{})).layout, Stay);
};
/// The product of a and b, operands I and J among x, with the dims Inner.
template <class Schedule, class Out, class Inner, std::size_t I, std::size_t J, class A, class B,
          class... X>
constexpr auto product_of_pair(const A& a, const B& b, const X&... x) {
  constexpr index_t memory = most_memory(tag<Schedule>{});
  constexpr auto stay_of = [](rule_operands all, unsigned wanted) {
    facts_of_own_dims y =
        facts_of_pair(all, dims_in<Out>, static_cast<int>(I), static_cast<int>(J), wanted);
    return y.layout.mask(use::partial);
  };
  if constexpr (is_probe<A> || is_probe<B>) {
    const tensor_facts* const at[] = {core_of(x).facts...};
    const unsigned stay = sketch_among(at, sizeof...(X)) != nullptr
                              ? 0
                              : stay_of({at, sizeof...(X)}, wanted_addends<Schedule, Out>::now());
    if (stay != 0) return contract_best_probes<void, memory, Inner>(a, b, stay);
    return contract_call<by::best<void, memory>, Inner>::run(a, b);
  } else {
    constexpr unsigned stay = stay_of({facts_list<spec_of<X>...>::at, sizeof...(X)},
                                      wanted_addends<Schedule, Out>::now());
    if constexpr (stay == 0) {
      return contract_call<by::best<void, memory>, Inner>::run(a, b);
    } else {
      using L = layout_type<typename spec_of<A>::mesh, Inner,
                            pair_goal<Inner, stay, spec_of<A>, spec_of<B>>>;
      return contract_call<by::best<L, memory>, Inner>::run(a, b);
    }
  }
}
template <class Schedule, class Out, std::size_t I, std::size_t J, std::size_t... Rest, class... X>
constexpr auto contract_pair(std::index_sequence<Rest...>, const X&... x) {
  constexpr auto other = [](std::size_t k) { return k < I ? k : k + 1 < J ? k + 1 : k + 2; };
  const auto all = std::tie(x...);
  using inner = typename pair_dims<Out, I, J, typename spec_of<X>::dims...>::type;
  const auto product =
      product_of_pair<Schedule, Out, inner, I, J>(std::get<I>(all), std::get<J>(all), x...);
  return contract_chain<Schedule, Out>(product, std::get<other(Rest)>(all)...);
}

template <bool Few, class Schedule, class Out, class... X> struct chain_fault {
  using type = not_a_schedule<Schedule>;
};
template <class Schedule, class Out, class... X> struct chain_fault<false, Schedule, Out, X...> {
  using type = no_fault;
};
template <class L, index_t Memory, class Out, class... X>
  requires(!std::is_void_v<L> && !Layout<L>)
struct chain_fault<true, by::best<L, Memory>, Out, X...> {
  using type = not_a_layout<L>;
};
template <class L, index_t Memory, class Out, class... X>
  requires(std::is_void_v<L> || Layout<L>)
struct chain_fault<true, by::best<L, Memory>, Out, X...> {
  using type = fault_of<chain_rule<L, Out>, X...>;
};

}  // namespace dimesh::detail
