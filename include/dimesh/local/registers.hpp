// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How wide are the vector registers that a file is compiled for? Kernels choose their tiles by it.
//
//   -march=x86-64-v4   -> register_bytes == 64, in the inline namespace registers_64
//
// What is compiled by these numbers stands in `inline namespace DIMESH_REGISTERS`: files of one
// program that differ in -march then have kernels of different names, and the linker joins no
// packing of one width with the product of another. (A function that calls them may still be taken
// from either file, as with every header: compile a program for one processor.)
#pragma once

#if defined(__AVX512F__)
#define DIMESH_REGISTERS registers_64
#elif defined(__AVX__)
#define DIMESH_REGISTERS registers_32
#elif defined(__aarch64__)
#define DIMESH_REGISTERS registers_16_many
#else
#define DIMESH_REGISTERS registers_16
#endif

namespace dimesh::local::detail {
inline namespace DIMESH_REGISTERS {

/// The bytes of a register, and the rows of a tile that has three registers a row.
#if defined(__AVX512F__)
inline constexpr int register_bytes = 64, register_rows = 8;
#elif defined(__AVX__)
inline constexpr int register_bytes = 32, register_rows = 4;
#elif defined(__aarch64__)
inline constexpr int register_bytes = 16, register_rows = 8;
#else
inline constexpr int register_bytes = 16, register_rows = 4;
#endif

/// Elements of a and, counted on, of b, by number.
template <int... K, class V> inline __attribute__((always_inline)) V shuffled(V a, V b) {
#if defined(__NVCC__)  // its host's code loses the pack
  constexpr int of_a = static_cast<int>(sizeof(V) / sizeof(a[0]));
  V picked;
  int at = 0;
  ((void)(picked[at++] = K < of_a ? a[K % of_a] : b[K % of_a]), ...);
  return picked;
#else
  return __builtin_shufflevector(a, b, K...);
#endif
}

}  // namespace DIMESH_REGISTERS
}  // namespace dimesh::local::detail
