// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does an operation run whose result has the layout that a rule says? Where all layouts are
// types, the caller has asserted that the rule finds no fault, and the result's type follows from
// it. Where an operand is a probe, the same rule is asked when the program runs.
//
//   using fault = fault_of<sum_rule, X>;        // an entry point asserts it; of probes: no_fault
//   apply_rule<sum_rule, float>(sum_op{}, x)         // -> a tensor, or throws dimesh::error
//   check<join_rule>("layer_norm", x, gain)          // asks a rule about probes, and nothing else
#pragma once

#include "dimesh/core/rule_types.hpp"
#include "dimesh/core/runtime_facts.hpp"
#include "dimesh/core/sketch_rule.hpp"
#include "dimesh/op/parts/apply.hpp"

namespace dimesh::detail {

/// Is X poison? Started moves have their own, which refuses them (core/started.hpp): asked of a
/// function, compilers report one step less than of is_poison.
template <class X> constexpr bool meets_poison(tag<X>) { return is_poison<X>; }

/// What is wrong with operands under a rule, as a type; of probes, only the run knows. (Folds over
/// packs stay out of aliases: g++ 12 gets them wrong, 13 and 14 refuse them.)
template <class Rule, class... X> struct fault_under {
  using type =
      typename element_fault<complex_among<!(meets_poison(tag<X>{}) || ...) &&
                                           is_of_reals<Rule>>::template type<X...>::value>::
          template type<std::bool_constant<((is_poison<X> || is_probe<X>) || ...)>, Rule, X...>;
};
template <class Rule, class... X> using fault_of = typename fault_under<Rule, X...>::type;

/// The names of the axes that a caller of Rule names.
template <class Rule> constexpr std::string_view named_axis(int k) {
  if constexpr (requires { typename Rule::axes; })
    return k < 0 ? std::string_view() : names<typename Rule::axes>::at[k];
  else
    return {};
}
/// The rule's answer for tensors of which some are probes. Throws dimesh::error where it is a
/// fault. Of sketches it says what belongs together, and that nothing is split.
template <class Rule, class... X> constexpr outcome ruled(std::string_view call, const X&... x) {
  using dims = typename Rule::template dims<typename spec_of<X>::dims...>::type;
  const tensor_facts* const facts[] = {core_of(x).facts...};
  if constexpr (!requires { typename Rule::goal; })  // a relayout has been answered already
    if (sketch* const s = sketch_among(facts, sizeof...(X)); s != nullptr) {
      sketch_slot* slots[2 * max_dims] = {};
      join_operands(*s, links_by_rule<Rule, spec_of<X>...>::value, facts, sizeof...(X), slots);
      return links_by_rule<Rule, spec_of<X>...>::value.plain;
    }
  const outcome o = Rule::of({facts, sizeof...(X)}, dims_in<dims>);
  if (!o.ok())
    refuse_layout(call, o, o.axis < 0 ? named_axis<Rule>(o.place) : facts[0]->axis_name(o.axis));
  return o;
}
/// Asks a rule about operands that no assertion has asked about: probes.
template <class Rule, class... X>
constexpr void check([[maybe_unused]] std::string_view call, [[maybe_unused]] const X&... x) {
  if constexpr ((is_probe<X> || ...) && !(is_poison<X> || ...)) (void)ruled<Rule>(call, x...);
}

template <class T, class M, class Dims>
using probe_spec = typename spec_of_list<T, Dims, layout<M, at_run_time>>::type;
template <bool Probed> struct ruled_spec {
  template <class Rule, class T, class... S> using type = result_spec<Rule, T, S...>;
};
template <> struct ruled_spec<true> {
  template <class Rule, class T, class... S>
  using type = probe_spec<T, typename type_at<0, list<S...>>::mesh,
                          typename Rule::template dims<typename S::dims...>::type>;
};
/// The spec of the result, elements T, of operands X... that a rule allows.
template <class Rule, class T, class... X>
using spec_by_rule =
    typename ruled_spec<(is_probe<X> || ...)>::template type<Rule, T, spec_of<X>...>;

/// The facts of that result where an operand is a probe.
template <class Rule, class S, class... X>
constexpr const tensor_facts* facts_by_rule(std::string_view call, const X&... x) {
  const tensor_facts* const facts[] = {core_of(x).facts...};
  if (sketch* const s = sketch_among(facts, sizeof...(X)); s != nullptr)
    return &sketch_result(*s, links_by_rule<Rule, spec_of<X>...>::value, spec_facts<S>, facts,
                          sizeof...(X));
  return &facts_under(spec_facts<S>, ruled<Rule>(call, x...).layout);
}
/// The facts of the result, elements T, of operands that the rule allows.
template <class Rule, class T, class... X>
constexpr const tensor_facts& result_facts(std::string_view call, const X&... x) {
  using S = spec_by_rule<Rule, T, X...>;
  if constexpr ((is_probe<X> || ...))
    return *facts_by_rule<Rule, S>(call, x...);
  else
    return spec_facts<S>;
}
/// In the place of extents that only the run knows, while a program is sketched: 8!, so that it can
/// be cut and halved, and four of them fit in a number.
inline constexpr index_t assumed_extent = 40320;

/// Are some of the extents assumed?
template <class X> constexpr bool has_assumed_extents(const X& x) {
  if constexpr (is_probe<X>)
    return core_of(x).facts->sketched != nullptr && !core_of(x).facts->is_static;
  else
    return false;
}
/// The shape of a sketch with open extents.
constexpr void assume_extents(tensor_core& x) {
  index_t extents[max_dims] = {};
  for (int a = 0; a < x.facts->layout.axes; ++a)
    x.shape_sizes[static_cast<std::size_t>(a)] = std::max<index_t>(x.facts->axis_sizes()[a], 1);
  for (int d = 0; d < x.facts->rank; ++d)
    extents[d] = x.facts->dim[d]->extent == dynamic ? assumed_extent : x.facts->dim[d]->extent;
  x.is_shape = true;
  x.place(extents);
}
/// A sketch of spec S.
template <class S> constexpr auto sketch_of(const tensor_facts& known) {
  typename tensor_of_spec<S>::shaped y;
  core_of(y).facts = &known;
  if (!known.is_static) assume_extents(core_of(y));
  return y;
}
/// May a value of these types be a sketch? A shape on no tape.
template <class... X>
inline constexpr bool may_be_sketched = (is_shaped<X> || ...) && !(is_tracked<X> || ...);

/// Runs an operation on tensors whose result, elements T, has the layout that a rule says. The
/// caller has asserted that there is no fault; of probes it is asked here: throws dimesh::error.
/// Slot: memory for the result, or null.
template <class Rule, class T, class Op, class... X>
[[gnu::always_inline]] constexpr auto apply_rule_in(const Op& op, const storage* slot,
                                                    const X&... x) {
  using S = spec_by_rule<Rule, T, X...>;
  if constexpr ((is_starting<X> || ...)) {
    return start_by_rule<Rule, T>(op, x...);
  } else if constexpr ((is_probe<X> || ...)) {
    const tensor_facts* const facts[] = {facts_by_rule<Rule, S>(call_by(op), x...)};
    if constexpr (may_be_sketched<X...>)
      if (facts[0]->sketched != nullptr) return sketch_of<S>(*facts[0]);
    return apply_on_cores(list<S>{}, facts, op, slot, x...);
  } else {
    return apply_on_cores(list<S>{}, nullptr, op, slot, x...);
  }
}
template <class Rule, class T, class Op, class... X>
[[gnu::always_inline]] constexpr auto apply_rule(const Op& op, const X&... x) {
  return apply_rule_in<Rule, T>(op, nullptr, x...);
}

/// May a result be written over an operand that is given up? Not where somebody looks at operands
/// when the result is there.
constexpr bool is_free_to_write(const tensor_core& c) {
  return !c.is_shape && c.memory.alone() && !c.memory.lent_to_write() &&
         (watcher == nullptr || !watcher->sees_operands());
}

/// The same of an operand that nobody needs any more: where the result is of its type, it is
/// written where the operand lies if nobody else holds that memory. Tapes, shapes and probes: as
/// ever.
template <class Rule, class T, class Op, class X>
constexpr auto apply_rule_onto(const Op& op, X& gone) {
  using S = spec_by_rule<Rule, T, X>;
  constexpr bool plain = !is_tracked<X> && !is_shaped<X> && !is_probe<X> && !is_starting<X>;
  if constexpr (plain && std::is_same_v<S, spec_of<X>>) {
    tensor_core& c = core_of(gone);
    if (is_free_to_write(c)) {
      const tensor_core* in[] = {&c};
      constexpr unsigned mask = recorded_mask(transposes_by_mask<Op>, {false});
      bound<Op, 0, mask>::run(op, c, nullptr, in, 1, &c.memory, nullptr);
      return X(std::move(gone));
    }
  }
  return apply_rule<Rule, T>(op, gone);
}

/// The same with more results, auxiliaries of the first one's transpose.
template <class T, class Rule, class... More, class Op, class... X>
constexpr auto apply_rules(const Op& op, const X&... x) {
  using S = spec_by_rule<Rule, T, X...>;
  using all = list<S, spec_by_rule<More, T, X...>...>;
  if constexpr ((is_probe<X> || ...)) {
    const tensor_facts* const facts[] = {
        facts_by_rule<Rule, S>(call_by(op), x...),
        facts_by_rule<More, spec_by_rule<More, T, X...>>(call_by(op), x...)...};
    if constexpr (may_be_sketched<X...>)
      if (facts[0]->sketched != nullptr) return sketch_of<S>(*facts[0]);
    return apply_on_cores(all{}, facts, op, nullptr, x...);
  } else {
    return apply_on_cores(all{}, nullptr, op, nullptr, x...);
  }
}

}  // namespace dimesh::detail
