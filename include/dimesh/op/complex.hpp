// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What can be done with complex elements beside sums and products? Elements are std::complex or
// Kokkos::complex of float or double. The gradient of a real loss with respect to z = x + iy is
// dL/dx + i dL/dy, the direction of steepest ascent, as in PyTorch: a step against it descends. So
// the transpose of a product by w is a product by conj(w), and that of einsum with A one with A^H.
//
//   conj(z), real(z), imag(z)   any layout, also addends: linear in both parts
//   norm2(z)                    |z|^2, real; no addends
//   as_complex(x), as_complex(x, y)   x + 0i, x + iy
#pragma once

#include "dimesh/op/arithmetic.hpp"
#include "dimesh/op/parts/complex_parts.hpp"

namespace dimesh {

namespace detail {
template <class X> constexpr bool complex_elements() {
  if constexpr (is_poison<X>)
    return true;
  else
    return is_complex<value_of<X>>;
}
template <class X> inline constexpr bool has_complex_elements = complex_elements<X>();

template <class S, class Op, class X> constexpr auto by_elements(const X& x) {
  if constexpr (is_poison<X>)
    return poison{};
  else
    return apply_rule<like_rule, S>(Op{}, x);
}
template <class X> struct elements_of_operand {
  using type = value_of<X>;
};
template <class X>
using complex_value = unless_poison<X, elements_of_operand<X>, complex_of<float>>;
}  // namespace detail

/// The complex conjugate, element by element. Shapes and layouts stay; addends stay addends. Local.
template <Operand X>
  requires detail::has_complex_elements<X>
constexpr auto conj(const X& z) {
  using T = detail::complex_value<X>;
  return detail::by_elements<T, detail::conj_op<T>>(z);
}
/// The real part, element by element. Shapes and layouts stay; addends stay addends. Local.
template <Operand X>
  requires detail::has_complex_elements<X>
constexpr auto real(const X& z) {
  using T = detail::complex_value<X>;
  return detail::by_elements<detail::part_of<T>, detail::part_op<T, detail::part::real>>(z);
}
/// The imaginary part, element by element. Shapes and layouts stay; addends stay addends. Local.
template <Operand X>
  requires detail::has_complex_elements<X>
constexpr auto imag(const X& z) {
  using T = detail::complex_value<X>;
  return detail::by_elements<detail::part_of<T>, detail::part_op<T, detail::part::imaginary>>(z);
}
/// |z|^2, element by element, as real numbers. Shapes and layouts stay. Local. The gradient passes
/// once: gradients of gradients are refused when the program runs.
template <Operand X>
  requires detail::has_complex_elements<X>
constexpr auto norm2(const X& z) {
  using fault = detail::map_fault<detail::join_kind::nonlinear, X>;
  static_assert(ok<only<fault, partial_operand>>,
                "norm2: the operand is a sum yet to be made; complete it first");
  using T = detail::complex_value<X>;
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else
    return detail::apply_rule<detail::elementwise_rule<detail::join_kind::nonlinear>,
                              detail::part_of<T>>(detail::norm2_op<T>{}, z);
}
/// x + 0i: elements complex_of those of x, which are float or double. Local.
template <Tensor X>
  requires std::is_floating_point_v<value_of<X>>
constexpr auto as_complex(const X& x) {
  using T = complex_of<value_of<X>>;
  return detail::by_elements<T, detail::embed_op<T, detail::part::real>>(x);
}
/// Poison stays poison.
template <Operand X, Operand... Y>
  requires((is_poison<X> || ... || is_poison<Y>) && sizeof...(Y) < 2)
constexpr poison as_complex(const X&, const Y&...) {
  return {};
}
/// x + iy. Layouts as in a sum of x and y. Local.
template <Tensor X, Tensor Y>
  requires std::is_floating_point_v<value_of<X>>
constexpr auto as_complex(const X& x, const Y& y) {
  using T = complex_of<value_of<X>>;
  return dimesh::as_complex(x) +
         detail::by_elements<T, detail::embed_op<T, detail::part::imaginary>>(y);
}

}  // namespace dimesh
