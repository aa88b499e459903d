// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How is a matrix product computed without a library? In blocks that fit the caches, packed where
// that pays and read in place where it does not, tile by tile.
//
//   gemm<float>({m, n, k, a, a_m, a_k, b, b_k, b_n, c, c_m, c_n, add})   -> c (+)= a * b
//
// Any strides, no temporaries but two pack buffers per thread, which are allocated once.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/gemm_tile.hpp"
#include "dimesh/local/gemv.hpp"

namespace dimesh::local::detail {
inline namespace DIMESH_REGISTERS {

// Blocks, by measurement: a strip of b (depth x tile columns) stays near the first cache while the
// strips of a block of a (height x depth) pass by; a block of b is depth x width.
template <class T> inline constexpr index_t depth = sizeof(T) <= 4 ? 512 : 128;
inline constexpr index_t height = 16 * register_rows;
template <class T> inline constexpr index_t width = 64 * tile_columns<T>;
/// A matrix of at most so many bytes stays cached: a few strips of rows may read it in place.
inline constexpr index_t cached_bytes = 512 * 1024;

struct aligned_delete {
  void operator()(void* p) const { ::operator delete(p, std::align_val_t{64}); }
};

/// This thread's pack buffer, big enough for a block of a and a block of b.
template <class T> T* pack_buffer() {
  constexpr std::size_t bytes = sizeof(T) * depth<T> * (height + width<T>);
  thread_local std::unique_ptr<void, aligned_delete> buffer{
      ::operator new(bytes, std::align_val_t{64})};
  return static_cast<T*>(buffer.get());
}

/// One strip of rows of one strip of columns: the smallest tile that holds the rows.
template <class T, int Vectors>
void tile_of(index_t k, const T* a, index_t a_m, index_t a_k, const T* b, index_t b_k,
             const target<T>& out) {
  constexpr int R = register_rows;
  if (out.rows > R / 2) return tile<T, R, Vectors>(k, a, a_m, a_k, b, b_k, out);
  if (out.rows > R / 4) return tile<T, R / 2, Vectors>(k, a, a_m, a_k, b, b_k, out);
  if (out.rows > 1) return tile<T, R / 4, Vectors>(k, a, a_m, a_k, b, b_k, out);
  tile<T, 1, Vectors>(k, a, a_m, a_k, b, b_k, out);
}

template <class T>
void any_tile(index_t k, const T* a, index_t a_m, index_t a_k, const T* b, index_t b_k,
              const target<T>& out) {
  if (out.columns > 2 * lanes<T>) return tile_of<T, 3>(k, a, a_m, a_k, b, b_k, out);
  if (out.columns > lanes<T>) return tile_of<T, 2>(k, a, a_m, a_k, b, b_k, out);
  tile_of<T, 1>(k, a, a_m, a_k, b, b_k, out);
}

/// Where the strips of one operand lie: strip s starts at p + s * step, its lanes and its depth
/// have these strides. A last strip that cannot be read in place is packed at `tail`.
template <class T> struct strips {
  const T* p;
  index_t step, lane, depth;
  const T* tail;
  index_t tail_lane, tail_depth;
};

/// A block of c, tile by tile; x.k is its depth.
template <class T> void block_product(const product<T>& x, const strips<T>& a, const strips<T>& b) {
  const dimesh::detail::writes_memory kernel;
  constexpr index_t R = register_rows, C = tile_columns<T>;
  for (index_t j = 0; j < x.n; j += C) {
    const int columns = int(std::min(C, x.n - j));
    const bool b_tail = b.tail && columns < C;
    const T* b_strip = b_tail ? b.tail : b.p + j / C * b.step;
    for (index_t i = 0; i < x.m; i += R) {
      const int rows = int(std::min(R, x.m - i));
      const target<T> out{x.c + i * x.c_m + j * x.c_n, x.c_m, x.c_n, rows, columns, x.add};
      const bool a_tail = a.tail && rows < R;
      any_tile<T>(x.k, a_tail ? a.tail : a.p + i / R * a.step, a_tail ? a.tail_lane : a.lane,
                  a_tail ? a.tail_depth : a.depth, b_strip, b_tail ? b.tail_depth : b.depth, out);
    }
  }
}

/// Strips of W * V lanes of an operand: packed into `buffer`, or read in place, where only a last
/// incomplete strip is packed unless it `fits` a tile as it is.
template <class T, int W, int V>
strips<T> arrange(bool in_place, bool fits, const T* in, index_t in_l, index_t in_p, index_t count,
                  index_t k, T* buffer) {
  constexpr index_t S = W * V;
  if (!in_place) {
    pack<T, W, V>(in, in_l, in_p, count, k, buffer);
    return {buffer, S * k, 1, S, nullptr, 0, 0};
  }
  const index_t tail = count % S;
  strips<T> y{in, S * in_l, in_l, in_p, nullptr, 1, S};
  if (tail > 0 && !fits) {
    pack<T, W, V>(in + (count - tail) * in_l, in_l, in_p, tail, k, buffer);
    y.tail = buffer;
  }
  return y;
}

/// c (+)= a * b; all extents positive.
template <class T> void gemm(const product<T>& x) {
  const dimesh::detail::writes_memory kernel;
  if ((x.m == 1 || x.n == 1) && gemv(x)) return;
  constexpr int R = register_rows, W = lanes<T>, V = tile_vectors, H = std::min(R, W);
  if (x.n <= 16 && x.a_m == 1 && x.m > 2 * x.n) {  // few columns: vectors go along m instead
    return gemm<T>({x.n, x.m, x.k, x.b, x.b_n, x.b_k, x.a, x.a_k, x.a_m, x.c, x.c_n, x.c_m, x.add});
  }
  const bool cached = x.m <= 32 * R && x.k * x.n * index_t(sizeof(T)) <= cached_bytes;
  const bool b_in_place = x.b_n == 1 && (x.m <= 2 * R || cached);
  const bool a_in_place = x.a_k == 1 && (b_in_place || x.n <= V * W);
  T* const packed_a = pack_buffer<T>();
  T* const packed_b = packed_a + height * depth<T>;
  for (index_t j = 0; j < x.n; j += width<T>) {
    const index_t n = std::min(width<T>, x.n - j);
    for (index_t p = 0; p < x.k; p += depth<T>) {
      const index_t k = std::min(depth<T>, x.k - p);
      const T* b = x.b + p * x.b_k + j * x.b_n;
      const strips<T> sb =
          arrange<T, W, V>(b_in_place, n % W == 0, b, x.b_n, x.b_k, n, k, packed_b);
      for (index_t i = 0; i < x.m; i += height) {
        const index_t m = std::min(height, x.m - i);
        const T* a = x.a + i * x.a_m + p * x.a_k;
        const strips<T> sa =
            arrange<T, H, R / H>(a_in_place, m % R == 1, a, x.a_m, x.a_k, m, k, packed_a);
        T* c = x.c + i * x.c_m + j * x.c_n;
        block_product<T>(
            {m, n, k, a, x.a_m, x.a_k, b, x.b_k, x.b_n, c, x.c_m, x.c_n, x.add || p > 0}, sa, sb);
      }
    }
  }
}

}  // namespace DIMESH_REGISTERS
}  // namespace dimesh::local::detail
