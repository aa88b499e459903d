// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What may a user's function be that `map` applies, and elements of which type does it give? It is
// asked with the numbers that it will get: plain ones, and dual numbers where gradients are wanted.
//
//   map_value<void, F, float>::type           -> float
//   map_function_fault<F, X, Y>::type         -> function_not_callable_with<float, float>
#pragma once

#include "dimesh/core/tracked.hpp"
#include "dimesh/core/user_function.hpp"
#include "dimesh/local/dual_in_std.hpp"
#include "dimesh/local/pull_kernels.hpp"

namespace dimesh::detail {

/// The one type among V... that only stores; float where there are several.
template <class... V> struct stored_of {
  template <class T>
  static constexpr bool only = ((!is_storage_only<V> || std::is_same_v<V, T>) && ...);
  using type =
      std::conditional_t<only<bfloat16>, bfloat16, std::conditional_t<only<half>, half, float>>;
};

/// As what results are kept that a function of elements V... gives as G: bfloat16 (or half) where G
/// is float and no more precise real number went in; else G.
template <class G, class... V> struct kept_impl {
  static constexpr bool stored = std::is_same_v<G, float> && (is_storage_only<V> || ...) &&
                                 !(std::is_floating_point_v<V> || ...);
  using type = std::conditional_t<stored, typename stored_of<V...>::type, G>;
};
template <class G, class... V> using kept_as = typename kept_impl<G, V...>::type;

/// The element type of results of f on elements V...: As, where one is asked for; or as kept.
template <class As, class F, class... V> struct map_value {
  using natural = kept_as<std::decay_t<std::invoke_result_t<const F&, computed<V>...>>, V...>;
  using type = std::conditional_t<std::is_void_v<As>, natural, As>;
};
/// The same where f gives R.
template <class As, class R, class... V> struct value_kept {
  using type = std::conditional_t<std::is_void_v<As>, kept_as<std::decay_t<R>, V...>, As>;
};

/// Have elements V... what F does to them? Types of a user's own may lack it, and kernels would say
/// so far from the call; of numbers nothing is asked. (Specialized beside operators.)
inline constexpr int nobody_knows = 2;
template <class F, class... V> inline constexpr int computes = nobody_knows;
template <bool Known, bool Real, class F, class... V> inline constexpr bool has_operator = true;
template <bool Real, class F, class... V>
inline constexpr bool has_operator<false, Real, F, V...> =
    Real ? computes<F, V...> == true : computes<F, V...> != false;
template <class... V> inline constexpr bool are_known = (element_traits<V>::is_known && ...);
/// Real: functions of real numbers, of which there are none but those that are known.
template <bool Real, class F, class... V>
using operator_fault_of = std::conditional_t<has_operator<are_known<V...>, Real, F, V...>, no_fault,
                                             function_not_callable_with<V...>>;
/// Beside elements that no number becomes.
struct no_such_number {
  constexpr no_such_number() = default;
  template <class N> constexpr explicit no_such_number(const N&) {}
};

template <class... X> struct recorded_elements {
  static constexpr unsigned mask = [] {
    unsigned bits = 0, k = 0;
    ((bits |= (is_tracked<X> ? 1u : 0u) << k++), ...);
    return bits;
  }();
  using reals = local::detail::real_inputs<mask, value_of<X>...>;
  using type = dual<typename reals::value, reals::count>;
};
/// What the function is given for an element of X in the backward pass.
template <class X, class... All> struct element_given_impl {
  using type = computed<value_of<X>>;
};
template <class X, class... All>
  requires(is_tracked<X> && is_real<value_of<X>>)
struct element_given_impl<X, All...> : recorded_elements<All...> {};
template <class X, class... All> using element_given = typename element_given_impl<X, All...>::type;

/// What is wrong with a function of the elements of X... that gives R of plain ones, and D of those
/// of the backward pass.
template <class R, class D, class F, class... X>
struct map_function_fault : result_fault<std::decay_t<R>> {};
template <class R, class F, class... X> struct map_function_fault<R, not_called, F, X...> {
  using type = function_takes_plain_only<F>;
};
template <class D, class F, class... X>
struct map_function_fault<not_called, D, F, X...> : no_call<F, computed<value_of<X>>...> {};
template <class F, class... X>
struct map_function_fault<not_called, not_called, F, X...> : no_call<F, computed<value_of<X>>...> {
};

}  // namespace dimesh::detail
