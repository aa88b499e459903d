// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does one add to a tensor? As to a number: x += y is x = x + y, under the rules of +. Tensors
// are values: copies of x made before keep theirs, and recorded ones are recorded as by +.
//
//   total += sum<batch>(loss);   x *= 0.5;
//
// Where x is memory of the program's, lent to be written (interop/borrow.hpp), the result is
// written there.
#pragma once

#include "dimesh/core/addends.hpp"
#ifdef DIMESH_CHECKED
#include "dimesh/core/kept_replicas.hpp"
#endif
#include "dimesh/core/started.hpp"
#include "dimesh/memory/memory.hpp"
#include "dimesh/op/arithmetic.hpp"

namespace dimesh {

namespace detail {

/// The program's memory that x is to be written in, null elsewhere. Throws dimesh::error where
/// another tensor has it, too: that one would change.
constexpr storage lent_memory(tensor_core& x) {
  if (!x.memory.lent_to_write()) return {};
  own_memory(x.memory, x.bytes(), true);
  return x.memory;
}
/// Brings x's elements to the memory that it had before.
void bring_back(tensor_core& x, const storage& lent);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void bring_back(tensor_core& x, const storage& lent) {
  settle(x, x.once);
  const in_space here(x.facts->space);
  copy_bytes(lent.data(), x.memory.data(), x.bytes());
  x.memory = lent;
#ifdef DIMESH_CHECKED
  written_blocks::here().add(lent.data());
#endif
}
#endif
/// What a tensor's value lies in may be lent, too, but is not what is recorded. (A const one is
/// refused where it is assigned to.)
template <class X> inline constexpr bool may_be_lent = !is_tracked<X> && !std::is_const_v<X>;
template <class X> constexpr storage memory_to_keep(X& x) {
  if constexpr (may_be_lent<X>)
    return lent_memory(core_of(x));
  else
    return {};
}
template <class X> constexpr X& kept_in(const storage& lent, X& x) {
  if constexpr (may_be_lent<X>)
    if (lent) bring_back(core_of(x), lent);
  return x;
}

}  // namespace detail

/// x = x + y; the type of x + y must be that of x. Local.
template <Tensor X, class Y>
  requires(Operand<Y> || detail::Number<Y>)
constexpr X& operator+=(X& x, const Y& y) {
  const detail::storage lent = detail::memory_to_keep(x);
  return detail::kept_in(lent, x = x + y);
}
/// x = x - y, likewise.
template <Tensor X, class Y>
  requires(Operand<Y> || detail::Number<Y>)
constexpr X& operator-=(X& x, const Y& y) {
  const detail::storage lent = detail::memory_to_keep(x);
  return detail::kept_in(lent, x = x - y);
}
/// x = x * y, likewise.
template <Tensor X, class Y>
  requires(Operand<Y> || detail::Number<Y>)
constexpr X& operator*=(X& x, const Y& y) {
  const detail::storage lent = detail::memory_to_keep(x);
  return detail::kept_in(lent, x = x * y);
}
/// x = x / y, likewise.
template <Tensor X, class Y>
  requires(Operand<Y> || detail::Number<Y>)
constexpr X& operator/=(X& x, const Y& y) {
  const detail::storage lent = detail::memory_to_keep(x);
  return detail::kept_in(lent, x = x / y);
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
