// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a compiler learn that a kernel writes memory? Its loops say so, but GCC 12 may overlook
// them: it gives an address inside a loop the base 0, takes the access for one through a null
// pointer, reads no further, finds that the function writes nothing, and drops the calls. So a
// kernel begins by saying it.
//
//   template <class T> void scale(index_t n, T* x) {
//     detail::writes_memory();
//     for (index_t i = 0; i < n; ++i) x[i] *= 2;
//   }
//
// Generates no code. Rule and proof: docs/decisions/0010-kernels-say-that-they-write.md.
#pragma once

#include <Kokkos_Macros.hpp>

namespace dimesh::detail {

/// Reads and writes any memory, for all that the compiler knows.
KOKKOS_FORCEINLINE_FUNCTION void writes_memory() {
#if defined(__GNUC__) && !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__) && \
    !defined(__SYCL_DEVICE_ONLY__)
  asm volatile("" ::: "memory");
#endif
}

}  // namespace dimesh::detail
