// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does every header agree on? The index type and the marker of an extent known at run time.
//
//   index_t{-1}   -> an index; all extents, strides and offsets are index_t
//   dynamic       -> "the extent is given at run time": dim<> is dim<dynamic>
#pragma once

#include <cstdint>

// Older ones stop somewhere deep inside, or compile what is wrong.
#if (defined(__clang__) && !defined(__apple_build_version__) && __clang_major__ < 14) || \
    (!defined(__clang__) && defined(__GNUC__) && __GNUC__ < 12) || __cplusplus < 202002L
#error "dimesh needs C++20 by GCC 12, Clang 14 or newer"
#endif

namespace dimesh {

/// Indices, extents and byte counts: signed, 64 bits, so that differences never wrap.
using index_t = std::int64_t;

/// Stands for an extent, or an axis size, that is only known at run time.
inline constexpr index_t dynamic = -1;

/// Compile-time capacities of the type layer (axes of one mesh, dims of one operation, halo width).
inline constexpr int max_axes = 8;
inline constexpr int max_dims = 16;
inline constexpr index_t max_halo = 127;  // what a table can note: see layout/table.hpp

}  // namespace dimesh
