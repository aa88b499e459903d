// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a block of a row-major array get into a message, and out again? By a strided copy whose
// rank, extents and strides are run-time values: a handful of instances serves every tensor.
//
//   index_t extent[] = {4, 8}, stride[] = {1024, 1};
//   pack(2, extent, src, stride, buffer);        // buffer (4, 8) = src[0:4, 0:8] of rows of 1024
//   unpack_add(2, extent, buffer, dst, stride);  // dst[0:4, 0:8] += buffer
//
// Strides are in elements; those of the target are not zero. Source and target do not overlap.
#pragma once

#include "dimesh/detail/config.hpp"
#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/pieces.hpp"
#include "dimesh/local/tile.hpp"
#include "dimesh/memory/memory.hpp"

#include <algorithm>
#include <utility>

namespace dimesh::local {

/// stride[d] = the product of the extents after d.
inline void row_major_strides(int rank, const index_t* extent, index_t* stride) {
  const dimesh::detail::writes_arrays host;
  index_t next = 1;
  for (int d = rank - 1; d >= 0; --d) {
    stride[d] = next;
    next *= extent[d];
  }
}

namespace detail {

/// A box in its simplest form: no extent of 1, no two dims that could be one, at least one dim.
struct box {
  int rank = 0;
  index_t extent[max_dims], from[max_dims], to[max_dims];

  index_t size = 1;

  box(int dims, const index_t* n, const index_t* from_stride, const index_t* to_stride) {
    for (int d = 0; d < dims; ++d) {
      size *= n[d];
      add(n[d], from_stride[d], to_stride[d]);
    }
    if (rank == 0) append(1, 1, 1);
  }

 private:
  void add(index_t n, index_t f, index_t t) {
    if (n == 1) return;
    if (rank > 0 && from[rank - 1] == n * f && to[rank - 1] == n * t) {
      extent[rank - 1] *= n;
      from[rank - 1] = f;
      to[rank - 1] = t;
    } else {
      append(n, f, t);
    }
  }
  void append(index_t n, index_t f, index_t t) {
    extent[rank] = n;
    from[rank] = f;
    to[rank] = t;
    ++rank;
  }
};

/// body(src, dst) at every position of dims [d, end) of the box.
template <class T, class Body>
void walk_box(const box& b, int d, int end, const T* src, T* dst, const Body& body) {
  const dimesh::detail::writes_memory kernel;
  if (d == end) {
    body(src, dst);
    return;
  }
  for (index_t i = 0; i < b.extent[d]; ++i) {
    walk_box(b, d + 1, end, src + i * b.from[d], dst + i * b.to[d], body);
  }
}

struct assign_run {
  template <class T> KOKKOS_FORCEINLINE_FUNCTION static void one(const T& src, T& dst) {
    dst = src;
  }
  template <class T> static void run(index_t n, const T* src, index_t s, T* dst, index_t t) {
    const dimesh::detail::writes_memory kernel;
    if (s == 1 && t == 1) {
      std::copy_n(src, n, dst);
      return;
    }
#pragma omp simd
    for (index_t i = 0; i < n; ++i) dst[i * t] = src[i * s];
  }
};

struct add_run {
  template <class T> KOKKOS_FORCEINLINE_FUNCTION static void one(const T& src, T& dst) {
    dst += src;
  }
  template <class T> static void run(index_t n, const T* src, index_t s, T* dst, index_t t) {
    const dimesh::detail::writes_memory kernel;
    if (s == 1 && t == 1) {
#pragma omp simd
      for (index_t i = 0; i < n; ++i) dst[i] += src[i];
      return;
    }
#pragma omp simd
    for (index_t i = 0; i < n; ++i) dst[i * t] += src[i * s];
  }
};

/// The last two dims, src (m: stride 1, n: stride s) -> dst (m: stride t, n: stride 1), in tiles.
template <class Run, class T>
void move_across(index_t m, index_t n, const T* src, index_t s, T* dst, index_t t) {
  const dimesh::detail::writes_memory kernel;
  constexpr index_t rows = 16, cols = 64;
  alignas(64) T tile[rows * cols];
  for (index_t i = 0; i < m; i += rows) {
    for (index_t j = 0; j < n; j += cols) {
      const index_t r = std::min(rows, m - i), c = std::min(cols, n - j);
      transpose_tile(src + i + j * s, s, tile, cols, r, c);
      for (index_t k = 0; k < r; ++k) Run::run(c, tile + k * cols, 1, dst + (i + k) * t + j, 1);
    }
  }
}

/// Puts the dims in an order that suits memory: the target's smallest stride last, and where the
/// source's smallest stride is another dim, that one next to last, so that tiles can serve both.
inline bool arrange(box& b) {
  auto swap_dims = [&b](int p, int q) {
    std::swap(b.extent[p], b.extent[q]);
    std::swap(b.from[p], b.from[q]);
    std::swap(b.to[p], b.to[q]);
  };
  const int last = b.rank - 1;
  for (int d = 0; d < last; ++d) {
    if (b.to[d] == 1 && b.to[last] != 1) swap_dims(d, last);
  }
  if (b.to[last] != 1 || b.from[last] == 1) return false;
  for (int d = 0; d < last; ++d) {
    if (b.from[d] == 1) {
      swap_dims(d, last - 1);
      return true;
    }
  }
  return false;
}

/// A box with its dims in that order.
struct arranged_box : box {
  bool in_tiles;

  arranged_box(int dims, const index_t* n, const index_t* from_stride, const index_t* to_stride)
      : box(dims, n, from_stride, to_stride), in_tiles(arrange(*this)) {}
};

/// One element of a box for itself: what a device does.
template <class Run, class T> struct box_element {
  box b;
  const T* src;
  T* dst;

  KOKKOS_FUNCTION void operator()(index_t e) const {
    index_t from = 0, to = 0;
    for (int d = b.rank - 1; d >= 0; --d) {
      const index_t i = e % b.extent[d];
      e /= b.extent[d];
      from += i * b.from[d], to += i * b.to[d];
    }
    Run::one(src[from], dst[to]);
  }
};

template <class Run, class Space, class T>
void move_box(const arranged_box& b, const T* src, T* dst) {
  const dimesh::detail::writes_memory kernel;
  if constexpr (!runs_on_host<Space>)
    if (!moves_to_host<Space>())
      return each_for_itself<Space>(b.size, box_element<Run, T>{b, src, dst});
  const int p = b.rank - 2, q = b.rank - 1;
  if (b.in_tiles) {
    walk_box(b, 0, p, src, dst, [&b, p, q](const T* x, T* y) {
      move_across<Run>(b.extent[p], b.extent[q], x, b.from[q], y, b.to[p]);
    });
  } else {
    walk_box(b, 0, q, src, dst,
             [&b, q](const T* x, T* y) { Run::run(b.extent[q], x, b.from[q], y, b.to[q]); });
  }
}

}  // namespace detail

/// How a box moves from one array to another, for whoever moves it again: extents and strides as of
/// copy_box.
using box_move = detail::arranged_box;

/// dst[box] = src[box]
template <class T, class Space = default_space>
void copy_box(const box_move& b, const T* src, T* dst) {
  detail::move_box<detail::assign_run, Space>(b, src, dst);
}
/// dst[box] += src[box]
template <class T, class Space = default_space>
void add_box(const box_move& b, const T* src, T* dst) {
  detail::move_box<detail::add_run, Space>(b, src, dst);
}

/// dst[box] = src[box], a box of `extent` in both arrays.
template <class T, class Space = default_space>
void copy_box(int rank, const index_t* extent, const T* src, const index_t* src_stride, T* dst,
              const index_t* dst_stride) {
  copy_box<T, Space>(box_move(rank, extent, src_stride, dst_stride), src, dst);
}

/// dst[box] += src[box]
template <class T, class Space = default_space>
void add_box(int rank, const index_t* extent, const T* src, const index_t* src_stride, T* dst,
             const index_t* dst_stride) {
  add_box<T, Space>(box_move(rank, extent, src_stride, dst_stride), src, dst);
}

/// dst = src[box], dst contiguous and row-major.
template <class T, class Space = default_space>
void pack(int rank, const index_t* extent, const T* src, const index_t* src_stride, T* dst) {
  index_t dense[max_dims] = {};
  row_major_strides(rank, extent, dense);
  copy_box<T, Space>(rank, extent, src, src_stride, dst, dense);
}

/// dst[box] = src, src contiguous and row-major.
template <class T, class Space = default_space>
void unpack(int rank, const index_t* extent, const T* src, T* dst, const index_t* dst_stride) {
  index_t dense[max_dims] = {};
  row_major_strides(rank, extent, dense);
  copy_box<T, Space>(rank, extent, src, dense, dst, dst_stride);
}

/// dst[box] += src, src contiguous and row-major.
template <class T, class Space = default_space>
void unpack_add(int rank, const index_t* extent, const T* src, T* dst, const index_t* dst_stride) {
  index_t dense[max_dims] = {};
  row_major_strides(rank, extent, dense);
  add_box<T, Space>(rank, extent, src, dense, dst, dst_stride);
}

namespace detail {
/// One element of a box that is filled.
template <class T> struct fill_element {
  box b;
  T value;
  T* dst;

  KOKKOS_FUNCTION void operator()(index_t e) const {
    const dimesh::detail::writes_memory kernel;
    index_t to = 0;
    for (int d = b.rank - 1; d >= 0; --d) {
      to += e % b.extent[d] * b.to[d];
      e /= b.extent[d];
    }
    dst[to] = value;
  }
};
}  // namespace detail

/// dst[box] = value
template <class T, class Space = default_space>
void fill_box(const detail::box& b, T value, T* dst) {
  const dimesh::detail::writes_memory kernel;
  if constexpr (!detail::runs_on_host<Space>)
    if (!detail::moves_to_host<Space>())
      return detail::each_for_itself<Space>(b.size, detail::fill_element<T>{b, value, dst});
  const int q = b.rank - 1;
  detail::walk_box<T>(b, 0, q, dst, dst, [&b, q, value](const T*, T* y) {
    const dimesh::detail::writes_memory loop;
    if (b.to[q] == 1)
      std::fill_n(y, b.extent[q], value);
    else
      for (index_t i = 0; i < b.extent[q]; ++i) y[i * b.to[q]] = value;
  });
}
template <class T, class Space = default_space>
void fill_box(int rank, const index_t* extent, T value, T* dst, const index_t* dst_stride) {
  const index_t still[max_dims] = {};
  fill_box<T, Space>(detail::box(rank, extent, still, dst_stride), value, dst);
}

}  // namespace dimesh::local
