// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does an operation reach its operands? Always through `apply`, which finds the type of the
// result by the operation's rule and leaves the rest to one function for all types
// (core/pullback.hpp): it runs plainly, is recorded for gradients, or its cost is counted, by what
// the operands are. What an operation consists of is said in core/operation.hpp.
//
//   apply(scale_op{2}, x)   -> a tensor of spec scale_op::result<spec_of<X>>; recorded if x is
#pragma once

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
      return detail::apply_on_cores(specs{}, op, nullptr, x...);
    else
      return detail::apply_on_cores(specs{}, op, nullptr, detail::untracked(x)...);
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
    return apply_on_cores(specs{}, op, nullptr, x...);
  else
    return apply_on_cores(specs{}, op, nullptr, untracked(x)...);
}
/// The same of one plain operand, on its own memory where `nothing` is to be said to anybody.
template <class S, class Op, class X>
constexpr auto apply_or_share(const Op& op, const X& x, bool nothing) {
  if constexpr (is_tracked<X> || is_shaped<X>)
    return apply_as<S>(op, x);
  else
    return apply_on_cores(list<S>{}, op, nothing ? &core_of(x).memory : nullptr, x);
}

}  // namespace detail
}  // namespace dimesh
