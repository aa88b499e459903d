// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a loop read an array across its grain without waiting for memory? Tile by tile: a
// transposed copy through registers, one cache line a row, into a small buffer.
//
//   transpose_tile(src, 1024, dst, 64, 16, 64)   // dst[r*64 + c] = src[c*1024 + r]
#pragma once

#include "dimesh/detail/config.hpp"
#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/registers.hpp"

#include <Kokkos_Macros.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace dimesh::local {

namespace detail {

/// How many positions a loop over T takes at once, for simdlen: whole vectors, where compilers
/// would take halves. Types smaller than a float are computed with as floats.
template <class T>
inline constexpr int whole_lanes = register_bytes / std::clamp(static_cast<int>(sizeof(T)), 4, 16);

/// The unsigned word of T's size, as which elements travel through registers; void if none.
template <class T>
using word_of = std::conditional_t<sizeof(T) == 4, std::uint32_t,
                                   std::conditional_t<sizeof(T) == 8, std::uint64_t, void>>;

template <class Word, int W> struct square_tile {
  typedef Word vec __attribute__((vector_size(W * sizeof(Word))));

  /// Interleaves the lower (Half = 0) or upper halves of a and b.
  template <int Half, int... K>
  static inline __attribute__((always_inline)) vec zip(vec a, vec b,
                                                       std::integer_sequence<int, K...>) {
    return shuffled<(Half * W / 2 + K / 2 + (K % 2) * W)...>(a, b);
  }

  /// src (W columns of W, stride s) -> dst (W rows of W, stride d). log2 W rounds of zipping row i
  /// with row i + W/2 transpose the square.
  template <int... R>
  static inline __attribute__((always_inline)) void run(const void* src, index_t s, void* dst,
                                                        index_t d,
                                                        std::integer_sequence<int, R...> lanes) {
    vec v[W], w[W];
    ((void)std::memcpy(&v[R], static_cast<const Word*>(src) + R * s, sizeof(vec)), ...);
    for (int round = 1; round < W; round *= 2) {
      ((void)(w[R] = R % 2 == 0 ? zip<0>(v[R / 2], v[R / 2 + W / 2], lanes)
                                : zip<1>(v[R / 2], v[R / 2 + W / 2], lanes)),
       ...);
      ((void)(v[R] = w[R]), ...);
    }
    ((void)std::memcpy(static_cast<Word*>(dst) + R * d, &v[R], sizeof(vec)), ...);
  }
};

}  // namespace detail

/// The side of the squares that go through registers; 1 where T does not fit a word.
template <class T>
inline constexpr int tile_side =
    std::is_void_v<detail::word_of<T>> || !std::is_trivially_copyable_v<T>
        ? 1
        : detail::register_bytes / static_cast<int>(sizeof(T));

/// dst[r * dst_stride + c] = src[c * src_stride + r] for r < rows, c < cols.
template <class T>
void transpose_tile(const T* src, index_t src_stride, T* dst, index_t dst_stride, index_t rows,
                    index_t cols) {
  const dimesh::detail::writes_memory kernel;
  constexpr int w = tile_side<T>;
  index_t whole_rows = 0, whole_cols = 0;
  if constexpr (w > 1) {
    whole_rows = rows / w * w, whole_cols = cols / w * w;
    using square = detail::square_tile<detail::word_of<T>, w>;
    for (index_t r = 0; r < whole_rows; r += w) {
      for (index_t c = 0; c < whole_cols; c += w) {
        square::run(src + c * src_stride + r, src_stride, dst + r * dst_stride + c, dst_stride,
                    std::make_integer_sequence<int, w>{});
      }
    }
  }
  for (index_t r = 0; r < rows; ++r) {
    for (index_t c = r < whole_rows ? whole_cols : 0; c < cols; ++c) {
      dst[r * dst_stride + c] = src[c * src_stride + r];
    }
  }
}

}  // namespace dimesh::local
