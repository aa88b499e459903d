// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are three operands and more multiplied, where they may have to move first? Pair by pair, in
// the order that product_order.hpp finds, each by::best; the last product under its layout.
//
//   contract_chain<by::best<>, list<m, o>>(a, b, c)     -> a . b, and c, by contract_call
#pragma once

#include "dimesh/op/parts/product_order.hpp"

namespace dimesh::detail {

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
  using rule = chain_rule<L, Out>;
  static constexpr index_t wanted() {
    if constexpr (Memory > 0 && !(is_probe<X> || ...) && ok<fault_of<rule, X...>>)
      return memory_wanted_by_chain<L, Out>({facts_list<spec_of<X>...>::at, sizeof...(X)},
                                            wanted_addends<by::best<L, Memory>, Out>::now(),
                                            Memory);
    else
      return 0;
  }
  using type = typename first_of<fault_of<rule, X...>, memory_fault<wanted(), Memory>>::type;
};

}  // namespace dimesh::detail
