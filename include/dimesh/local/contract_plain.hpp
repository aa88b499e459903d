// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are products contracted that have no fast path: odd element types, and memory that the host
// cannot reach? Plainly: row by row on the host, one element of c per work item on a device.
//
//   row_products<int>{x, a, b, c, add}(i)         -> row i of one matrix product
//   element_contraction<float>{x, a, b, c, add}(i) -> element i of c, outer loops included
#pragma once

#include <Kokkos_Core.hpp>

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/element/bfloat16.hpp"
#include "dimesh/local/contraction.hpp"

namespace dimesh::local::detail {

template <class T>
concept ComplexValue = requires(T x) {
  x.real();
  x.imag();
};

/// s + x * y; for complex numbers without the rescue of infinities, as BLAS has it.
template <class T> KOKKOS_INLINE_FUNCTION T multiply_add(const T& s, const T& x, const T& y) {
  if constexpr (ComplexValue<T>) {
    return T(s.real() + (x.real() * y.real() - x.imag() * y.imag()),
             s.imag() + (x.real() * y.imag() + x.imag() * y.real()));
  } else {
    return s + x * y;
  }
}

/// One row of c (m, n) (+)= a (m, k) * b (k, n), in chunks that stay in the first cache.
template <class T> struct row_products {
  contraction x;
  const T* a;
  const T* b;
  T* c;
  bool add;

  void operator()(index_t i) const {
    const dimesh::detail::writes_memory kernel;
    constexpr index_t chunk = 64;
    for (index_t j0 = 0; j0 < x.n; j0 += chunk) {
      const index_t count = x.n - j0 < chunk ? x.n - j0 : chunk;
      T sum[chunk] = {};
      for (index_t p = 0; p < x.k; ++p) {
        const T scale = a[i * x.a_m + p * x.a_k];
        const T* row = b + p * x.b_k + j0 * x.b_n;
        for (index_t j = 0; j < count; ++j) sum[j] = multiply_add(sum[j], scale, row[j * x.b_n]);
      }
      T* to = c + i * x.c_m + j0 * x.c_n;
      for (index_t j = 0; j < count; ++j) to[j * x.c_n] = add ? to[j * x.c_n] + sum[j] : sum[j];
    }
  }
};

/// One element of c (outer.., m, n), with every sum that leads to it.
template <class T, class C = T> struct element_contraction {
  using S = computed<T>;
  contraction x;
  const T* a;
  const T* b;
  C* c;
  bool add;

  KOKKOS_FUNCTION void operator()(index_t element) const {
    const dimesh::detail::writes_memory kernel;
    const index_t j = element % x.n, i = element / x.n % x.m;
    const T* pa = a + i * x.a_m;
    const T* pb = b + j * x.b_n;
    C* pc = c + i * x.c_m + j * x.c_n;
    index_t rest = element / x.n / x.m, turns = 1;
    for (int o = x.outer - 1; o >= 0; --o) {
      if (x.c_outer[o] == 0) {
        turns *= x.extent[o];
        continue;
      }
      const index_t at = rest % x.extent[o];
      rest /= x.extent[o];
      pa += at * x.a_outer[o], pb += at * x.b_outer[o], pc += at * x.c_outer[o];
    }
    S sum = add ? S(*pc) : S(0);
    for (index_t turn = 0; turn < turns; ++turn) {  // over the outer loops that c lacks
      const T* qa = pa;
      const T* qb = pb;
      index_t left = turn;
      for (int o = x.outer - 1; o >= 0; --o) {
        if (x.c_outer[o] != 0) continue;
        qa += left % x.extent[o] * x.a_outer[o], qb += left % x.extent[o] * x.b_outer[o];
        left /= x.extent[o];
      }
      for (index_t p = 0; p < x.k; ++p) sum = multiply_add(sum, S(qa[p * x.a_k]), S(qb[p * x.b_k]));
    }
    *pc = static_cast<C>(sum);
  }
};

/// How many elements of c a contraction writes.
inline index_t elements_of_c(const contraction& x) {
  index_t count = x.m * x.n;
  for (int o = 0; o < x.outer; ++o) count *= x.c_outer[o] == 0 ? 1 : x.extent[o];
  return count;
}

}  // namespace dimesh::local::detail
