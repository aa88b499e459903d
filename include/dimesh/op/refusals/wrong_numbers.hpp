// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does one read who counts dims, as in other libraries? One sentence: overloads that take
// numbers where names are wanted.
//
//   sum<0>(x)         -> not_a_dim<std::integral_constant<long, 0>>: sum: dims are named ...
//   permute<1, 0>(x)  -> the same
//   std::size(x)      -> extents are those of dims ...
#pragma once

#include "dimesh/tensor.hpp"

namespace dimesh {

namespace detail {
/// The first of them, as a culprit.
template <index_t First, index_t...> using first_number = std::integral_constant<index_t, First>;
}  // namespace detail

template <index_t First, index_t... More, Operand X> constexpr poison sum(const X&) {
  static_assert(
      ok<not_a_dim<detail::first_number<First, More...>>>,
      "sum: dims are named, not counted; write the dims in the angle brackets: sum<batch>(x)");
  return {};
}
template <index_t First, index_t... More, Operand X> constexpr poison mean(const X&) {
  static_assert(
      ok<not_a_dim<detail::first_number<First, More...>>>,
      "mean: dims are named, not counted; write the dims in the angle brackets: mean<batch>(x)");
  return {};
}
template <index_t First, index_t... More, Operand X> constexpr poison max(const X&) {
  static_assert(
      ok<not_a_dim<detail::first_number<First, More...>>>,
      "max: dims are named, not counted; write the dims in the angle brackets: max<batch>(x)");
  return {};
}
template <index_t First, index_t... More, Operand X> constexpr poison min(const X&) {
  static_assert(
      ok<not_a_dim<detail::first_number<First, More...>>>,
      "min: dims are named, not counted; write the dims in the angle brackets: min<batch>(x)");
  return {};
}
template <index_t First, index_t... More, Operand X> constexpr poison argmax(const X&) {
  static_assert(
      ok<not_a_dim<detail::first_number<First, More...>>>,
      "argmax: dims are named, not counted; write the dim in the angle brackets: argmax<label>(x)");
  return {};
}
template <index_t First, index_t... More, Operand X> constexpr poison argmin(const X&) {
  static_assert(
      ok<not_a_dim<detail::first_number<First, More...>>>,
      "argmin: dims are named, not counted; write the dim in the angle brackets: argmin<label>(x)");
  return {};
}
template <index_t First, index_t... More, Operand X> constexpr poison softmax(const X&) {
  static_assert(ok<not_a_dim<detail::first_number<First, More...>>>,
                "softmax: dims are named, not counted; write the dims in the angle brackets: "
                "softmax<label>(x)");
  return {};
}
template <index_t First, index_t... More, Operand X> constexpr poison log_softmax(const X&) {
  static_assert(ok<not_a_dim<detail::first_number<First, More...>>>,
                "log_softmax: dims are named, not counted; write the dims in the angle brackets: "
                "log_softmax<label>(x)");
  return {};
}
template <index_t First, index_t... More, Operand X> constexpr poison permute(const X&) {
  static_assert(ok<not_a_dim<detail::first_number<First, More...>>>,
                "permute: dims are named, not counted; write the dims in the angle brackets: "
                "permute<label, batch>(x)");
  return {};
}

/// std::size says nothing of several dims.
template <Operand X> constexpr poison size(const X&) {
  static_assert(ok<std::conditional_t<is_poison<X>, no_fault, not_by_element<X>>>,
                "size: extents are those of dims; write x.extent<batch>(), or x.local_size() for "
                "the elements of this rank");
  return {};
}

}  // namespace dimesh
