// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do - * / do with one element of each operand, and what are their derivatives where these are
// constants?
//
//   multiply_function{}(a, b)   scale_function<float>{2}(a)   .weight(0): by operand 0
#pragma once

#include <string_view>

#include "dimesh/op/map.hpp"

namespace dimesh::detail {

struct subtract_function {
  static constexpr std::string_view call = "operator-";
  template <class A, class B> KOKKOS_INLINE_FUNCTION auto operator()(const A& a, const B& b) const {
    return a - b;
  }
  static constexpr double weight(int k) { return k == 0 ? 1 : -1; }
  static constexpr bool passes(int k) { return k == 0; }
};
struct multiply_function {
  static constexpr std::string_view call = "operator*";
  template <class A, class B> KOKKOS_INLINE_FUNCTION auto operator()(const A& a, const B& b) const {
    return a * b;
  }
  /// Of complex numbers: the cotangent of operand K.
  template <int K> struct pulled {
    template <class T>
    KOKKOS_INLINE_FUNCTION T operator()(const T& g, const T& a, const T& b) const {
      return g * conjugate(K == 0 ? b : a);
    }
  };
};
struct divide_function {
  static constexpr std::string_view call = "operator/";
  template <class A, class B> KOKKOS_INLINE_FUNCTION auto operator()(const A& a, const B& b) const {
    return quotient(a, b);
  }
  template <int K> struct pulled {
    template <class T>
    KOKKOS_INLINE_FUNCTION T operator()(const T& g, const T& a, const T& b) const {
      return g * conjugate(K == 0 ? T(1) / b : -a / (b * b));
    }
  };
};
struct negate_function {
  static constexpr std::string_view call = "operator-";
  template <class A> KOKKOS_INLINE_FUNCTION auto operator()(const A& a) const { return -a; }
  static constexpr double weight(int) { return -1; }
  static constexpr bool passes(int) { return false; }
};
template <class T> struct scale_function {
  static constexpr std::string_view call = "operator*";
  T by;
  template <class A> KOKKOS_INLINE_FUNCTION auto operator()(const A& a) const { return a * by; }
  constexpr T weight(int) const { return by; }
  static constexpr bool passes(int) { return false; }
};
template <class T> struct unscale_function {
  static constexpr std::string_view call = "operator/";
  T by;
  template <class A> KOKKOS_INLINE_FUNCTION auto operator()(const A& a) const {
    return quotient(a, by);
  }
  constexpr T weight(int) const { return T(1) / by; }
  static constexpr bool passes(int) { return false; }
};
template <class T> struct offset_function {
  static constexpr std::string_view call = "operator+";
  T by;
  template <class A> KOKKOS_INLINE_FUNCTION auto operator()(const A& a) const { return a + by; }
  static constexpr double weight(int) { return 1; }
  static constexpr bool passes(int) { return true; }
};
/// The same with a number taken off, of whole ones: the lowest of them has no opposite to add.
template <class T> struct take_off_function {
  static constexpr std::string_view call = "operator-";
  T by;
  template <class A> KOKKOS_INLINE_FUNCTION auto operator()(const A& a) const { return a - by; }
};
template <class T> struct subtract_from_function {
  static constexpr std::string_view call = "operator-";
  T from;
  template <class A> KOKKOS_INLINE_FUNCTION auto operator()(const A& a) const { return from - a; }
  static constexpr double weight(int) { return -1; }
  static constexpr bool passes(int) { return false; }
};
template <class T> struct divide_into_function {
  static constexpr std::string_view call = "operator/";
  T by;
  template <class A> KOKKOS_INLINE_FUNCTION auto operator()(const A& a) const {
    return quotient(by, a);
  }
};

template <class A, class B>
inline constexpr int computes<add_elements, A, B> = requires(A a, B b) { a + b; };
template <class A, class B>
inline constexpr int computes<subtract_function, A, B> = requires(A a, B b) { a - b; };
template <class A, class B>
inline constexpr int computes<multiply_function, A, B> = requires(A a, B b) { a* b; };
template <class A, class B>
inline constexpr int computes<divide_function, A, B> = requires(A a, B b) { a / b; };
template <class A> inline constexpr int computes<negate_function, A> = requires(A a) { -a; };
template <class T, class A>
inline constexpr int computes<scale_function<T>, A> = requires(A a, T n) { a* n; };
template <class T, class A>
inline constexpr int computes<unscale_function<T>, A> = requires(A a, T n) { a / n; };
template <class T, class A>
inline constexpr int computes<offset_function<T>, A> = requires(A a, T n) { a + n; };
template <class T, class A>
inline constexpr int computes<subtract_from_function<T>, A> = requires(A a, T n) { n - a; };
template <class T, class A>
inline constexpr int computes<divide_into_function<T>, A> = requires(A a, T n) { n / a; };

}  // namespace dimesh::detail
