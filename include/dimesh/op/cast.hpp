// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a tensor get another element type? Element by element; layout and dims stay.
//
//   cast<double>(tensor<float, L, batch>)        -> tensor<double, L, batch>
//   cast<float>(tensor<float, L, batch>)         -> its argument
//   cast<int>(a partial tensor of float)         -> partial_operand<axis>: complete it first
#pragma once

#include "dimesh/local/map.hpp"
#include "dimesh/op/parts/apply_rule.hpp"

namespace dimesh {

namespace detail {

template <class T> struct cast_function {
  template <class A> KOKKOS_INLINE_FUNCTION T operator()(const A& a) const {
    if constexpr (is_complex<A> && !is_complex<T>)
      return static_cast<T>(a.real());  // the transpose of a cast to complex numbers
    else
      return static_cast<T>(a);
  }
};

/// Elements T of elements From.
template <class T, class From> struct cast_op {
  static constexpr bool takes_complex = true;

  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(0, y[0].bytes() + x[0].bytes());
  }
  void fill(results y, operands x) const {
    local::map(x[0].elements(), cast_function<T>{}, y[0].data<T>(), x[0].data<const From>());
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const { to.give(0, cast_op<From, T>{}, to.ybar); }
};

/// A complex number is more than a real one.
template <class T, class X> constexpr bool cast_keeps_all() {
  if constexpr (is_poison<X>)
    return true;
  else
    return is_complex<T> || !is_complex<value_of<X>>;
}
/// Rounded addends would not add up to the rounded sum. Whole: the new elements are.
constexpr outcome cast_rule_of(const tensor_facts& x, bool whole) {
  const bool was_whole = x.kind >= element_kind::boolean && x.kind <= element_kind::uint64;
  const int axis = x.layout.first_partial(whole && !was_whole);
  return axis < 0 ? allowed(x.layout) : blamed_axis(fault_code::partial_operand, axis);
}
template <class T> struct cast_rule : keeps_dims {
  static constexpr outcome of(rule_operands x, dim_list) {
    return cast_rule_of(x[0], std::is_integral_v<T>);
  }
};

// Compiled once in dimesh::compiled.
DIMESH_INSTANCE(cast_op<float, bfloat16>, 0);
DIMESH_INSTANCE(cast_op<float, bfloat16>, 1);
DIMESH_INSTANCE(cast_op<bfloat16, float>, 0);
DIMESH_INSTANCE(cast_op<bfloat16, float>, 1);

}  // namespace detail

/// The same values as elements of type T, converted as static_cast does. Local.
template <class T, Operand X> constexpr auto cast(const X& x) {
  using fault = detail::fault_of<detail::cast_rule<T>, X>;
  static_assert(
      ok<only<fault, partial_operand>>,
      "cast: the operand is a sum yet to be made, and its rounded addends would not add up to it; "
      "complete it first");
  constexpr bool to_element = detail::is_element<T>;
  static_assert(ok<std::conditional_t<to_element, no_fault, not_an_element<T>>>,
                "cast: a type of elements stands in the angle brackets: cast<float>(x)");
  constexpr bool keeps_all = detail::cast_keeps_all<T, X>();
  static_assert(
      keeps_all,
      "cast: a complex number as a real one is a part of it; say which: real(x), imag(x)");
  if constexpr (!ok<fault> || is_poison<X> || !keeps_all || !to_element)
    return poison{};
  else if constexpr (std::is_same_v<T, value_of<X>>)
    return x;
  else
    return detail::apply_rule<detail::cast_rule<T>, T>(detail::cast_op<T, value_of<X>>{}, x);
}

}  // namespace dimesh
