// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does an operation reach its operands? By a function that is told the type of the result and
// leaves the rest to one function for all types: core/run_plain.hpp computes, or counts the cost on
// shapes; core/pullback.hpp records what does, for gradients. What an operation consists of is said
// in core/operation.hpp; where its rule gives the result's type, in apply_rule.hpp.
//
//   apply_as<spec_of<X>>(scale_op{2}, x)   -> a tensor like x; recorded if x is
#pragma once

#include <array>
#include <initializer_list>

#include "dimesh/core/pullback.hpp"
#include "dimesh/core/tracked.hpp"
#include "dimesh/memory/memory.hpp"
#include "dimesh/shaped.hpp"

namespace dimesh {

namespace detail {

// Calls that are to begin only (core/started.hpp).
template <class X> struct starting;
template <class X> inline constexpr bool is_starting = false;
template <class X> inline constexpr bool is_starting<starting<X>> = true;
template <class S, class Op, class X> constexpr auto start_as(const Op& op, const starting<X>& x);
template <class S, class Op, class X>
constexpr auto start_or_share(const Op& op, const starting<X>& x, bool nothing);
template <class Rule, class T, class Op, class X>
constexpr auto start_by_rule(const Op& op, const starting<X>& x);
template <class X> constexpr auto arrived(const starting<X>& x);
/// x, to which nothing is to be done.
template <class X> constexpr auto unchanged(const X& x) {
  if constexpr (is_starting<X>)
    return arrived(x);
  else
    return x;
}

/// The tensor type of a spec: with data or a shape, recorded on so many tapes.
template <class S, bool Shaped, int Depth> struct result_type {
  using type = tracked_tensor<typename result_type<S, Shaped, Depth - 1>::type>;
};
template <class S> struct result_type<S, false, 0> {
  using type = typename tensor_of_spec<S>::basic;
};
template <class S> struct result_type<S, true, 0> {
  using type = typename tensor_of_spec<S>::shaped;
};

/// The specs of an operation's results as a list.
template <class S> struct specs_of {
  using type = list<S>;
};
template <class... S> struct specs_of<list<S...>> {
  using type = list<S...>;
};

/// The operands that are recorded, as a mask, where the transpose asks.
constexpr unsigned recorded_mask(bool asks, std::initializer_list<bool> recorded) {
  unsigned mask = 0, k = 0;
  for (const bool r : recorded) mask |= static_cast<unsigned>(r) << k++;
  return asks ? mask : ~0u;
}

/// Complex operands of which some are recorded, where the transpose conjugates nothing.
template <class Op, class... X> struct complex_fault {
  static constexpr auto find() {
    using culprit = typename first_complex<value_of<X>...>::type;
    constexpr bool refused = (is_tracked<X> || ...) && !requires { requires Op::takes_complex; };
    if constexpr (refused && !std::is_void_v<culprit>)
      return tag<element_not_differentiable<culprit>>{};
    else
      return tag<no_fault>{};
  }
  using type = typename decltype(find())::type;
};
/// Nothing is instantiated where none is complex.
template <bool Complex> struct complex_fault_if {
  template <class Op, class... X> using type = no_fault;
};
template <> struct complex_fault_if<true> {
  template <class Op, class... X> using type = typename complex_fault<Op, X...>::type;
};

/// Runs an operation on tensors that know where they are recorded.
DIMESH_OUTLINE constexpr void run_recorded(const operation& op, results y,
                                           const tensor_core* const* x, int count,
                                           const storage* slots) {
  operand in[max_operands] = {};
  for (int k = 0; k < count; ++k) in[k] = {x[k], x[k]->record};
  evaluate(op, y, in, count, false, slots);
}

/// The first result of an operation, beside which it has results of other specs. A function of its
/// own: g++ 12 returns what is named in an inner scope by a copy.
template <class Y, class Made, class... More, class Op>
[[gnu::always_inline]] constexpr Y run_as(const tensor_facts* const* facts, const Op& op,
                                          const tensor_core** in, int count, const storage* slots,
                                          recorded_sum sum) {
  Y y;
  if constexpr (sizeof...(More) == 0) {
    Made::run(op, core_of(y), facts, in, count, slots, sum);
  } else {
    std::array<tensor_core, sizeof...(More)> more{tensor_core(&spec_facts<More>)...};
    tensor_core* all[1 + sizeof...(More)] = {&core_of(y)};
    for (std::size_t i = 0; i < sizeof...(More); ++i) all[1 + i] = &more[i];
    Made::run_all(op, results(all, 1 + sizeof...(More)), facts, in, count, slots, sum);
  }
  return y;
}

/// Runs an operation whose results have these specs. Facts: of each result, where not those
/// of its spec (of a probe); or null. Slots: memory for the results, or null.
template <class First, class... More, class Op, class... X>
[[gnu::always_inline]] constexpr auto apply_on_cores(list<First, More...> specs,
                                                     const tensor_facts* const* facts, const Op& op,
                                                     const storage* slots, const X&... x) {
  static_assert(sizeof...(X) <= max_operands, "dimesh: operations take fewer operands");
  constexpr bool recorded = has_transpose<Op> && has_gradient<typename First::value_type>;
  constexpr bool complex = recorded && (is_tracked<X> || ...) && (is_complex<value_of<X>> || ...);
  using fault = typename complex_fault_if<complex>::template type<Op, X...>;
  static_assert(ok<only<fault, element_not_differentiable>>,
                "gradient: this operation has none of complex elements; compose it of + - * /, "
                "einsum, sums, conj, real, imag and norm2, or use stop_gradient");
  if constexpr (!ok<fault>) {
    return poison{};
  } else if constexpr (!recorded && (is_tracked<X> || ...)) {
    static_assert(
        has_transpose<Op> || !requires { &Op::template transpose<int>; },
        "gradient: this operation has a transpose, but does not say what that reads; add "
        "static constexpr bool needs(int k, unsigned wanted)");
    return apply_on_cores(specs, facts, op, slots, untracked(x)...);
  } else {
    constexpr int depth = std::max({tracked_depth<X>...});
    using Y = typename result_type<First, (is_shaped<X> || ...), depth>::type;
    constexpr unsigned mask = recorded_mask(transposes_by_mask<Op>, {is_tracked<X>...});
    using made = bound<Op, depth, mask>;
    const tensor_core* in[] = {&core_of(x)...};
    recorded_sum sum = nullptr;
    if constexpr (depth > 1) sum = &sum_recorded<typename First::value_type, depth - 1>;
    return run_as<Y, made, More...>(facts, op, in, sizeof...(X), slots, sum);
  }
}

/// Runs an operation whose result has this spec (or whose results have these).
template <class S, class Op, class... X>
[[gnu::always_inline]] constexpr auto apply_as(const Op& op, const X&... x) {
  return apply_on_cores(typename specs_of<S>::type{}, nullptr, op, nullptr, x...);
}
/// The same of one plain operand, on its own memory where `nothing` is to be said to anybody.
template <class S, class Op, class X>
constexpr auto apply_or_share(const Op& op, const X& x, bool nothing) {
  if constexpr (is_starting<X>)
    return start_or_share<S>(op, x, nothing);
  else if constexpr (is_tracked<X> || is_shaped<X>)
    return apply_as<S>(op, x);
  else
    return apply_on_cores(list<S>{}, nullptr, op, nothing ? &core_of(x).memory : nullptr, x);
}

}  // namespace detail
}  // namespace dimesh
