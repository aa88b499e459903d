// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who contracts arrays of bfloat16? oneDNN where the build and the machine have a fast path for
// them, and elsewhere the product of floats, on copies. Either way products are added in float, and
// the result is rounded once.
//
//   contract_bfloat16(x, a, b, c)   // a, b of bfloat16; c of bfloat16 or float
//
// Copies live in buffers that a thread keeps; a repeated call allocates nothing.
#pragma once

#include <algorithm>
#include <memory>

#include "dimesh/detail/compiled.hpp"
#include "dimesh/detail/kernel_range.hpp"
#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/contract.hpp"

namespace dimesh::local {

namespace detail {

/// Floats that a thread keeps: buffer I, at least n of them.
template <int I> float* kept_floats(index_t n) {
  thread_local std::unique_ptr<float[]> buffer;
  thread_local index_t size = 0;
  if (n > size) {
    buffer.reset(new float[static_cast<std::size_t>(n)]);
    size = n;
  }
  return buffer.get();
}

/// One more than the place of the last element that an operand with these strides has.
inline index_t span_of(const contraction& x, const index_t* outer, index_t rows, index_t row,
                       index_t columns, index_t column) {
  index_t last = (rows - 1) * row + (columns - 1) * column;
  for (int i = 0; i < x.outer; ++i) last += (x.extent[i] - 1) * outer[i];
  return last + 1;
}

/// to (n) = from (n)
inline void widen(const bfloat16* from, float* to, index_t n) {
  const dimesh::detail::writes_memory kernel;
#pragma omp simd
  for (index_t i = 0; i < n; ++i) to[i] = from[i];
}

/// to = from over the elements of c, which both arrays hold at c's places.
template <class From, class To> void copy_c(const contraction& x, const From* from, To* to) {
  const dimesh::detail::writes_memory kernel;
  contraction places = x;
  for (int i = 0; i < x.outer; ++i) {
    places.a_outer[i] = places.b_outer[i] = x.c_outer[i];
    if (x.c_outer[i] == 0) places.extent[i] = 1;
  }
  for_each_product(places, from, from, to, false, [&x](const From* u, const From*, To* v, bool) {
    const dimesh::detail::writes_memory loop;
    for (index_t i = 0; i < x.m; ++i, u += x.c_m, v += x.c_m) {
      if (x.c_n == 1) {
#pragma omp simd
        for (index_t j = 0; j < x.n; ++j) dimesh::store(v[j], u[j]);
      } else {
        for (index_t j = 0; j < x.n; ++j) dimesh::store(v[j * x.c_n], u[j * x.c_n]);
      }
    }
  });
}

/// By oneDNN, where it has a fast path; says whether it did.
template <class C>
bool library_contract_bfloat16([[maybe_unused]] const contraction& x,
                               [[maybe_unused]] const bfloat16* a,
                               [[maybe_unused]] const bfloat16* b, [[maybe_unused]] C* c,
                               [[maybe_unused]] bool add) {
#ifdef DIMESH_WITH_ONEDNN
  constexpr index_t small = 16 * 16 * 16;  // below it a call costs more than the product
  index_t turns = 1;
  for (int i = 0; i < x.outer; ++i) turns *= x.extent[i];
  return x.m * x.n * x.k * turns >= small && onednn::batch(x, a, b, c, add);
#else
  return false;
#endif
}

/// c (+)= a * b where c holds floats.
void contract_to_floats(const contraction& x, const bfloat16* a, const bfloat16* b, float* c,
                        bool add);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void contract_to_floats(const contraction& x, const bfloat16* a,
                                              const bfloat16* b, float* c, bool add) {
  const dimesh::detail::writes_memory kernel;
  if (library_contract_bfloat16(x, a, b, c, add)) return;
  if (x.outer > 0) {
    contraction one = x;
    one.outer = 0;
    bool done = true;
    for_each_product(x, a, b, c, add,
                     [&](const bfloat16* pa, const bfloat16* pb, float* pc, bool sum) {
                       done = done && library_contract_bfloat16(one, pa, pb, pc, sum);
                     });
    if (done) return;
  }
  const index_t a_span = span_of(x, x.a_outer, x.m, x.a_m, x.k, x.a_k);
  const index_t b_span = span_of(x, x.b_outer, x.k, x.b_k, x.n, x.b_n);
  float *const wide_a = kept_floats<0>(a_span), *const wide_b = kept_floats<1>(b_span);
  widen(a, wide_a, a_span);
  widen(b, wide_b, b_span);
  host_contract(x, wide_a, wide_b, c, add);
}
#endif

template <class C>
void host_contract_bfloat16(const contraction& given, const bfloat16* a, const bfloat16* b, C* c,
                            bool add) {
  contraction x = folded(given);
  if (x.n > 1 && x.c_n != 1 && (x.c_m == 1 || x.m == 1)) {  // compute c's transpose, by rows
    x = transposed(x);
    std::swap(a, b);
  }
  if constexpr (std::is_same_v<C, float>) {
    contract_to_floats(x, a, b, c, add);
  } else if (!library_contract_bfloat16(x, a, b, c, add)) {
    float* const sums = kept_floats<2>(span_of(x, x.c_outer, x.m, x.c_m, x.n, x.c_n));
    if (add) copy_c(x, c, sums);
    contract_to_floats(x, a, b, sums, add);
    copy_c(x, sums, c);
  }
}

/// c = 0 over the loops that c has.
template <class C> void clear_c(const contraction& x, C* c) {
  const dimesh::detail::writes_memory kernel;
  const index_t span = span_of(x, x.c_outer, x.m, x.c_m, x.n, x.c_n);
  float* const zeros = kept_floats<2>(span);
  std::fill_n(zeros, span, 0.0f);
  copy_c(x, zeros, c);
}

}  // namespace detail

/// Computes the contraction x of arrays of bfloat16: overwrites c, or adds to it. C is bfloat16 or
/// float. Sums are formed in float. Otherwise as `contract`.
template <class Space = Kokkos::DefaultExecutionSpace, class C>
void contract_bfloat16(const contraction& x, const bfloat16* a, const bfloat16* b, C* c,
                       bool accumulate = false) {
  if (detail::elements_of_c(x) == 0) return;
  index_t addends = x.k;
  for (int i = 0; i < x.outer; ++i) addends *= x.extent[i];
  if constexpr (Kokkos::SpaceAccessibility<Space, Kokkos::HostSpace>::accessible) {
    if (addends > 0) {
      detail::host_contract_bfloat16(x, a, b, c, accumulate);
    } else if (!accumulate) {
      detail::clear_c(x, c);
    }
  } else {
    if (detail::moves_to_host<Space>())
      return contract_bfloat16<host_space>(x, a, b, c, accumulate);
#ifdef DIMESH_WITH_CUBLAS
    if constexpr (std::is_same_v<Space, Kokkos::Cuda>)
      if (addends > 0 && device_blas::contract(x, a, b, c, accumulate, device_blas::cublas{}))
        return;
#endif
    Kokkos::parallel_for("dimesh::contract",
                         dimesh::detail::kernel_range<Space>(0, detail::elements_of_c(x)),
                         detail::element_contraction<bfloat16, C>{x, a, b, c, accumulate});
  }
}

}  // namespace dimesh::local
