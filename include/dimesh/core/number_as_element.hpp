// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What if a number beside a tensor may become an element of the result, whose type the tensor sets?
// Whole elements must hold it: cut in silence, 300 would be 44 in one byte, and NaN anything.
//
//   as_element<std::uint8_t>("select", 44)       -> 44
//   as_element<std::uint8_t>("select", 300)      -> dimesh::error
//   as_least<std::uint8_t>("maximum", -1)        -> 0: the greater of both is the same
//   met_as<int>("operator+", 3000000000)         -> dimesh::error
//   met_as_divisor<int>("operator/", 0)          -> dimesh::error
#pragma once

#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "dimesh/detail/words.hpp"
#include "dimesh/element/element_traits.hpp"

namespace dimesh::detail {

template <class T, class N>
inline constexpr bool both_whole = std::is_integral_v<T> && std::is_integral_v<N>;

/// Is n less than all elements of type T, or greater? (Promoted: bool is not compared otherwise.)
template <class T, class N> constexpr bool is_below(N n) {
  return std::cmp_less(+n, +std::numeric_limits<T>::lowest());
}
template <class T, class N> constexpr bool is_beyond(N n) {
  return std::cmp_greater(+n, +std::numeric_limits<T>::max());
}

/// Is n one of the whole numbers of type T? What is cut to T is in its range: 2^63 is a double.
template <class T, class N> constexpr bool is_whole_element(N n) {
  if constexpr (std::is_integral_v<N>) {
    return !is_below<T>(n) && !is_beyond<T>(n);
  } else {
    constexpr N end = 2 * static_cast<N>(std::numeric_limits<T>::max() / 2 + 1);
    return n >= static_cast<N>(std::numeric_limits<T>::lowest()) && n < end &&
           static_cast<N>(static_cast<T>(n)) == n;
  }
}

/// n as an element. Throws dimesh::error where elements T are whole, and n is none of them.
template <class T, class N> constexpr T as_element(std::string_view call, N n) {
  if constexpr (!std::is_arithmetic_v<N>) {
    return as_element<T>(call, static_cast<double>(n));
  } else {
    if constexpr (std::is_integral_v<T>)
      if (!is_whole_element<T>(n))
        (words() << call << ": " << std::to_string(+n)
                 << " is no element: these are whole numbers from "
                 << std::to_string(+std::numeric_limits<T>::lowest()) << " to "
                 << std::to_string(+std::numeric_limits<T>::max()) << "; cast the tensor")
            .raise();
    if constexpr (is_complex<T>)
      return T(static_cast<typename T::value_type>(n));
    else
      return static_cast<T>(n);
  }
}
/// n in the type T in which it meets elements. Throws dimesh::error where C++ would take another
/// type for both, and n is none of T: the type of a result comes of the elements alone.
template <class T, class N> constexpr T met_as(std::string_view call, N n) {
  if constexpr (both_whole<T, N>)
    if constexpr (!std::is_same_v<std::common_type_t<T, N>, T>) return as_element<T>(call, n);
  return static_cast<T>(n);
}
/// The same of what whole elements are divided by. Throws dimesh::error where it is 0, too.
template <class T, class N> constexpr T met_as_divisor(std::string_view call, N n) {
  const T by = met_as<T>(call, n);
  if constexpr (std::is_integral_v<T>)
    if (by == T(0))
      (words() << call
               << ": the elements are whole numbers, which have no quotient by 0; cast the tensor "
                  "to double, or divide by another number")
          .raise();
  return by;
}
/// A lower bound, and an upper one: what is below all elements, or beyond, bounds none.
template <class T, class N> constexpr T as_least(std::string_view call, N n) {
  if constexpr (both_whole<T, N>)
    if (is_below<T>(n)) return std::numeric_limits<T>::lowest();
  return as_element<T>(call, n);
}
template <class T, class N> constexpr T as_most(std::string_view call, N n) {
  if constexpr (both_whole<T, N>)
    if (is_beyond<T>(n)) return std::numeric_limits<T>::max();
  return as_element<T>(call, n);
}

}  // namespace dimesh::detail
