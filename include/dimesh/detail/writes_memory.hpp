// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a compiler learn that a kernel writes memory? Its loops say so, but GCC 12 may overlook
// them: it gives an address inside a loop the base 0, takes the access for one through a null
// pointer, reads no further, finds that the function writes nothing, and drops the calls. So a
// kernel begins by saying it. Where tensors' pages are closed, that opens them to the end of the
// scope.
//
//   template <class T> void scale(index_t n, T* x) {
//     const detail::writes_memory kernel;
//     for (index_t i = 0; i < n; ++i) x[i] *= 2;
//   }
//
// A function that writes arrays of the host begins by `const detail::writes_arrays host;`: it is as
// exposed, and opens nothing.
//
// Generates no code where pages are not closed.
// Rule and proof: docs/decisions/0010-kernels-say-that-they-write.md.
#pragma once

#include <Kokkos_Macros.hpp>

#include "dimesh/memory/closed.hpp"

namespace dimesh::detail {

/// Reads and writes any memory, for all that the compiler knows.
struct [[nodiscard]] writes_arrays {
  KOKKOS_FORCEINLINE_FUNCTION writes_arrays() {
#if defined(__GNUC__) && !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__) && \
    !defined(__SYCL_DEVICE_ONLY__)
    asm volatile("" ::: "memory");
#endif
  }
};
/// The same, and tensors' elements are among what it writes.
struct [[nodiscard]] writes_memory : opened, writes_arrays {
  KOKKOS_FORCEINLINE_FUNCTION writes_memory() {}
};

}  // namespace dimesh::detail
