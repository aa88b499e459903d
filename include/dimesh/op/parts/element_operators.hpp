// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Can an operation do with elements of a user's type what it does? It works where the type has the
// operators, and is refused in one sentence where it lacks them.
//
//   lack_of<element_use::products, X>  -> no_fault, or element_not_summable<color>
#pragma once

#include "dimesh/op/parts/map_function.hpp"

namespace dimesh::detail {

/// What is done to elements: + from 0 on, * from 1 on, sums of products, the order of types that
/// are known, > and ==, and what needs numbers.
enum class element_use { sums, products, sums_of_products, known_order, order, numbers };

template <class T>
inline constexpr bool has_plus = requires(const T b) {
  T(0);
  T(b + b);
};
template <class T>
inline constexpr bool has_times = requires(const T b) {
  T(1);
  T(b * b);
};
template <class T>
inline constexpr bool has_order_by_greater = requires(const T b) {
  static_cast<bool>(b > b);
  static_cast<bool>(b == b);
  static_cast<bool>(b != b);
};
/// Of types that are not known.
template <element_use Use, class T> constexpr bool has_operators() {
  if constexpr (Use == element_use::sums)
    return has_plus<T>;
  else if constexpr (Use == element_use::products)
    return has_times<T>;
  else if constexpr (Use == element_use::sums_of_products)
    return has_plus<T> && has_times<T>;
  else
    return Use == element_use::order && has_order_by_greater<T>;
}

template <element_use Use, class... X> struct lack {
  using type = no_fault;
};
template <element_use Use, class X, class... More>
  requires(!is_poison<X> && !(is_poison<More> || ...))
struct lack<Use, X, More...> {
  using T = value_of<X>;
  static constexpr auto find() {
    if constexpr (are_known<T>)
      return tag<no_fault>{};
    else if constexpr (has_operators<Use, T>())
      return tag<no_fault>{};
    else
      return tag<element_not_summable<T>>{};
  }
  using type = typename decltype(find())::type;
};
/// What the elements of the first operand lack; nothing where one is poison.
template <element_use Use, class... X> using lack_of = typename lack<Use, X...>::type;

}  // namespace dimesh::detail
