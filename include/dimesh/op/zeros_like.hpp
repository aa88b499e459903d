// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// With what does a loop begin that adds up recorded tensors? With zeros that are recorded, too, so
// that one variable holds them and all sums after them.
//
//   auto total = zeros_like(w);                  // in a loss, of a parameter
//   for (...) total = total + f(w);
#pragma once

#include "dimesh/op/map.hpp"

namespace dimesh {

namespace detail {
struct zero_function {
  template <class A> KOKKOS_INLINE_FUNCTION A operator()(const A&) const { return A(0); }
};
}  // namespace detail

/// Zeros of a recorded tensor's type, extents and grid; no gradient passes. Local.
template <Operand X>
  requires detail::is_tracked<X>
[[nodiscard]] constexpr X zeros_like(const X& other) {
  return detail::map_as<detail::join_kind::linear>(detail::zero_function{}, other);
}

}  // namespace dimesh
