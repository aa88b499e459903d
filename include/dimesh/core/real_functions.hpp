// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What must gradients be able to do with real numbers whose type has been lost? Add them up, and
// begin with 1. Which functions do so is among a tensor's facts (core/facts.hpp).
//
//   x.facts->shared->real->add(y, x, z, n)   // y[i] = x[i] + z[i]
#pragma once

#include "dimesh/core/facts.hpp"
#include "dimesh/local/map.hpp"
#include "dimesh/memory/memory.hpp"

namespace dimesh::detail {

struct add_elements {
  static constexpr std::string_view call = "operator+";
  template <class A, class B> KOKKOS_INLINE_FUNCTION auto operator()(const A& a, const B& b) const {
    return a + b;
  }
  static constexpr double weight(int) { return 1; }
  static constexpr bool passes(int) { return true; }
};
/// y[0..n) = x[0..n) + z[0..n).
template <class T>
[[gnu::noinline]] void add_arrays(void* y, const void* x, const void* z, index_t n) {
  local::map(n, add_elements{}, static_cast<T*>(y), static_cast<const T*>(x),
             static_cast<const T*>(z));
}
template <class T> void set_one(void* to) { set_element(static_cast<T*>(to), static_cast<T>(1)); }

}  // namespace dimesh::detail
