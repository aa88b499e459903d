// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What if one of two operands is the same number everywhere? It meets a tensor in the type that the
// tensor's elements are computed in, as beside operators. A maximum or minimum of whole numbers is
// of the elements' type: a number that is one, and that they do not hold, is an error.
//
//   pow(x, 3)   pow(2, x)   maximum(x, 0)   minimum(0.5, x)
//     -> as of a tensor full of it, in one pass
#pragma once

#include "dimesh/op/functions.hpp"

namespace dimesh {

namespace detail {

/// f of an element and n.
template <class F, class T> struct beside_number_function {
  static constexpr std::string_view call = F::call;
  F f;
  T n;
  template <class A> KOKKOS_INLINE_FUNCTION auto operator()(const A& a) const { return f(a, n); }
};
struct power_of_function {
  static constexpr std::string_view call = "pow";
  template <class A, class T>
  KOKKOS_INLINE_FUNCTION auto operator()(const A& exponent, const T& base) const {
    return dimesh::pow(base, exponent);
  }
};
template <class F, class X, class T> constexpr auto map_beside(const F& f, const X& x, T n) {
  return map_as<join_kind::real>(beside_number_function<F, T>{f, n}, x);
}

}  // namespace detail

/// x to the n.
template <Operand X, detail::Number N> constexpr auto pow(const X& x, N n) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X>>,
                "pow: the operand is a sum yet to be made, or complex; complete it, or map a "
                "function of complex numbers");
  return detail::map_beside(detail::pow_function{}, x,
                            detail::met_as<detail::number_as<X, N>>("pow", n));
}
/// n to the x.
template <detail::Number N, Operand X> constexpr auto pow(N n, const X& x) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X>>,
                "pow: the operand is a sum yet to be made, or complex; complete it, or map a "
                "function of complex numbers");
  return detail::map_beside(detail::power_of_function{}, x,
                            detail::met_as<detail::number_as<X, N>>("pow", n));
}
/// The larger of each element and n; ties go to the element. Throws dimesh::error where elements
/// are whole and hold no number as large as a whole n.
template <Operand X, detail::Number N> constexpr auto maximum(const X& x, N n) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X>>,
                "maximum: the operand is a sum yet to be made, or complex; complete it, or take "
                "its real part");
  using T = detail::element_as<X, N>;
  return detail::map_beside(detail::maximum_function{}, x, detail::as_least<T>("maximum", n));
}
template <detail::Number N, Operand X> constexpr auto maximum(N n, const X& x) {
  return dimesh::maximum(x, n);
}
/// The smaller of each element and n; ties go to the element. Throws dimesh::error likewise, for
/// one as small.
template <Operand X, detail::Number N> constexpr auto minimum(const X& x, N n) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X>>,
                "minimum: the operand is a sum yet to be made, or complex; complete it, or take "
                "its real part");
  using T = detail::element_as<X, N>;
  return detail::map_beside(detail::minimum_function{}, x, detail::as_most<T>("minimum", n));
}
template <detail::Number N, Operand X> constexpr auto minimum(N n, const X& x) {
  return dimesh::minimum(x, n);
}

}  // namespace dimesh
