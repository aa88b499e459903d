// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a value enter a computation as a constant? As itself, unrecorded: same elements, same
// memory, but no gradient passes, on whatever tapes it is recorded.
//
//   stop_gradient(tracked_tensor<basic_tensor<T, L, D...>>)  -> basic_tensor<T, L, D...>
//   stop_gradient(x)  -> x, where x is not recorded
#pragma once

#include "dimesh/op/parts/apply.hpp"

namespace dimesh {

/// The tensor without its records, also those of gradients around this one. No cost.
template <Operand X> constexpr auto stop_gradient(const X& x) {
  if constexpr (detail::is_tracked<X>)
    return dimesh::stop_gradient(x.value());
  else
    return x;
}

namespace detail {
/// The same for calls that end before x does: x itself where it is not recorded.
template <class X> constexpr decltype(auto) as_constant(const X& x) {
  if constexpr (is_tracked<X>)
    return dimesh::stop_gradient(x);
  else
    return (x);
}
}  // namespace detail

}  // namespace dimesh
