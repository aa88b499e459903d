// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In which order are three operands and more multiplied, where they may have to move first? Pair by
// pair, the one first that costs a rank the least, arithmetic and received bytes together; of three
// operands what is left counts, too. Found while compiling, from what types say.
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

/// The product of x[i] and x[j] as a tensor: the dims of `out` and of other operands, split as by
/// by::best<>.
constexpr facts_of_own_dims facts_of_pair(rule_operands x, dim_list out, int i, int j) {
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
  return y;
}
/// What the product of a and b costs a rank, whose result is y.
constexpr double cost_of_product(const tensor_facts& a, const tensor_facts& b,
                                 const tensor_facts& y) {
  const tensor_facts* const at[] = {&a, &b};
  const measure by;
  const contract_meeting m = cheapest_meeting({at, 2}, y.dims(), {by, &y.layout, &y, 0});
  const dim_union all({at, 2});
  double work = 1;
  for (int d = 0; d < all.size; ++d) work *= by.extent_of(all.at[d]);
  for (int i = 0; i < a.layout.axes; ++i)
    if (m.whole[0].axis[i].what == use::split || m.whole[1].axis[i].what == use::split)
      work /= by.size_of(a, i);
  return work + operations_a_byte * m.bytes;
}
/// The pair that is multiplied first.
constexpr product_step cheapest_step(rule_operands x, dim_list out) {
  product_step best;
  for (int i = 0; i < x.count; ++i)
    for (int j = i + 1; j < x.count; ++j) {
      const facts_of_own_dims y = facts_of_pair(x, out, i, j);
      double cost = cost_of_product(x[i], x[j], y);
      if (x.count == 3) {
        const tensor_facts* const rest[] = {&y, &x[3 - i - j]};
        const facts_of_own_dims all = facts_of_pair({rest, 2}, out, 0, 1);
        cost += cost_of_product(y, *rest[1], all);
      }
      if (best.cost < 0 || cost < best.cost) best = {i, j, cost};
    }
  return best;
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
      if (const int a = x[k].layout.first_partial(); a >= 0)
        return blamed_axis(fault_code::partial_operand, a);
      whole[k] = x[k], at[k] = &whole[k];
      whole[k].layout = tidied(x[k], without_axes(x[k].layout, x[k].layout.mask(use::split)));
    }
    if (const outcome o = einsum_rule_of({at, x.count}, out); !o.ok()) return o;
    if (const outcome o = no_halos(x); !o.ok()) return o;
    return goal_of_product<L>(x, facts_of_result(x[0], Out{}));
  }
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
  const product_step step = sketched ? Compiled : cheapest_step({at, sizeof...(X)}, dims_in<Out>);
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
    constexpr product_step step =
        cheapest_step({facts_list<spec_of<X>...>::at, sizeof...(X)}, dims_in<Out>);
    if constexpr ((is_probe<X> || ...))
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
template <class Schedule, class Out, std::size_t I, std::size_t J, std::size_t... Rest, class... X>
constexpr auto contract_pair(std::index_sequence<Rest...>, const X&... x) {
  constexpr auto other = [](std::size_t k) { return k < I ? k : k + 1 < J ? k + 1 : k + 2; };
  const auto all = std::tie(x...);
  using inner = typename pair_dims<Out, I, J, typename spec_of<X>::dims...>::type;
  using between = by::best<void, most_memory(tag<Schedule>{})>;
  const auto product = contract_call<between, inner>::run(std::get<I>(all), std::get<J>(all));
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
