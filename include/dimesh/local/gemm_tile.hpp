// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does the innermost part of a matrix product look like? A tile of c that lives in vector
// registers, and strips of a and b packed so that the tile reads them from front to back.
//
//   tile<float, 8, 3> with 64-byte vectors   -> 8 rows x 48 columns, 24 accumulators
//   pack<float, 8>                           -> out[p][0..8) from 8 rows (or columns) of a matrix
//
// Vectors are the GCC and Clang extension: no intrinsics, any instruction set.
#pragma once

#include <algorithm>
#include <cstring>
#include <utility>

#include "dimesh/detail/config.hpp"
#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/registers.hpp"

namespace dimesh::local::detail {
inline namespace DIMESH_REGISTERS {

inline constexpr int tile_vectors = 3;
template <class T> inline constexpr int lanes = register_bytes / int(sizeof(T));
template <class T> inline constexpr int tile_columns = tile_vectors * lanes<T>;

template <class T, int N> struct vector_of {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
  typedef T anywhere __attribute__((vector_size(N * sizeof(T)), aligned(alignof(T)), may_alias));
};
template <class T, int N = lanes<T>> using vec = typename vector_of<T, N>::type;

/// N values from, and to, any address that suits a T.
template <int N, class T> inline vec<T, N> load(const T* p) {
  return *reinterpret_cast<const typename vector_of<T, N>::anywhere*>(p);
}
template <int N, class T> inline void store(T* p, const vec<T, N>& v) {
  *reinterpret_cast<typename vector_of<T, N>::anywhere*>(p) = v;
}

/// c (m, n) (+)= a (m, k) * b (k, n), each with a row and a column stride.
template <class T> struct product {
  index_t m, n, k;
  const T* a;
  index_t a_m, a_k;
  const T* b;
  index_t b_k, b_n;
  T* c;
  index_t c_m, c_n;
  bool add;
};

/// A tile of c and how much of it is wanted.
template <class T> struct target {
  T* c;
  index_t c_m, c_n;
  int rows, columns;
  bool add;
};

/// to[0..count) (+)= from[0..count), count < 2 * N, in the fewest vectors.
template <int N, class T> inline void store_some(T* to, const T* from, int count, bool add) {
  if (count >= N) {
    store<N>(to, add ? load<N>(to) + load<N>(from) : load<N>(from));
    to += N, from += N, count -= N;
  }
  if constexpr (N > 1) store_some<N / 2>(to, from, count, add);
}

/// The two halves of exchanging the off-diagonal D x D blocks of two rows.
template <int D, int W, class V, std::size_t... I>
inline void exchange(V& x, V& y, std::index_sequence<I...>) {
  const V lo = shuffled<(int(I) & D ? W + int(I) - D : int(I))...>(x, y);
  y = shuffled<(int(I) & D ? W + int(I) : int(I) + D)...>(x, y);
  x = lo;
}

/// Transposes W vectors of W values in place, in log2(W) rounds.
template <int D, int W, class V> inline void transpose(V (&x)[W]) {
  if constexpr (D > 0) {
#pragma GCC unroll 16
    for (int i = 0; i < W; ++i) {
      if (!(i & D)) exchange<D, W>(x[i], x[i + D], std::make_index_sequence<W>{});
    }
    transpose<D / 2>(x);
  }
}

/// Stores a tile with all its rows whose columns are contiguous in c.
template <class T> void store_turned(const T* tile, int width, const target<T>& out) {
  const dimesh::detail::writes_memory kernel;
  constexpr int R = register_rows;
  for (int j0 = 0; j0 < out.columns; j0 += R) {
    vec<T, R> x[R];
#pragma GCC unroll 8
    for (int i = 0; i < R; ++i) x[i] = load<R>(tile + i * width + j0);
    transpose<R / 2>(x);
    for (int j = 0; j < std::min(R, out.columns - j0); ++j) {
      T* c = out.c + (j0 + j) * out.c_n;
      store<R>(c, out.add ? load<R>(c) + x[j] : x[j]);
    }
  }
}

/// Stores a tile that is not a whole one, or whose rows do not lie in rows of c.
template <class T> void store_edge(const T* tile, int width, const target<T>& out) {
  const dimesh::detail::writes_memory kernel;
  for (int i = 0; i < out.rows; ++i, tile += width) {
    T* c = out.c + i * out.c_m;
    if (out.c_n == 1) {
      int j = 0;
      for (; j + lanes<T> <= out.columns; j += lanes<T>) {
        store_some<lanes<T>>(c + j, tile + j, lanes<T>, out.add);
      }
      store_some<lanes<T> / 2>(c + j, tile + j, out.columns - j, out.add);
      continue;
    }
    for (int j = 0; j < out.columns; ++j) {
      c[j * out.c_n] = out.add ? c[j * out.c_n] + tile[j] : tile[j];
    }
  }
}

/// c is (Rows, Vectors * lanes); a is (Rows, k) at any strides; b is (k, Vectors * lanes), its rows
/// b_k apart. Elements of the tile outside out.rows x out.columns are computed and dropped.
template <class T, int Rows, int Vectors>
[[gnu::noinline]] void tile(index_t k, const T* a, index_t a_m, index_t a_k, const T* b,
                            index_t b_k, const target<T>& out) {
  const dimesh::detail::writes_memory kernel;
  constexpr int W = lanes<T>, width = Vectors * W;
  using v = vec<T>;
  v sum[Rows][Vectors] = {};
  for (index_t p = 0; p < k; ++p, a += a_k, b += b_k) {
    v row[Vectors];
#pragma GCC unroll 3
    for (int j = 0; j < Vectors; ++j) row[j] = load<W>(b + j * W);
#pragma GCC unroll 3
    for (int j = 0; j < Vectors; ++j) __builtin_prefetch(b + 8 * b_k + j * W);
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) {
      const T scale = a[i * a_m];
#pragma GCC unroll 3
      for (int j = 0; j < Vectors; ++j) sum[i][j] += scale * row[j];
    }
  }
  if (out.rows == Rows && out.columns == width && out.c_n == 1) {
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) {
      T* c = out.c + i * out.c_m;
#pragma GCC unroll 3
      for (int j = 0; j < Vectors; ++j) {
        T* to = c + j * W;
        store<W>(to, out.add ? load<W>(to) + sum[i][j] : sum[i][j]);
      }
    }
    return;
  }
  T spill[Rows * width];
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 3
    for (int j = 0; j < Vectors; ++j) store<W>(spill + i * width + j * W, sum[i][j]);
  }
  if constexpr (Rows == register_rows && Rows <= W) {
    if (out.c_m == 1 && out.c_n != 1 && out.rows == Rows) return store_turned(spill, width, out);
  }
  store_edge(spill, width, out);
}

/// Lanes from `wanted` on become copies of the last wanted one.
template <int W, class T>
void pack_transposed(const T* in, index_t in_l, int wanted, index_t k, T* out, index_t step) {
  const dimesh::detail::writes_memory kernel;
  const auto row = [&](int l) { return in + std::min(l, wanted - 1) * in_l; };
  index_t p = 0;
  for (; p + W <= k; p += W) {
    vec<T, W> x[W];
#pragma GCC unroll 16
    for (int l = 0; l < W; ++l) x[l] = load<W>(row(l) + p);
    transpose<W / 2>(x);
#pragma GCC unroll 16
    for (int l = 0; l < W; ++l) store<W>(out + (p + l) * step, x[l]);
  }
  for (; p < k; ++p) {
    for (int l = 0; l < W; ++l) out[p * step + l] = row(l)[p];
  }
}

/// Packs `count` rows (or columns) of k elements into strips of W * V lanes:
/// out[strip][p][lane] = in[(strip * W * V + lane) * in_l + p * in_p]. A last strip may end early,
/// on a multiple of W; lanes that the input lacks are zero or repeat one that it has, and are
/// never stored.
template <class T, int W, int V>
void pack(const T* in, index_t in_l, index_t in_p, index_t count, index_t k, T* out) {
  const dimesh::detail::writes_memory kernel;
  constexpr index_t strip = W * V, rows = 16;  // so many rows at a time: few pages, long reads
  const index_t whole = in_l == 1 ? count / strip * strip : 0;
  for (index_t p0 = 0; p0 < (whole > 0 ? k : 0); p0 += rows) {
    for (index_t j = 0; j < whole; j += strip) {
      T* to = out + j * k + p0 * strip;
      const T* from = in + j + p0 * in_p;
      for (index_t p = 0; p < std::min(rows, k - p0); ++p, to += strip, from += in_p) {
#pragma GCC unroll 3
        for (int v = 0; v < V; ++v) store<W>(to + v * W, load<W>(from + v * W));
      }
    }
  }
  for (index_t j = whole; j < count; j += W) {
    T* to = out + j / strip * strip * k + j % strip;
    const T* from = in + j * in_l;
    const int wanted = int(std::min<index_t>(W, count - j));
    if (in_p == 1 && wanted > 1) {
      pack_transposed<W>(from, in_l, wanted, k, to, strip);
      continue;
    }
    for (index_t p = 0; p < k; ++p, to += strip, from += in_p) {
      store<W>(to, vec<T, W>{});
      if (in_l == 1) {
        store_some<W>(to, from, wanted, false);
      } else {
        for (int l = 0; l < wanted; ++l) to[l] = from[l * in_l];
      }
    }
  }
}

}  // namespace DIMESH_REGISTERS
}  // namespace dimesh::local::detail
