// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Is the local contraction as fast as the libraries called by hand, and the own product as fast as
// Eigen's? One row a shape, GFLOP/s on one thread, candidates taking turns:
//
//   contract_kernel [float|double|all] [part of a shape's name]   -> a table
//
// A ratio is the median over rounds of (time of the other) / (time of ours): above 1 we are faster.
#include "dimesh/local/contract.hpp"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#if __has_include(<eigen3/Eigen/Core>)
#define EIGEN_DONT_PARALLELIZE
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <eigen3/Eigen/Core>
#endif

namespace {

using dimesh::index_t;
using dimesh::local::contraction;

/// `count` products c (m, n) = a (m, k) * b (k, n); a is stored transposed, or b is, or neither.
struct shape {
  const char* name;
  index_t count, m, n, k;
  bool a_turned, b_turned;
};

constexpr shape shapes[] = {
    {"square 512", 1, 512, 512, 512, false, false},
    {"square 1024", 1, 1024, 1024, 1024, false, false},
    {"square 2048", 1, 2048, 2048, 2048, false, false},
    {"layer1 64x256 forward", 1, 64, 256, 784, false, false},
    {"layer1 64x256 dW", 1, 784, 256, 64, true, false},
    {"layer1 64x256 dX", 1, 64, 784, 256, false, true},
    {"layer1 64x1024 forward", 1, 64, 1024, 784, false, false},
    {"layer1 64x1024 dW", 1, 784, 1024, 64, true, false},
    {"layer1 64x1024 dX", 1, 64, 784, 1024, false, true},
    {"layer1 128x256 forward", 1, 128, 256, 784, false, false},
    {"layer1 128x256 dW", 1, 784, 256, 128, true, false},
    {"layer1 128x256 dX", 1, 128, 784, 256, false, true},
    {"layer1 128x1024 forward", 1, 128, 1024, 784, false, false},
    {"layer1 128x1024 dW", 1, 784, 1024, 128, true, false},
    {"layer1 128x1024 dX", 1, 128, 784, 1024, false, true},
    {"layer1 256x256 forward", 1, 256, 256, 784, false, false},
    {"layer1 256x256 dW", 1, 784, 256, 256, true, false},
    {"layer1 256x256 dX", 1, 256, 784, 256, false, true},
    {"layer1 256x1024 forward", 1, 256, 1024, 784, false, false},
    {"layer1 256x1024 dW", 1, 784, 1024, 256, true, false},
    {"layer1 256x1024 dX", 1, 256, 784, 1024, false, true},
    {"layer2 64 forward", 1, 64, 10, 1024, false, false},
    {"layer2 64 dW", 1, 1024, 10, 64, true, false},
    {"layer2 64 dX", 1, 64, 1024, 10, false, true},
    {"layer2 128 forward", 1, 128, 10, 1024, false, false},
    {"layer2 128 dW", 1, 1024, 10, 128, true, false},
    {"layer2 128 dX", 1, 128, 1024, 10, false, true},
    {"layer2 256 forward", 1, 256, 10, 1024, false, false},
    {"layer2 256 dW", 1, 1024, 10, 256, true, false},
    {"layer2 256 dX", 1, 256, 1024, 10, false, true},
    {"skinny 8x1024x1024", 1, 8, 1024, 1024, false, false},
    {"skinny 1x1024x1024", 1, 1, 1024, 1024, false, false},
    {"skinny 1024x1x1024", 1, 1024, 1, 1024, false, false},
    {"batched 64x(128x64x128) NN", 64, 128, 64, 128, false, false},
    {"batched 64x(128x64x128) NT", 64, 128, 64, 128, false, true},
    {"batched 64x(128x128x64) NN", 64, 128, 128, 64, false, false},
    {"batched 64x(128x128x64) NT", 64, 128, 128, 64, false, true},
    {"batched 256x(16x16x16) NN", 256, 16, 16, 16, false, false},
};

contraction described(const shape& s) {
  contraction x;
  x.m = s.m, x.n = s.n, x.k = s.k;
  x.a_m = s.a_turned ? 1 : s.k, x.a_k = s.a_turned ? s.m : 1;
  x.b_k = s.b_turned ? 1 : s.n, x.b_n = s.b_turned ? s.k : 1;
  x.c_m = s.n, x.c_n = 1;
  x.outer = 1, x.extent[0] = s.count;
  x.a_outer[0] = s.m * s.k, x.b_outer[0] = s.k * s.n, x.c_outer[0] = s.m * s.n;
  return x;
}

struct candidate {
  std::string name;
  std::function<void()> run;
  std::vector<double> seconds = {};
};

/// Processor time of this program, which other programs on the machine disturb less than a clock.
double now() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

double median(std::vector<double> x) {
  std::nth_element(x.begin(), x.begin() + std::ptrdiff_t(x.size() / 2), x.end());
  return x[x.size() / 2];
}

template <class T> struct arrays {
  std::vector<T> a, b, c;
};

#ifdef DIMESH_WITH_CBLAS
template <class T> void add_cblas(std::vector<candidate>& to, const shape& s, arrays<T>& v) {
  to.push_back({"cblas", [s, &v] {
                  const auto ta = s.a_turned ? CblasTrans : CblasNoTrans;
                  const auto tb = s.b_turned ? CblasTrans : CblasNoTrans;
                  const int m = int(s.m), n = int(s.n), k = int(s.k);
                  const int lda = s.a_turned ? m : k, ldb = s.b_turned ? k : n;
                  for (index_t i = 0; i < s.count; ++i) {
                    const T* a = v.a.data() + i * s.m * s.k;
                    const T* b = v.b.data() + i * s.k * s.n;
                    T* c = v.c.data() + i * s.m * s.n;
                    if constexpr (std::is_same_v<T, float>) {
                      cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, 1, a, lda, b, ldb, 0, c, n);
                    } else {
                      cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, 1, a, lda, b, ldb, 0, c, n);
                    }
                  }
                }});
}
#endif

#ifdef DIMESH_WITH_ONEDNN
void add_onednn(std::vector<candidate>& to, const shape& s, arrays<float>& v) {
  to.push_back({"dnnl_sgemm", [s, &v] {
                  for (index_t i = 0; i < s.count; ++i) {
                    dnnl_sgemm(s.a_turned ? 'T' : 'N', s.b_turned ? 'T' : 'N', s.m, s.n, s.k, 1.0f,
                               v.a.data() + i * s.m * s.k, s.a_turned ? s.m : s.k,
                               v.b.data() + i * s.k * s.n, s.b_turned ? s.k : s.n, 0.0f,
                               v.c.data() + i * s.m * s.n, s.n);
                  }
                }});
  // The primitive and its memory objects are made before the clock starts, and live on.
  static dnnl_engine_t engine = nullptr;
  static dnnl_stream_t stream = nullptr;
  if (engine == nullptr) {
    dnnl_engine_create(&engine, dnnl_cpu, 0);
    dnnl_stream_create(&stream, engine, dnnl_stream_default_flags);
  }
  const contraction x = described(s);
  const int skip = s.count == 1 ? 1 : 0, dims = 3 - skip;
  const auto make = [&](index_t rows, index_t columns, index_t row, index_t column, float* data) {
    const dnnl_dims_t extent = {s.count, rows, columns}, stride = {rows * columns, row, column};
    dnnl_memory_desc_t what;
    dnnl_memory_desc_init_by_strides(&what, dims, extent + skip, dnnl_f32, stride + skip);
    dnnl_memory_t memory;
    dnnl_memory_create(&memory, &what, engine, data);
    return std::pair(what, memory);
  };
  const auto [da, a] = make(s.m, s.k, x.a_m, x.a_k, v.a.data());
  const auto [db, b] = make(s.k, s.n, x.b_k, x.b_n, v.b.data());
  const auto [dc, c] = make(s.m, s.n, x.c_m, x.c_n, v.c.data());
  dnnl_matmul_desc_t what;
  dnnl_matmul_desc_init(&what, &da, &db, nullptr, &dc);
  dnnl_primitive_desc_t plan;
  dnnl_primitive_desc_create(&plan, &what, nullptr, engine, nullptr);
  dnnl_primitive_t primitive;
  dnnl_primitive_create(&primitive, plan);
  const std::vector<dnnl_exec_arg_t> args = {
      {DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}};
  to.push_back({"dnnl matmul",
                [primitive, args] { dnnl_primitive_execute(primitive, stream, 3, args.data()); }});
}
#endif

#ifdef EIGEN_CORE_H
template <class T> void add_eigen(std::vector<candidate>& to, const shape& s, arrays<T>& v) {
  using rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using columns = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor>;
  to.push_back({"Eigen", [s, &v] {
                  for (index_t i = 0; i < s.count; ++i) {
                    const T* a = v.a.data() + i * s.m * s.k;
                    const T* b = v.b.data() + i * s.k * s.n;
                    Eigen::Map<rows> c(v.c.data() + i * s.m * s.n, s.m, s.n);
                    const Eigen::Map<const rows> a_rows(a, s.m, s.k), b_rows(b, s.k, s.n);
                    const Eigen::Map<const columns> a_columns(a, s.m, s.k), b_columns(b, s.k, s.n);
                    if (s.a_turned) {
                      c.noalias() = a_columns * b_rows;
                    } else if (s.b_turned) {
                      c.noalias() = a_rows * b_columns;
                    } else {
                      c.noalias() = a_rows * b_rows;
                    }
                  }
                }});
}
#endif

/// Runs all candidates in turns; every one must compute what the first one computes.
template <class T> void measure(std::vector<candidate>& all, const arrays<T>& v, double flops) {
  std::vector<T> want;
  for (candidate& x : all) {
    x.run();
    if (want.empty()) want = v.c;
    double error = 0;
    for (std::size_t i = 0; i < want.size(); ++i)
      error = std::max(error, double(std::abs(want[i] - v.c[i])));
    if (!(error < 1e-3)) std::printf("%s differs by %g\n", x.name.c_str(), error);
  }
  const int calls = int(std::max(1.0, 1e8 / flops)), rounds = flops > 5e9 ? 11 : 31;
  for (int r = 0; r < rounds; ++r) {
    for (candidate& x : all) {
      x.run();  // brings its code and data back after the others'
      const double start = now();
      for (int i = 0; i < calls; ++i) x.run();
      x.seconds.push_back((now() - start) / calls);
    }
  }
}

double ratio(const candidate& other, const candidate& ours) {
  std::vector<double> each;
  for (std::size_t i = 0; i < ours.seconds.size(); ++i)
    each.push_back(other.seconds[i] / ours.seconds[i]);
  return median(each);
}

template <class T> void compare(const shape& s) {
  arrays<T> v{std::vector<T>(std::size_t(s.count * s.m * s.k)),
              std::vector<T>(std::size_t(s.count * s.k * s.n)),
              std::vector<T>(std::size_t(s.count * s.m * s.n))};
  for (std::size_t i = 0; i < v.a.size(); ++i) v.a[i] = T(int(i * 7 % 13) - 6) / 64;
  for (std::size_t i = 0; i < v.b.size(); ++i) v.b[i] = T(int(i * 5 % 11) - 5) / 64;
  const contraction x = described(s);
  const double flops = 2.0 * double(s.count * s.m) * double(s.n) * double(s.k);
  std::vector<candidate> all;
  all.push_back(
      {"contract", [&] { dimesh::local::contract(x, v.a.data(), v.b.data(), v.c.data()); }});
  all.push_back({"own", [&] {
                   dimesh::local::for_each_product(
                       dimesh::local::folded(x), v.a.data(), v.b.data(), v.c.data(), false,
                       [&](const T* a, const T* b, T* c, bool add) {
                         dimesh::local::detail::own_product(x, a, b, c, add);
                       });
                 }});
#ifdef EIGEN_CORE_H
  add_eigen(all, s, v);
#endif
  const std::size_t libraries = all.size();
#ifdef DIMESH_WITH_CBLAS
  add_cblas(all, s, v);
#endif
#ifdef DIMESH_WITH_ONEDNN
  if constexpr (std::is_same_v<T, float>) add_onednn(all, s, v);
#endif
  measure(all, v, flops);
  const auto speed = [&](const candidate& c) { return flops / median(c.seconds) * 1e-9; };
  std::printf("%-7s%-29s%8.1f%8.1f", sizeof(T) == 4 ? "float" : "double", s.name, speed(all[0]),
              speed(all[1]));
  std::size_t best = libraries;
  for (std::size_t i = libraries; i < all.size(); ++i)
    if (median(all[i].seconds) < median(all[best].seconds)) best = i;
  if (libraries < all.size()) {
    std::printf("%8.1f %-12s%6.2f", speed(all[best]), all[best].name.c_str(),
                ratio(all[best], all[0]));
  } else {
    std::printf("%8s %-12s%6s", "-", "", "-");
  }
#ifdef EIGEN_CORE_H
  std::printf("%8.1f%6.2f", speed(all[2]), ratio(all[2], all[1]));
#endif
  std::printf("\n");
  std::fflush(stdout);
}

/// Libraries read their settings when they are loaded: one thread, and OpenBLAS' own choice of
/// kernels, take a fresh start of the program.
void restart_with_plain_settings(char** argv) {
  if (getenv("CONTRACT_KERNEL_STARTED") != nullptr) return;
  unsetenv("OPENBLAS_CORETYPE");
  unsetenv("OPENBLAS_L2_SIZE");
  for (const char* name : {"CONTRACT_KERNEL_STARTED", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"})
    setenv(name, "1", 1);
  execv("/proc/self/exe", argv);
}

}  // namespace

int main(int argc, char** argv) {
  restart_with_plain_settings(argv);
  const std::string type = argc > 1 ? argv[1] : "all", part = argc > 2 ? argv[2] : "";
  std::printf("%-36s%8s%8s%8s %-12s%6s%8s%6s\n", "GFLOP/s", "contract", "own", "by hand", "",
              "ratio", "Eigen", "own/E");
  for (const bool is_float : {true, false}) {
    if (type != "all" && type != (is_float ? "float" : "double")) continue;
    for (const shape& s : shapes) {
      if (std::string(s.name).find(part) == std::string::npos) continue;
      is_float ? compare<float>(s) : compare<double>(s);
    }
  }
}
