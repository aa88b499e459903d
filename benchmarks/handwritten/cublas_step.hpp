// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How long would cuBLAS take for products as many and as large as those of a Transformer's training
// step, one call after the other and nothing between them? Sizes are those of
// benchmarks/device.cpp; operands are of float, or of bfloat16, but in attention, whose scores are
// of float either way. No operand is read as its transpose, and no product leaves out what a causal
// mask hides.
//
//   cublas_step<float>{rows, positions, model, heads, hidden, vocab, layers}.seconds()
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace handwritten {

inline void check(cublasStatus_t s) {
  if (s != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(cublasGetStatusString(s));
}
inline void check(cudaError_t e) {
  if (e != cudaSuccess) throw std::runtime_error(cudaGetErrorString(e));
}

/// T: float, or a type of two bytes that stands for bfloat16.
template <class T> struct cublas_step {
  int rows, positions, model, heads, hidden, vocab, layers;

  /// The least of some runs.
  double seconds() const {
    cublasHandle_t library = nullptr;
    check(cublasCreate(&library));
    const std::size_t tokens = static_cast<std::size_t>(rows) * positions;
    const std::size_t widest = std::max<std::size_t>(
        {std::size_t(vocab), std::size_t(hidden), std::size_t(heads) * positions});
    const std::size_t size = tokens * widest;
    void* memory[3];
    for (void*& m : memory) {
      check(cudaMalloc(&m, size * sizeof(float)));
      fill(m, size * sizeof(float));
    }
    double least = 1e9;
    for (int run = 0; run < 5; ++run) {
      check(cudaDeviceSynchronize());
      const auto start = std::chrono::steady_clock::now();
      step(library, memory);
      check(cudaDeviceSynchronize());
      const std::chrono::duration<double> t = std::chrono::steady_clock::now() - start;
      least = std::min(least, t.count());
    }
    for (void* m : memory) check(cudaFree(m));
    check(cublasDestroy(library));
    return least;
  }

 private:
  void step(cublasHandle_t library, void* const* memory) const {
    const int tokens = rows * positions;
    const auto thrice = [&](auto type, int m, int n, int k, int batch) {  // and both cotangents
      using U = decltype(type);
      product<U>(library, memory, m, n, k, batch);
      product<U>(library, memory, m, k, n, batch);
      product<U>(library, memory, k, n, m, batch);
    };
    for (int l = 0; l < layers; ++l) {
      for (int i = 0; i < 4; ++i) thrice(T(), tokens, model, model, 1);  // q, k, v; what leaves
      thrice(float(), positions, positions, model / heads, rows * heads);
      thrice(float(), positions, model / heads, positions, rows * heads);
      thrice(T(), tokens, hidden, model, 1);
      thrice(T(), tokens, model, hidden, 1);
    }
    thrice(T(), tokens, vocab, model, 1);
  }
  /// Numbers between 1 and 2, none like its neighbour, in either type.
  static void fill(void* to, std::size_t bytes) {
    std::vector<unsigned short> numbers(bytes / 2);
    unsigned seed = 1;
    for (unsigned short& v : numbers)
      v = static_cast<unsigned short>(0x3f80 + ((seed = seed * 1664525u + 1013904223u) >> 25));
    check(cudaMemcpy(to, numbers.data(), bytes, cudaMemcpyHostToDevice));
  }
  /// By columns: (n, m) = (n, k) (k, m).
  template <class U>
  static void product(cublasHandle_t library, void* const* x, int m, int n, int k, int batch) {
    constexpr cudaDataType_t type = std::is_same_v<U, float> ? CUDA_R_32F : CUDA_R_16BF;
    const float one = 1, zero = 0;
    check(cublasGemmStridedBatchedEx(library, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, x[0], type,
                                     n, 1LL * n * k, x[1], type, k, 1LL * k * m, &zero, x[2], type,
                                     n, 1LL * n * m, batch, CUBLAS_COMPUTE_32F,
                                     CUBLAS_GEMM_DEFAULT));
  }
};

}  // namespace handwritten
