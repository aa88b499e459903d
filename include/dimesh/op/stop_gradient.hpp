// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a value enter a computation as a constant? As itself, unrecorded: same elements, same
// memory, but no gradient passes.
//
//   stop_gradient(tracked_tensor<basic_tensor<T, L, D...>>)  -> basic_tensor<T, L, D...>
//   stop_gradient(x)  -> x, where x is not recorded
#pragma once

#include "dimesh/op/parts/apply.hpp"

namespace dimesh {

/// The tensor without its record. No cost.
template <Operand X> constexpr auto stop_gradient(const X& x) { return detail::untracked(x); }

}  // namespace dimesh
