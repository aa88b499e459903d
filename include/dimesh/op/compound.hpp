// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does one add to a tensor? As to a number: x += y is x = x + y, under the rules of +. Tensors
// are values: copies of x made before keep theirs, and recorded ones are recorded as by +.
//
//   total += sum<batch>(loss);   x *= 0.5;
#pragma once

#include "dimesh/core/started.hpp"
#include "dimesh/op/arithmetic.hpp"

namespace dimesh {

/// x = x + y; the type of x + y must be that of x. Local.
template <Tensor X, class Y>
  requires(Operand<Y> || detail::Number<Y>)
constexpr X& operator+=(X& x, const Y& y) {
  return x = x + y;
}
/// x = x - y, likewise.
template <Tensor X, class Y>
  requires(Operand<Y> || detail::Number<Y>)
constexpr X& operator-=(X& x, const Y& y) {
  return x = x - y;
}
/// x = x * y, likewise.
template <Tensor X, class Y>
  requires(Operand<Y> || detail::Number<Y>)
constexpr X& operator*=(X& x, const Y& y) {
  return x = x * y;
}
/// x = x / y, likewise.
template <Tensor X, class Y>
  requires(Operand<Y> || detail::Number<Y>)
constexpr X& operator/=(X& x, const Y& y) {
  return x = x / y;
}

/// A move that has been started is no tensor yet: says so.
template <class X, class Y> constexpr started<X>& operator+=(started<X>& x, const Y&) {
  (void)is_poison<started<X>>;
  return x;
}
template <class X, class Y> constexpr started<X>& operator-=(started<X>& x, const Y&) {
  (void)is_poison<started<X>>;
  return x;
}
template <class X, class Y> constexpr started<X>& operator*=(started<X>& x, const Y&) {
  (void)is_poison<started<X>>;
  return x;
}
template <class X, class Y> constexpr started<X>& operator/=(started<X>& x, const Y&) {
  (void)is_poison<started<X>>;
  return x;
}

}  // namespace dimesh
