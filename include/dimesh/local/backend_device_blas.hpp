// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which contractions does a device's BLAS compute, and how is it told? Those whose matrices have
// one unit stride each, and of the loops around them one that all matrices run along in equal
// steps: a strided batch. Other loops are calls of their own, in order, so that sums are made in
// one.
//
//   device_blas::contract(x, a, b, c, add, cublas{})   -> true where it was queued
//
// A library is a function object of gemm_call and arrays; BLAS reads by columns, so that c's rows
// are the columns of its transpose, and b comes first.
#pragma once

#include <limits>
#include <utility>

#include "dimesh/element/element_traits.hpp"
#include "dimesh/local/contraction.hpp"

#ifdef DIMESH_WITH_CUBLAS
#include <cublas_v2.h>

#include <Kokkos_Core.hpp>
#include <stdexcept>
#endif

namespace dimesh::local::device_blas {

/// c (m, n) = first (m, k) * second (k, n) + beta c, by columns, `batch` times.
struct gemm_call {
  bool turn_first, turn_second;  // each is stored as its transpose
  int m, n, k;
  int ld_first, ld_second, ld_c;
  long long first_step, second_step, c_step;  // from one product of the batch to the next
  int batch;
  bool short_factors = false;  // 11 bits of a float are enough
};

/// The outer loop that makes a batch: the longest that c has; -1 if there is none.
constexpr int batch_loop(const contraction& x) {
  int best = -1;
  for (int i = 0; i < x.outer; ++i)
    if (x.c_outer[i] != 0 && (best < 0 || x.extent[i] > x.extent[best])) best = i;
  return best;
}
constexpr contraction without_loop(contraction x, int i) {
  for (--x.outer; i < x.outer; ++i) {
    x.extent[i] = x.extent[i + 1];
    x.a_outer[i] = x.a_outer[i + 1], x.b_outer[i] = x.b_outer[i + 1];
    x.c_outer[i] = x.c_outer[i + 1];
  }
  return x;
}

/// Does a loop around the products sum?
constexpr bool sums_products(const contraction& x) {
  for (int i = 0; i < x.outer; ++i)
    if (x.c_outer[i] == 0) return true;
  return false;
}

/// Every extent is positive. False: strides or sizes forbid it, or sums would be rounded more than
/// once, and nothing was called.
template <class T, class C, class Library>
bool contract(const contraction& given, const T* a, const T* b, C* c, bool add,
              const Library& library) {
  constexpr index_t most = std::numeric_limits<int>::max();
  contraction x = folded(given);
  if (is_storage_only<C> && sums_products(x)) return false;
  if (!order_of(x.m, x.n, x.c_m, x.c_n).fits) return false;
  if (order_of(x.m, x.n, x.c_m, x.c_n).transposed) {
    x = transposed(x);
    std::swap(a, b);
  }
  const matrix_order oa = order_of(x.m, x.k, x.a_m, x.a_k), ob = order_of(x.k, x.n, x.b_k, x.b_n),
                     oc = order_of(x.m, x.n, x.c_m, x.c_n);
  if (!oa.fits || !ob.fits || !oc.fits) return false;
  for (const index_t n : {x.m, x.n, x.k, oa.ld, ob.ld, oc.ld})
    if (n > most) return false;
  gemm_call call{ob.transposed,  oa.transposed, int(x.n), int(x.m), int(x.k), int(ob.ld),
                 int(oa.ld),     int(oc.ld),    0,        0,        0,        1,
                 x.short_factors};
  if (const int i = batch_loop(x); i >= 0 && x.extent[i] <= most) {
    call.batch = int(x.extent[i]);
    call.first_step = x.b_outer[i], call.second_step = x.a_outer[i], call.c_step = x.c_outer[i];
    x = without_loop(x, i);
  }
  for_each_product(x, a, b, c, add, [&](const T* pa, const T* pb, C* pc, bool sum) {
    library(call, pb, pa, pc, sum);
  });
  return true;
}

#ifdef DIMESH_WITH_CUBLAS
/// cuBLAS, on the stream of Kokkos' default instance; a handle for each thread.
class cublas {
 public:
  template <class T> static constexpr bool serves = element_traits<T>::is_of_blas;

  /// c is of bfloat16 or float; products are summed in float.
  template <class C>
  void operator()(const gemm_call& x, const bfloat16* first, const bfloat16* second, C* c,
                  bool add) const {
    const float one = 1, beta = add ? 1 : 0;
    check(cublasGemmStridedBatchedEx(handle(), turned(x.turn_first), turned(x.turn_second), x.m,
                                     x.n, x.k, &one, first, CUDA_R_16BF, x.ld_first, x.first_step,
                                     second, CUDA_R_16BF, x.ld_second, x.second_step, &beta, c,
                                     std::is_same_v<C, float> ? CUDA_R_32F : CUDA_R_16BF, x.ld_c,
                                     x.c_step, x.batch, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  }
  /// Of float what TF32 keeps of it.
  static void short_product(const gemm_call& x, const float* first, const float* second, float* c,
                            bool add) {
    const float one = 1, beta = add ? 1 : 0;
    check(cublasGemmStridedBatchedEx(handle(), turned(x.turn_first), turned(x.turn_second), x.m,
                                     x.n, x.k, &one, first, CUDA_R_32F, x.ld_first, x.first_step,
                                     second, CUDA_R_32F, x.ld_second, x.second_step, &beta, c,
                                     CUDA_R_32F, x.ld_c, x.c_step, x.batch,
                                     CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_GEMM_DEFAULT));
  }
  template <class T>
    requires serves<T>
  void operator()(const gemm_call& x, const T* first, const T* second, T* c, bool add) const {
    if constexpr (std::is_same_v<T, float>)
      if (x.short_factors) return short_product(x, first, second, c, add);
    const T one(1), beta(add ? 1 : 0);
    const auto f = turned(x.turn_first), s = turned(x.turn_second);
    const auto call = [&](auto gemm, auto type) {
      using U = decltype(type);
      return gemm(handle(), f, s, x.m, x.n, x.k, reinterpret_cast<const U*>(&one),
                  reinterpret_cast<const U*>(first), x.ld_first, x.first_step,
                  reinterpret_cast<const U*>(second), x.ld_second, x.second_step,
                  reinterpret_cast<const U*>(&beta), reinterpret_cast<U*>(c), x.ld_c, x.c_step,
                  x.batch);
    };
    if constexpr (std::is_same_v<T, float>)
      check(call(&cublasSgemmStridedBatched, float()));
    else if constexpr (std::is_same_v<T, double>)
      check(call(&cublasDgemmStridedBatched, double()));
    else if constexpr (sizeof(T) == sizeof(cuComplex))
      check(call(&cublasCgemmStridedBatched, cuComplex()));
    else
      check(call(&cublasZgemmStridedBatched, cuDoubleComplex()));
  }

 private:
  static cublasOperation_t turned(bool is) { return is ? CUBLAS_OP_T : CUBLAS_OP_N; }
  static void check(cublasStatus_t s) {
    if (s != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(cublasGetStatusString(s));
  }
  static cublasHandle_t handle() {
    thread_local const cublasHandle_t it = [] {
      cublasHandle_t h = nullptr;
      check(cublasCreate(&h));  // never destroyed: threads may end after the device's runtime
      return h;
    }();
    check(cublasSetStream(it, Kokkos::Cuda().cuda_stream()));
    return it;
  }
};
#endif

}  // namespace dimesh::local::device_blas
