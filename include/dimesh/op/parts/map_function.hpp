// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What may a user's function be that `map` applies, and elements of which type does it give? It is
// asked with the numbers that it will get: plain ones, and dual numbers where gradients are wanted.
//
//   map_value<void, F, float>::type           -> float
//   map_function_fault<F, X, Y>::type         -> function_not_callable_with<float, float>
#pragma once

#include "dimesh/core/tracked.hpp"
#include "dimesh/core/user_function.hpp"
#include "dimesh/local/dual.hpp"
#include "dimesh/local/pull_kernels.hpp"

namespace dimesh::detail {

/// The one type among V... that only stores; float where there are several.
template <class... V> struct stored_of {
  template <class T>
  static constexpr bool only = ((!is_storage_only<V> || std::is_same_v<V, T>) && ...);
  using type =
      std::conditional_t<only<bfloat16>, bfloat16, std::conditional_t<only<half>, half, float>>;
};

/// The element type of f's results on elements V...: As, where one is asked for; bfloat16 (or half)
/// where f gives float and no more precise real number went in; else what f gives.
template <class As, class F, class... V> struct map_value {
  using given = std::decay_t<std::invoke_result_t<const F&, computed<V>...>>;
  static constexpr bool stored = std::is_same_v<given, float> && (is_storage_only<V> || ...) &&
                                 !(std::is_floating_point_v<V> || ...);
  using natural = std::conditional_t<stored, typename stored_of<V...>::type, given>;
  using type = std::conditional_t<std::is_void_v<As>, natural, As>;
};

/// What the function is given for an element of X in the backward pass.
template <class Dual, class X>
using dual_given =
    std::conditional_t<is_tracked<X> && is_real<value_of<X>>, Dual, computed<value_of<X>>>;

template <bool Recorded> struct recorded_map_fault {
  template <class F, class... X> using type = no_fault;
};
template <> struct recorded_map_fault<true> {
  template <class... X> static constexpr unsigned mask() {
    unsigned bits = 0, k = 0;
    ((bits |= (is_tracked<X> ? 1u : 0u) << k++), ...);
    return bits;
  }
  template <class... X>
  using reals = local::detail::real_inputs<mask<X...>(), value_of<X>...>;
  template <class... X>
  using given = dual<typename reals<X...>::value, reals<X...>::count>;
  template <class F, class... X>
  using type =
      std::conditional_t<calls<const F&, dual_given<given<X...>, X>...>, no_fault,
                         function_takes_plain_only<F>>;
};

/// What is wrong with a function of the elements of X...
template <class F, class... X> struct map_function_fault {
  static constexpr auto find() {
    if constexpr ((is_poison<X> || ...))
      return tag<no_fault>{};
    else if constexpr (!ok<number_fault<F, computed<value_of<X>>...>>)
      return tag<number_fault<F, computed<value_of<X>>...>>{};
    else
      return tag<typename recorded_map_fault<((is_tracked<X> && is_real<value_of<X>>) ||
                                             ...)>::template type<F, X...>>{};
  }
  using type = typename decltype(find())::type;
};

}  // namespace dimesh::detail
