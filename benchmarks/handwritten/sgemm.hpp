// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which library multiplies two matrices fastest here? A product of fixed shape that has tried those
// at hand: oneDNN's sgemm, its matmul primitive, any CBLAS. Row-major, float, op(x) = x or x^T.
//
//   product p{'T', 'N', m, n, k};    // c[m,n] = a[k,m]^T . b[k,n]
//   p.tune(comm);  p(a, b, c);       // all ranks of comm use the kernel that rank 0 found fastest
#pragma once

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#ifdef DIMESH_WITH_ONEDNN
#include <oneapi/dnnl/dnnl.hpp>
#endif
#ifdef DIMESH_WITH_CBLAS
#include <cblas.h>
#endif

namespace handwritten {

class product {
 public:
  product(char ta, char tb, int m, int n, int k) : ta_(ta), tb_(tb), m_(m), n_(n), k_(k) {
#ifdef DIMESH_WITH_ONEDNN
    kernels_.push_back(kernel::onednn_sgemm);
    kernels_.push_back(kernel::onednn_matmul);
    make_primitive();
#endif
#ifdef DIMESH_WITH_CBLAS
    kernels_.push_back(kernel::cblas);
#endif
    if (kernels_.empty()) kernels_.push_back(kernel::loops);
    chosen_ = kernels_.front();
  }

  product(const product&) = delete;
  product& operator=(const product&) = delete;

  void operator()(const float* a, const float* b, float* c) { run(chosen_, a, b, c); }

  const char* name() const {
    switch (chosen_) {
      case kernel::onednn_sgemm:
        return "oneDNN sgemm";
      case kernel::onednn_matmul:
        return "oneDNN matmul";
      case kernel::cblas:
        return "CBLAS";
      default:
        return "loops";
    }
  }

  /// Best of a few rounds, the candidates taking turns; one choice for all ranks, since replicas
  /// that round differently would drift apart.
  void tune(MPI_Comm comm, int rounds = 7) {
    int rank = 0, best = 0;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0 && kernels_.size() > 1) {
      std::vector<float> a(size(m_, k_), 0.5f), b(size(k_, n_), 0.5f), c(size(m_, n_));
      std::vector<double> seconds(kernels_.size(), 1e30);
      for (int r = 0; r <= rounds; ++r)
        for (std::size_t i = 0; i < kernels_.size(); ++i) {
          const double start = MPI_Wtime();
          run(kernels_[i], a.data(), b.data(), c.data());
          if (r > 0) seconds[i] = std::min(seconds[i], MPI_Wtime() - start);
        }
      best = static_cast<int>(std::min_element(seconds.begin(), seconds.end()) - seconds.begin());
    }
    MPI_Bcast(&best, 1, MPI_INT, 0, comm);
    chosen_ = kernels_[static_cast<std::size_t>(best)];
  }

 private:
  enum class kernel { onednn_sgemm, onednn_matmul, cblas, loops };

  static std::size_t size(int rows, int columns) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  }
  int lda() const { return ta_ == 'N' ? k_ : m_; }
  int ldb() const { return tb_ == 'N' ? n_ : k_; }

  void run(kernel which, const float* a, const float* b, float* c) {
    switch (which) {
#ifdef DIMESH_WITH_ONEDNN
      case kernel::onednn_sgemm:
        dnnl_sgemm(ta_, tb_, m_, n_, k_, 1.0f, a, lda(), b, ldb(), 0.0f, c, n_);
        return;
      case kernel::onednn_matmul:
        a_.set_data_handle(const_cast<float*>(a));
        b_.set_data_handle(const_cast<float*>(b));
        c_.set_data_handle(c);
        // the C call: its C++ wrapper builds a vector each time
        dnnl_primitive_execute(matmul_.get(), stream_.get(), 3, arguments_.data());
        return;
#endif
#ifdef DIMESH_WITH_CBLAS
      case kernel::cblas:
        cblas_sgemm(CblasRowMajor, ta_ == 'N' ? CblasNoTrans : CblasTrans,
                    tb_ == 'N' ? CblasNoTrans : CblasTrans, m_, n_, k_, 1.0f, a, lda(), b, ldb(),
                    0.0f, c, n_);
        return;
#endif
      default:
        loops(a, b, c);
    }
  }

  void loops(const float* a, const float* b, float* c) const {
    std::fill_n(c, size(m_, n_), 0.0f);
    const int ai = ta_ == 'N' ? k_ : 1, ak = ta_ == 'N' ? 1 : m_;
    const int bk = tb_ == 'N' ? n_ : 1, bj = tb_ == 'N' ? 1 : k_;
    for (int i = 0; i < m_; ++i)
      for (int k = 0; k < k_; ++k) {
        const float x = a[size(i, ai) + size(k, ak)];
        const float* const row = b + size(k, bk);
        float* const out = c + size(i, n_);
#pragma omp simd
        for (int j = 0; j < n_; ++j) out[j] += x * row[j * bj];
      }
  }

#ifdef DIMESH_WITH_ONEDNN
  void make_primitive() {
    using dnnl::memory;
    const auto f32 = memory::data_type::f32;
    const auto matrix = [&](int rows, int columns, bool transposed) {
      const memory::dims strides = transposed ? memory::dims{1, rows} : memory::dims{columns, 1};
      return memory::desc({rows, columns}, f32, strides);
    };
    const auto a = matrix(m_, k_, ta_ != 'N'), b = matrix(k_, n_, tb_ != 'N'),
               c = matrix(m_, n_, 0);
#if DNNL_VERSION_MAJOR >= 3
    matmul_ = dnnl::matmul(dnnl::matmul::primitive_desc(engine_, a, b, c));
#else
    matmul_ = dnnl::matmul({dnnl::matmul::desc(a, b, c), engine_});
#endif
    a_ = memory(a, engine_, nullptr), b_ = memory(b, engine_, nullptr);
    c_ = memory(c, engine_, nullptr);
    arguments_ = {
        {{DNNL_ARG_SRC, a_.get()}, {DNNL_ARG_WEIGHTS, b_.get()}, {DNNL_ARG_DST, c_.get()}}};
  }

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  dnnl::matmul matmul_;
  dnnl::memory a_, b_, c_;
  std::array<dnnl_exec_arg_t, 3> arguments_{};
#endif

  char ta_, tb_;
  int m_, n_, k_;
  std::vector<kernel> kernels_;
  kernel chosen_;
};

}  // namespace handwritten
