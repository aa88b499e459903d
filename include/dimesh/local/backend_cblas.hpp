// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which contractions does a BLAS compute, and how is it told? Those whose matrices have one unit
// stride each; transpose flags and leading dimensions express the rest, so nothing is copied.
//
//   cblas::product(x, a, b, c, add) -> true where it was done, false where strides or sizes forbid
#pragma once

#include <cblas.h>

#include <Kokkos_Complex.hpp>
#include <complex>
#include <limits>
#include <type_traits>

#include "dimesh/element/element_traits.hpp"
#include "dimesh/local/contraction.hpp"

namespace dimesh::local::cblas {

template <class T>
inline constexpr bool is_complex_float =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, Kokkos::complex<float>>;
/// Element types that a BLAS knows.
template <class T> inline constexpr bool serves = element_traits<T>::is_of_blas;

/// A matrix as BLAS sees it: row-major, or the transpose of a row-major one.
struct operand {
  CBLAS_TRANSPOSE flag;
  int ld;
};

inline operand seen(const matrix_order& x) {
  return {x.transposed ? CblasTrans : CblasNoTrans, int(x.ld)};
}

/// c (m, n) (+)= a * b, c with contiguous rows.
template <class T>
void gemm(const contraction& x, operand ta, operand tb, const T* a, const T* b, T* c, bool add) {
  const int m = int(x.m), n = int(x.n), k = int(x.k), ldc = int(x.c_m);
  const T one(1), beta(add ? 1 : 0);
  if constexpr (std::is_same_v<T, float>) {
    cblas_sgemm(CblasRowMajor, ta.flag, tb.flag, m, n, k, one, a, ta.ld, b, tb.ld, beta, c, ldc);
  } else if constexpr (std::is_same_v<T, double>) {
    cblas_dgemm(CblasRowMajor, ta.flag, tb.flag, m, n, k, one, a, ta.ld, b, tb.ld, beta, c, ldc);
  } else if constexpr (is_complex_float<T>) {
    cblas_cgemm(CblasRowMajor, ta.flag, tb.flag, m, n, k, &one, a, ta.ld, b, tb.ld, &beta, c, ldc);
  } else {
    cblas_zgemm(CblasRowMajor, ta.flag, tb.flag, m, n, k, &one, a, ta.ld, b, tb.ld, &beta, c, ldc);
  }
}

/// c (m) (+)= a (m, k) * b (k).
template <class T>
void gemv(const contraction& x, operand ta, const T* a, const T* b, T* c, bool add) {
  const bool turned = ta.flag == CblasTrans;
  const int rows = int(turned ? x.k : x.m), columns = int(turned ? x.m : x.k);
  const int b_step = int(x.b_k), c_step = int(x.c_m);
  const T one(1), beta(add ? 1 : 0);
  if constexpr (std::is_same_v<T, float>) {
    cblas_sgemv(CblasRowMajor, ta.flag, rows, columns, one, a, ta.ld, b, b_step, beta, c, c_step);
  } else if constexpr (std::is_same_v<T, double>) {
    cblas_dgemv(CblasRowMajor, ta.flag, rows, columns, one, a, ta.ld, b, b_step, beta, c, c_step);
  } else if constexpr (is_complex_float<T>) {
    cblas_cgemv(CblasRowMajor, ta.flag, rows, columns, &one, a, ta.ld, b, b_step, &beta, c, c_step);
  } else {
    cblas_zgemv(CblasRowMajor, ta.flag, rows, columns, &one, a, ta.ld, b, b_step, &beta, c, c_step);
  }
}

/// One matrix product, whatever x says of outer loops; false where BLAS cannot express it.
template <class T> bool product(const contraction& x, const T* a, const T* b, T* c, bool add) {
  constexpr index_t most = std::numeric_limits<int>::max();
  if (x.m > most || x.n > most || x.k > most) return false;
  if (x.m == 1 && x.n > 1 && x.k > 1) return product(transposed(x), b, a, c, add);
  const matrix_order oa = order_of(x.m, x.k, x.a_m, x.a_k);
  if (x.n == 1 && x.m > 1 && x.k > 1) {
    const bool steps = x.b_k > 0 && x.c_m > 0 && x.b_k <= most && x.c_m <= most;
    if (!steps || !oa.fits || oa.ld > most) return false;
    gemv(x, seen(oa), a, b, c, add);
    return true;
  }
  const matrix_order ob = order_of(x.k, x.n, x.b_k, x.b_n), oc = order_of(x.m, x.n, x.c_m, x.c_n);
  if (!oa.fits || !ob.fits || !oc.fits) return false;
  if (oa.ld > most || ob.ld > most || oc.ld > most) return false;
  if (oc.transposed) return product(transposed(x), b, a, c, add);
  contraction y = x;
  y.c_m = oc.ld;
  gemm(y, seen(oa), seen(ob), a, b, c, add);
  return true;
}

}  // namespace dimesh::local::cblas
