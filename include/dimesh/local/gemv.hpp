// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How is a matrix times a vector computed without a library? Memory decides: every element of the
// matrix is read once, in the order in which it lies there.
//
//   c[n] (+)= sum over k of a[k] * b[k, n]   -> rows_times: eight rows of b at a time
//   c[m] (+)= sum over k of a[m, k] * b[k]   -> dots: four rows of a at a time
#pragma once

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/gemm_tile.hpp"

namespace dimesh::local::detail {
inline namespace DIMESH_REGISTERS {

/// c (n) (+)= a (k) * b (k, n); a row of b is contiguous, rows are b_k apart; c is contiguous.
template <class T>
void rows_times(index_t n, index_t k, const T* a, index_t a_k, const T* b, index_t b_k, T* c,
                bool add) {
  const dimesh::detail::writes_memory kernel;
  constexpr index_t chunk = 8192 / sizeof(T);  // so much of c stays in the first cache
  for (; n > 0; n -= chunk, b += chunk, c += chunk) {
    const index_t count = std::min(n, chunk);
    index_t p = 0;
    for (; p + 8 <= k; p += 8) {
      const T* row = b + p * b_k;
      T s[8];
      for (int r = 0; r < 8; ++r) s[r] = a[(p + r) * a_k];
      const bool keep = add || p > 0;
#pragma omp simd
      for (index_t j = 0; j < count; ++j) {
        const T* x = row + j;
        const T sum = (s[0] * x[0] + s[1] * x[b_k]) + (s[2] * x[2 * b_k] + s[3] * x[3 * b_k]) +
                      (s[4] * x[4 * b_k] + s[5] * x[5 * b_k]) +
                      (s[6] * x[6 * b_k] + s[7] * x[7 * b_k]);
        c[j] = keep ? c[j] + sum : sum;
      }
    }
    for (; p < k; ++p) {
      const T* row = b + p * b_k;
      const T s = a[p * a_k];
      const bool keep = add || p > 0;
#pragma omp simd
      for (index_t j = 0; j < count; ++j) c[j] = keep ? c[j] + s * row[j] : s * row[j];
    }
  }
}

/// c (m) (+)= a (m, k) * b (k); a row of a is contiguous, rows are a_m apart; b is contiguous.
template <class T>
void dots(index_t m, index_t k, const T* a, index_t a_m, const T* b, T* c, index_t c_m, bool add) {
  const dimesh::detail::writes_memory kernel;
  index_t i = 0;
  const auto put = [&](index_t row, T sum) { c[row * c_m] = add ? c[row * c_m] + sum : sum; };
  for (; i + 4 <= m; i += 4) {
    const T* row = a + i * a_m;
    T s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
    for (index_t p = 0; p < k; ++p) {
      s0 += row[p] * b[p];
      s1 += row[p + a_m] * b[p];
      s2 += row[p + 2 * a_m] * b[p];
      s3 += row[p + 3 * a_m] * b[p];
    }
    put(i, s0), put(i + 1, s1), put(i + 2, s2), put(i + 3, s3);
  }
  for (; i < m; ++i) {
    const T* row = a + i * a_m;
    T s = 0;
#pragma omp simd reduction(+ : s)
    for (index_t p = 0; p < k; ++p) s += row[p] * b[p];
    put(i, s);
  }
}

/// Does matrix times vector where x is one and its strides allow it; says whether it did.
template <class T> bool gemv(const product<T>& x) {
  if (x.m == 1 && x.b_n == 1 && x.c_n == 1) {
    rows_times(x.n, x.k, x.a, x.a_k, x.b, x.b_k, x.c, x.add);
  } else if (x.n == 1 && x.a_m == 1 && x.c_m == 1) {
    rows_times(x.m, x.k, x.b, x.b_k, x.a, x.a_k, x.c, x.add);
  } else if (x.n == 1 && x.a_k == 1 && x.b_k == 1) {
    dots(x.m, x.k, x.a, x.a_m, x.b, x.c, x.c_m, x.add);
  } else if (x.m == 1 && x.a_k == 1 && x.b_k == 1) {
    dots(x.n, x.k, x.b, x.b_n, x.a, x.c, x.c_n, x.add);
  } else {
    return false;
  }
  return true;
}

}  // namespace DIMESH_REGISTERS
}  // namespace dimesh::local::detail
