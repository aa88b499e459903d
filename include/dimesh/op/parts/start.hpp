// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does an operation begin without ending? Its entry point is called with an operand that says
// so; rules, faults and texts are those of the blocking call, and what apply_rule or apply_or_share
// gives is a started move (core/started.hpp).
//
//   all_gather<cols>(to_start(x))   -> started<what all_gather<cols>(x) is>
#pragma once

#include "dimesh/core/started.hpp"
#include "dimesh/op/parts/transition.hpp"

namespace dimesh::detail {

/// An operand of a call that is to begin only.
template <class X> struct starting {
  using spec_type = typename X::spec_type;
  using value_type = typename X::value_type;
  using mesh_type = typename X::mesh_type;
  const X& of;
  constexpr operator const tensor_core&() const { return core_of(of); }  // NOLINT
  constexpr unsigned once() const { return of.once(); }
};
template <class X> inline constexpr bool is_probe<starting<X>> = is_probe<X>;

template <class X> constexpr auto arrived(const starting<X>& x) {
  return started<X>(tag<X>{}, X(x.of));
}

/// On shapes a move costs at its start what it costs, and is over.
template <class Apply> constexpr auto started_on_shape(tally* t, const Apply& apply) {
  event_sink* const sink = t != nullptr ? t->sink : nullptr;
  const in_part part(sink, event_part::start);
  auto y = apply();
  return started<decltype(y)>(tag<decltype(y)>{}, std::move(y));
}

/// Begins an operation whose result has this spec.
template <class S, class Op, class X> constexpr auto start_as(const Op& op, const starting<X>& s) {
  const auto whole = [&op, &s] { return apply_on_cores(list<S>{}, nullptr, op, nullptr, s.of); };
  using Y = decltype(whole());
  if constexpr (is_poison<Y>)
    return poison{};
  else if constexpr (is_shaped<X>)
    return started_on_shape(core_of(s.of).count, whole);
  else if (core_of(s.of).is_shape)  // of this type, while costs are counted
    return started_on_shape(core_of(s.of).count, whole);
  else if constexpr (!can_start<Op>)
    return started<Y>(tag<Y>{}, whole());
  else
    return started<Y>(op, core_of(s.of));
}
/// The same by a rule.
template <class Rule, class T, class Op, class X>
constexpr auto start_by_rule(const Op& op, const starting<X>& s) {
  const auto whole = [&op, &s] { return apply_rule<Rule, T>(op, s.of); };
  using Y = decltype(whole());
  if constexpr (is_probe<X> && is_shaped<X>)
    return started_on_shape(core_of(s.of).count, whole);
  else if constexpr (is_probe<X> && !can_start<Op>)
    return started<Y>(tag<Y>{}, whole());
  else if constexpr (is_probe<X>)
    return core_of(s.of).is_shape
               ? started_on_shape(core_of(s.of).count, whole)
               : started<Y>(op, core_of(s.of), &result_facts<Rule, T>(call_by(op), s.of));
  else
    return start_as<spec_by_rule<Rule, T, X>>(op, s);
}
/// The same where there may be nobody to talk to.
template <class S, class Op, class X>
constexpr auto start_or_share(const Op& op, const starting<X>& s, bool nothing) {
  if constexpr (!is_shaped<X>) {
    using Y = decltype(apply_or_share<S>(op, s.of, true));
    if (nothing) return started<Y>(tag<Y>{}, apply_or_share<S>(op, s.of, true));
  }
  return start_as<S>(op, s);
}

/// What an operand is to a call that begins only; what is no tensor stays what it is.
template <class X> constexpr decltype(auto) to_start(const X& x) {
  if constexpr (Tensor<X>)
    return starting<X>{x};
  else
    return (x);
}

}  // namespace dimesh::detail
