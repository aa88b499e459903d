// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does an operation reach its operands? Always through `apply`, which finds the type of the
// result by the operation's rule and leaves the rest to one function for all types
// (core/pullback.hpp): it runs plainly, is recorded for gradients, or its cost is counted, by what
// the operands are. What an operation consists of is said in core/operation.hpp.
//
//   apply(scale_op{2}, x)   -> a tensor of spec scale_op::result<spec_of<X>>; recorded if x is
#pragma once

#include "dimesh/core/rule.hpp"
#include "dimesh/core/runtime_facts.hpp"
#include "dimesh/op/parts/apply_typed.hpp"

namespace dimesh {

/// Runs an operation whose operands have passed its typing rule: plainly, recorded where an operand
/// is, or counted on shapes.
template <class Op, Tensor... X> constexpr auto apply(const Op& op, const X&... x) {
  using S = typename Op::template result<spec_of<X>...>;
  if constexpr (detail::on_cores<Op>) {
    using specs = typename detail::specs_of<S>::type;
    if constexpr (detail::has_transpose<Op> &&
                  is_real<typename detail::type_at<0, specs>::value_type>)
      return detail::apply_on_cores(specs{}, op, nullptr, nullptr, x...);
    else
      return detail::apply_on_cores(specs{}, op, nullptr, nullptr, detail::untracked(x)...);
  } else if constexpr ((detail::is_tracked<X> || ...)) {
    return detail::record(op, x...);
  } else if constexpr (requires { Op::auxiliary; }) {
    return detail::item<0>(apply_into(op, detail::no_slots(), x...));
  } else {
    return apply_into(op, detail::no_slots(), x...);
  }
}

namespace detail {

/// The same where the caller knows the result's spec (or list of specs).
template <class S, class Op, class... X> constexpr auto apply_as(const Op& op, const X&... x) {
  using specs = typename specs_of<S>::type;
  if constexpr (has_transpose<Op> && is_real<typename type_at<0, specs>::value_type>)
    return apply_on_cores(specs{}, op, nullptr, nullptr, x...);
  else
    return apply_on_cores(specs{}, op, nullptr, nullptr, untracked(x)...);
}
/// The same where the layouts of the results are values: operands are probes.
template <class... S, class Op, class... X>
constexpr auto apply_probed(list<S...> specs, const tensor_facts* const* facts, const Op& op,
                            const X&... x) {
  if constexpr (has_transpose<Op> && is_real<typename type_at<0, list<S...>>::value_type>)
    return apply_on_cores(specs, op, nullptr, facts, x...);
  else
    return apply_on_cores(specs, op, nullptr, facts, untracked(x)...);
}
/// The same of one plain operand, on its own memory where `nothing` is to be said to anybody.
template <class S, class Op, class X>
constexpr auto apply_or_share(const Op& op, const X& x, bool nothing) {
  if constexpr (is_tracked<X> || is_shaped<X>)
    return apply_as<S>(op, x);
  else
    return apply_on_cores(list<S>{}, op, nothing ? &core_of(x).memory : nullptr, nullptr, x);
}

// ---- under a rule -------------------------------------------------------------------------------

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

}  // namespace detail
}  // namespace dimesh
