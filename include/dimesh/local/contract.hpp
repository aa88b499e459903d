// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who computes a local contraction? The fastest that its strides and element type allow: oneDNN or
// a BLAS where the build has them, the library's own product otherwise, a plain loop for the rest.
//
//   contraction x{.m = 2, .n = 3, .k = 4, .a_m = 4, .a_k = 1, .b_k = 3, .b_n = 1, .c_m = 3,
//                 .c_n = 1};
//   contract(x, a, b, c)  -> c (2, 3) = a (2, 4) * b (4, 3)
//
// Nothing is copied but into pack buffers that a thread keeps; a repeated call allocates nothing.
// The choice depends on shapes, strides and the build alone, never on a measurement, so equal calls
// round equally on every rank.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <type_traits>
#include <utility>

#include "dimesh/detail/kernel_range.hpp"
#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/contract_plain.hpp"
#include "dimesh/local/contraction.hpp"
#include "dimesh/local/gemm.hpp"
#include "dimesh/local/pieces.hpp"
#ifdef DIMESH_WITH_ONEDNN
#include "dimesh/local/backend_onednn.hpp"
#endif
#ifdef DIMESH_WITH_CBLAS
#include "dimesh/local/backend_cblas.hpp"
#endif
#ifdef DIMESH_WITH_CUBLAS
#include "dimesh/local/backend_device_blas.hpp"
#endif

namespace dimesh::local {

namespace detail {

template <class T>
inline constexpr bool has_own_kernel = std::is_same_v<T, float> || std::is_same_v<T, double>;

/// One matrix product in tiles. Where a host has threads, a part of the rows, or of the columns, is
/// a piece; small products are one.
template <class Space, class T> void tiled_product(const product<T>& x) {
  if constexpr (runs_as_call<Space>) {
    gemm<T>(x);
  } else {
    const bool by_rows = x.m >= x.n;
    const index_t grain = by_rows ? height : 4 * tile_columns<T>, n = by_rows ? x.m : x.n;
    if (n < 2 * grain || x.m * x.n * x.k < 64 * 64 * 64) return gemm<T>(x);
    in_ranges<Space>((n + grain - 1) / grain, [&](index_t from, index_t to) {
      product<T> part = x;
      const index_t first = from * grain, size = std::min(to * grain, n) - first;
      if (by_rows)
        part.m = size, part.a += first * x.a_m, part.c += first * x.c_m;
      else
        part.n = size, part.b += first * x.b_n, part.c += first * x.c_n;
      gemm<T>(part);
    });
  }
}

/// One matrix product by the library's own means: tiles for float and double, else plain rows.
template <class T, class Space = host_of<default_space>>
void own_product(const contraction& x, const T* a, const T* b, T* c, bool add) {
  const dimesh::detail::writes_memory kernel;
  if constexpr (has_own_kernel<T>) {
    tiled_product<Space, T>(
        {x.m, x.n, x.k, a, x.a_m, x.a_k, b, x.b_k, x.b_n, c, x.c_m, x.c_n, add});
  } else {
    const row_products<T> rows{x, a, b, c, add};
    for (index_t i = 0; i < x.m; ++i) rows(i);
  }
}

#ifdef DIMESH_WITH_ONEDNN
/// Floats with oneDNN; false where its fast paths do not reach.
inline bool onednn_contract(const contraction& x, const float* a, const float* b, float* c,
                            bool add) {
  constexpr index_t small = 48 * 48 * 48;  // below it a call costs more than the product
  index_t turns = 1;
  for (int i = 0; i < x.outer; ++i) turns *= x.extent[i];
  const index_t volume = x.m * x.n * x.k;
  if (volume * turns < small || x.n == 1 || (x.m == 1 && turns > 1)) return false;
  const bool skinny = x.m <= 16 || x.n <= 16;
  // The plain product copies b into panels, which pays where many rows use many of them.
  const bool b_turned = x.b_n != 1 && std::min(x.m, x.n) < 512;
  const bool b_narrow = x.b_n == 1 && x.a_k == 1 && x.n <= 128 && x.k <= 2048;
  if (turns > 1 || (!skinny && (b_turned || b_narrow))) {
    if (onednn::batch(x, a, b, c, add)) return true;
  }
  // It is slow at turning a tall a: by a quarter, worst where the rows lie whole pages apart.
  const bool a_tall = x.a_m == 1 && x.m >= 2 * x.n && x.k >= 256;
  if (a_tall && x.b_n == 1 && x.n >= 64 && x.n <= 512 && register_bytes >= 64) return false;
  if (volume < small || (x.n <= 16 && x.a_m == 1 && x.m > x.n)) return false;
  bool done = true;
  for_each_product(x, a, b, c, add, [&](const float* pa, const float* pb, float* pc, bool sum) {
    done = done && onednn::product(x, pa, pb, pc, sum);
  });
  return done;
}
#endif

#ifdef DIMESH_WITH_CBLAS
/// A BLAS for what oneDNN does not serve; false where it is slower than the own product.
template <class T>
bool cblas_contract(const contraction& x, const T* a, const T* b, T* c, bool add) {
  // Compiled for the widest vectors, the own tiles beat a BLAS except on lone small products of
  // matrices in rows, and on very large ones.
  constexpr bool own_is_wide = has_own_kernel<T> && register_bytes >= 64;
  const index_t volume = x.m * x.n * x.k;
  const bool small =
      x.outer == 0 && volume <= 96 * 96 * 96 && x.m > 1 && x.n > 1 && x.a_k == 1 && x.b_n == 1;
  const bool large = x.m >= 1536 && x.n >= 1536 && x.k >= 1536;
  if ((own_is_wide && !small && !large) || volume < 8 * 8 * 8) return false;
  bool done = true;
  for_each_product(x, a, b, c, add, [&](const T* pa, const T* pb, T* pc, bool sum) {
    done = done && cblas::product(x, pa, pb, pc, sum);
  });
  return done;
}
#endif

/// By a library, where the build has one that serves T and does it faster; says whether it did.
template <class T>
bool library_contract([[maybe_unused]] const contraction& x, [[maybe_unused]] const T* a,
                      [[maybe_unused]] const T* b, [[maybe_unused]] T* c,
                      [[maybe_unused]] bool add) {
#ifdef DIMESH_WITH_ONEDNN
  if constexpr (std::is_same_v<T, float>) return onednn_contract(x, a, b, c, add);
#endif
#ifdef DIMESH_WITH_CBLAS
  if constexpr (cblas::serves<T>) return cblas_contract(x, a, b, c, add);
#endif
  return false;
}

/// c = 0 over the loops that c has, fused as far as they go.
template <class T> void clear(const contraction& x, T* c) {
  const dimesh::detail::writes_memory kernel;
  contraction loops;
  const auto take = [&loops](index_t extent, index_t step) {
    if (extent == 1 || step == 0) return;
    int i = loops.outer++;  // widest steps first
    for (; i > 0 && loops.c_outer[i - 1] < step; --i) {
      loops.extent[i] = loops.extent[i - 1];
      loops.a_outer[i] = loops.b_outer[i] = loops.c_outer[i] = loops.c_outer[i - 1];
    }
    loops.extent[i] = extent;
    loops.a_outer[i] = loops.b_outer[i] = loops.c_outer[i] = step;
  };
  for (int i = 0; i < x.outer; ++i) take(x.extent[i], x.c_outer[i]);
  take(x.m, x.c_m);
  take(x.n, x.c_n);
  loops = folded(loops);
  const int last = loops.outer - 1;  // the narrowest steps
  const index_t n = last < 0 ? 1 : loops.extent[last], step = last < 0 ? 1 : loops.c_outer[last];
  loops.outer = last < 0 ? 0 : last;
  for_each_product(loops, c, c, c, false, [n, step](const T*, const T*, T* to, bool) {
    const dimesh::detail::writes_memory loop;
    if (step == 1)
      std::fill_n(to, n, T(0));
    else
      for (index_t i = 0; i < n; ++i) to[i * step] = T(0);
  });
}

template <class T>
void host_contract(const contraction& given, const T* a, const T* b, T* c, bool add) {
  const dimesh::detail::writes_memory kernel;
  contraction x = folded(given);
  if (x.n > 1 && x.c_n != 1 && (x.c_m == 1 || x.m == 1)) {  // compute c's transpose, by rows
    x = transposed(x);
    std::swap(a, b);
  }
  if (library_contract(x, a, b, c, add)) return;
  for_each_product(x, a, b, c, add, [&](const T* pa, const T* pb, T* pc, bool sum) {
    own_product(x, pa, pb, pc, sum);
  });
}
// Functions of the core call it for bfloat16; it stands beside operations, compiled as they are.
#if defined(DIMESH_INSTANCES)
template void host_contract<float>(const contraction&, const float*, const float*, float*, bool);
#elif defined(DIMESH_COMPILED)
extern template void host_contract<float>(const contraction&, const float*, const float*, float*,
                                          bool);
#endif

}  // namespace detail

/// Computes the contraction x: overwrites c, whatever it held, or adds to it. Arrays must not
/// overlap. Returns when c is complete on the host; on a device the work is queued in Space.
template <class T, class Space = Kokkos::DefaultExecutionSpace>
void contract(const contraction& x, const T* a, const T* b, T* c, bool accumulate = false) {
  if (detail::elements_of_c(x) == 0) return;
  index_t addends = x.k;
  for (int i = 0; i < x.outer; ++i) addends *= x.extent[i];
  if constexpr (Kokkos::SpaceAccessibility<Space, Kokkos::HostSpace>::accessible) {
    if (addends > 0) {
      detail::host_contract(x, a, b, c, accumulate);
    } else if (!accumulate) {
      detail::clear(x, c);
    }
  } else {
    if (detail::moves_to_host<Space>()) return contract<T, host_space>(x, a, b, c, accumulate);
#ifdef DIMESH_WITH_CUBLAS
    if constexpr (device_blas::cublas::serves<T> && std::is_same_v<Space, Kokkos::Cuda>)
      if (addends > 0 && device_blas::contract(x, a, b, c, accumulate, device_blas::cublas{}))
        return;
#endif
    Kokkos::parallel_for("dimesh::contract",
                         dimesh::detail::kernel_range<Space>(0, detail::elements_of_c(x)),
                         detail::element_contraction<T>{x, a, b, c, accumulate});
  }
}

}  // namespace dimesh::local
