// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does an operation run whose result has the layout that a rule says? Where all layouts are
// types, the caller has asserted that the rule finds no fault, and the result's type follows from
// it. Where an operand is a probe, the same rule is asked when the program runs.
//
//   using fault = fault_of<sum_rule, X>;        // an entry point asserts it; of probes: no_fault
//   apply_rule<sum_rule, float>(sum_op{}, x)         // -> a tensor, or throws dimesh::error
//   check<join_rule>("layer_norm", x, gain)          // asks a rule about probes, and nothing else
#pragma once

#include "dimesh/core/rule.hpp"
#include "dimesh/core/runtime_facts.hpp"
#include "dimesh/op/parts/apply.hpp"

namespace dimesh::detail {

/// What is wrong with operands under a rule, as a type; of probes, only the run knows.
template <class Rule, class... X>
using fault_of =
    typename operand_fault<(is_poison<X> || ...) || (is_probe<X> || ...), Rule, X...>::type;

/// The names of the axes that a caller of Rule names.
template <class Rule> constexpr std::string_view named_axis(int k) {
  if constexpr (requires { typename Rule::axes; })
    return k < 0 ? std::string_view() : names<typename Rule::axes>::at[k];
  else
    return {};
}
/// The rule's answer for tensors of which some are probes. Throws dimesh::error where it is a
/// fault.
template <class Rule, class... X> outcome ruled(std::string_view call, const X&... x) {
  using dims = typename Rule::template dims<typename spec_of<X>::dims...>::type;
  const tensor_facts* const facts[] = {core_of(x).facts...};
  const outcome o = Rule::of({facts, sizeof...(X)}, dims_in<dims>);
  if (!o.ok())
    refuse_layout(call, o, o.axis < 0 ? named_axis<Rule>(o.place) : facts[0]->axes[o.axis]);
  return o;
}
/// Asks a rule about operands that no assertion has asked about: probes.
template <class Rule, class... X>
constexpr void check([[maybe_unused]] std::string_view call, [[maybe_unused]] const X&... x) {
  if constexpr ((is_probe<X> || ...) && !(is_poison<X> || ...)) (void)ruled<Rule>(call, x...);
}

template <class Rule, class T, bool Probed, class... X> struct ruled_spec {
  using type = result_spec<Rule, T, spec_of<X>...>;
};
template <class T, class M, class Dims>
using probe_spec = typename spec_of_list<T, Dims, layout<M, at_run_time>>::type;
template <class Rule, class T, class... X> struct ruled_spec<Rule, T, true, X...> {
  using type = probe_spec<T, typename type_at<0, list<spec_of<X>...>>::mesh,
                          typename Rule::template dims<typename spec_of<X>::dims...>::type>;
};
/// The spec of the result, elements T, of operands X... that a rule allows.
template <class Rule, class T, class... X>
using spec_by_rule = typename ruled_spec<Rule, T, (is_probe<X> || ...), X...>::type;

/// The facts of that result.
template <class Rule, class T, class... X>
constexpr const tensor_facts& result_facts(const X&... x) {
  using S = spec_by_rule<Rule, T, X...>;
  if constexpr ((is_probe<X> || ...))
    return facts_under(spec_facts<S>, ruled<Rule>("", x...).layout);
  else
    return spec_facts<S>;
}

/// Runs an operation on operands of which some are probes. Facts: of the results.
template <class First, class... More, class Op, class... X>
constexpr auto apply_probed_on(list<First, More...>, const tensor_facts* const* facts, const Op& op,
                               const X&... x) {
  static_assert(sizeof...(X) <= max_operands, "apply: too many operands; at most 16 are supported");
  constexpr int depth = std::max({tracked_depth<X>...});
  bound<Op, depth, recorded_mask<Op, X...>()> it(op);
  if constexpr (depth > 1) it.sum = &sum_recorded<typename First::value_type, depth - 1>;
  typename result_type<First, true, depth>::type y;
  bundle<further_result<More>...> more;
  operand in[] = {{&core_of(x), core_of(x).record}...};
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    tensor_core* const all[] = {&core_of(y), &item<I>(more).core...};
    for (std::size_t i = 0; i <= sizeof...(I); ++i) all[i]->facts = facts[i];
    evaluate(it, results(all, 1 + sizeof...(More)), in, sizeof...(X));
  }(std::index_sequence_for<More...>{});
  return y;
}
template <class... S, class Op, class... X>
constexpr auto apply_probed(list<S...> specs, const tensor_facts* const* facts, const Op& op,
                            const X&... x) {
  if constexpr (has_transpose<Op> && is_real<typename type_at<0, list<S...>>::value_type>)
    return apply_probed_on(specs, facts, op, x...);
  else
    return apply_probed_on(specs, facts, op, untracked(x)...);
}

/// Several results: their rules, and the types of their elements.
template <class Rule, class T> struct by_rule {};

template <class... Rule, class... T, class Op, class... X>
constexpr auto apply_by_rules(list<by_rule<Rule, T>...>, const Op& op, const X&... x) {
  using specs = list<spec_by_rule<Rule, T, X...>...>;
  if constexpr ((is_probe<X> || ...)) {
    const tensor_facts* const facts[] = {&facts_under(
        spec_facts<spec_by_rule<Rule, T, X...>>, ruled<Rule>(call_name<Op>(), x...).layout)...};
    return apply_probed(specs{}, facts, op, x...);
  } else {
    return apply_as<specs>(op, x...);
  }
}
/// Runs an operation on tensors whose result, elements T, has the layout that a rule says. The
/// caller has asserted that there is no fault; of probes it is asked here: throws dimesh::error.
template <class Rule, class T, class Op, class... X>
constexpr auto apply_rule(const Op& op, const X&... x) {
  return apply_by_rules(list<by_rule<Rule, T>>{}, op, x...);
}

}  // namespace dimesh::detail
