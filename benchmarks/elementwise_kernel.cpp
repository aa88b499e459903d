// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do the loops of local/ cost beside one loop fused by hand? Both use the scalar functions of
// local/math.hpp, so that the loops alone differ. Bar: 0.95 of the hand-written loop's speed.
//
//   benchmarks/elementwise_kernel [--quick]
#include "dimesh/local/map_transpose_over.hpp"
#include "dimesh/local/reduce_over.hpp"

#include <cstring>
#include <vector>

#include "support/race.hpp"

namespace {

namespace dl = dimesh::local;
using dimesh::index_t;
using dl::loops;

double budget = 1.0;
bool all_met = true;

/// Arrays are (m, N), row-major, in lines of cache of their own. Columns are static for the loops
/// written by hand; those of local/ are told when they run.
template <index_t N> struct arrays {
  static constexpr index_t n = N;
  index_t m;
  std::vector<float> room;
  float *x, *y, *z, *u, *v, *b, *c;
  explicit arrays(index_t rows) : m(rows), room(5 * m * n + 2 * std::max(m, n) + 200) {
    float* at = room.data();
    at += (64 - reinterpret_cast<std::uintptr_t>(at) % 64) % 64 / sizeof(float);
    for (float** p : {&x, &y, &z, &u, &v}) *p = at, at += m * n;
    b = at, at += (n + 15) / 16 * 16;
    c = at;
    for (std::size_t k = 0; k < room.size(); ++k)
      room[k] = static_cast<float>(k * 37 % 61) / 30 - 1;
  }
};

template <class Typed, class Twin>
void compare(const std::string& what, Typed&& typed, Twin&& twin) {
  const auto [t, h] = bench::race(MPI_COMM_NULL, budget)(typed, twin);
  // Below a microsecond the launch counts, 20 ns: no bar there.
  const bool counts = h.fast() > 1e-6;
  all_met = (bench::report(what, t, {h}, counts ? 0.95 : 0.0) || !counts) && all_met;
}

struct gated {
  template <class X, class B, class M> KOKKOS_FUNCTION auto operator()(X x, B b, M m) const {
    return dimesh::gelu(x + b) * m;
  }
};
struct axpy {
  float a;
  template <class X, class Y> KOKKOS_FUNCTION auto operator()(X x, Y y) const { return a * x + y; }
};
struct relu_bias {
  template <class X, class B> KOKKOS_FUNCTION auto operator()(X x, B b) const {
    return dimesh::relu(x + b);
  }
};
struct softmax_part {
  template <class X, class M> KOKKOS_FUNCTION auto operator()(X x, M m) const {
    return dimesh::exp(x - m);
  }
};
struct plus_of {
  template <class X, class Y> KOKKOS_FUNCTION auto operator()(X x, Y y) const { return x + y; }
};

struct itself {
  template <class X> KOKKOS_FUNCTION auto operator()(X x) const { return x; }
};

using dimesh::elementary::gelu_parts;

template <class Arrays> [[gnu::noinline]] void hand_gated(const Arrays& a) {
  for (index_t i = 0; i < a.m; ++i) {
    const float *x = a.x + i * a.n, *w = a.y + i * a.n, *b = a.b;
    float* y = a.z + i * a.n;
#pragma omp simd
    for (index_t j = 0; j < a.n; ++j) y[j] = gelu_parts<float>(x[j] + b[j]).value() * w[j];
  }
}

/// x (m, n), w = a.y (m, n), ybar = a.z (m, n) -> xbar = a.u, wbar = a.v, bbar = a.c (n)
template <class Arrays> [[gnu::noinline]] void hand_gated_back(const Arrays& a) {
  std::memset(a.c, 0, sizeof(float) * a.n);
  for (index_t i = 0; i < a.m; ++i) {
    const float *x = a.x + i * a.n, *w = a.y + i * a.n, *b = a.b, *ybar = a.z + i * a.n;
    float *xbar = a.u + i * a.n, *wbar = a.v + i * a.n, *bbar = a.c;
#pragma omp simd
    for (index_t j = 0; j < a.n; ++j) {
      const gelu_parts<float> g(x[j] + b[j]);
      const float t = ybar[j] * w[j] * g.derivative();
      xbar[j] = t;
      bbar[j] += t;
      wbar[j] = ybar[j] * g.value();
    }
  }
}

template <class Arrays> [[gnu::noinline]] void hand_axpy(const Arrays& a, float s) {
  const float* x = a.x;
  float* y = a.y;
  const index_t n = a.m * a.n;
#pragma omp simd
  for (index_t k = 0; k < n; ++k) y[k] = s * x[k] + y[k];
}

template <class Arrays> [[gnu::noinline]] void hand_relu_bias(const Arrays& a) {
  for (index_t i = 0; i < a.m; ++i) {
    const float *x = a.x + i * a.n, *b = a.b;
    float* y = a.y + i * a.n;
#pragma omp simd
    for (index_t j = 0; j < a.n; ++j) {
      const float s = x[j] + b[j];
      y[j] = s > 0 ? s : 0;
    }
  }
}

/// ybar = a.z -> xbar = a.u, bbar = a.c (n)
template <class Arrays> [[gnu::noinline]] void hand_relu_bias_back(const Arrays& a) {
  std::memset(a.c, 0, sizeof(float) * a.n);
  for (index_t i = 0; i < a.m; ++i) {
    const float *x = a.x + i * a.n, *b = a.b, *ybar = a.z + i * a.n;
    float *xbar = a.u + i * a.n, *bbar = a.c;
#pragma omp simd
    for (index_t j = 0; j < a.n; ++j) {
      const float t = x[j] + b[j] > 0 ? ybar[j] : 0;
      xbar[j] = t;
      bbar[j] += t;
    }
  }
}

template <class Arrays> [[gnu::noinline]] void hand_exp(const Arrays& a) {
  for (index_t i = 0; i < a.m; ++i) {
    const float* x = a.x + i * a.n;
    float* y = a.y + i * a.n;
    const float top = a.c[i];
#pragma omp simd
    for (index_t j = 0; j < a.n; ++j) y[j] = dimesh::elementary::exp(x[j] - top);
  }
}

template <class Arrays> [[gnu::noinline]] float hand_sum(const Arrays& a) {
  const float* x = a.x;
  const index_t n = a.m * a.n;
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (index_t k = 0; k < n; ++k) sum += x[k];
  return sum;
}

template <class Arrays> [[gnu::noinline]] void hand_row_sums(const Arrays& a) {
  for (index_t i = 0; i < a.m; ++i) {
    const float* x = a.x + i * a.n;
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (index_t j = 0; j < a.n; ++j) sum += x[j];
    a.c[i] = sum;
  }
}

template <class Arrays> [[gnu::noinline]] void hand_column_sums(const Arrays& a) {
  std::memset(a.c, 0, sizeof(float) * a.n);
  for (index_t i = 0; i < a.m; ++i) {
    const float* x = a.x + i * a.n;
    float* y = a.c;
#pragma omp simd
    for (index_t j = 0; j < a.n; ++j) y[j] += x[j];
  }
}

/// x (m / 16, 16, n) -> (m / 16, n)
template <class Arrays> [[gnu::noinline]] void hand_middle_sums(const Arrays& a) {
  for (index_t i = 0; i < a.m / 16; ++i) {
    float* y = a.y + i * a.n;
    std::memset(y, 0, sizeof(float) * a.n);
    for (index_t k = 0; k < 16; ++k) {
      const float* x = a.x + (i * 16 + k) * a.n;
#pragma omp simd
      for (index_t j = 0; j < a.n; ++j) y[j] += x[j];
    }
  }
}

template <class Arrays> [[gnu::noinline]] void hand_row_max(const Arrays& a) {
  for (index_t i = 0; i < a.m; ++i) {
    const float* x = a.x + i * a.n;
    float top = x[0];
#pragma omp simd reduction(max : top)
    for (index_t j = 0; j < a.n; ++j) top = x[j] > top ? x[j] : top;
    a.c[i] = top;
  }
}

template <class Arrays> void forward_and_back(const Arrays& a) {
  const std::string shape = " " + std::to_string(a.m) + "x" + std::to_string(a.n);
  // y, x and what goes with it: rows, a row for all of them, or a value a row.
  const loops<3> with_row{2, {a.m, a.n}, {{a.n, 1}, {a.n, 1}, {0, 1}}};
  const loops<3> with_column{2, {a.m, a.n}, {{a.n, 1}, {a.n, 1}, {1, 0}}};
  const loops<4> with_both{2, {a.m, a.n}, {{a.n, 1}, {a.n, 1}, {0, 1}, {a.n, 1}}};
  const float *x = a.x, *w = a.y, *b = a.b, *top = a.c;
  compare(
      "gelu(x + b) * m, forward" + shape, [&] { dl::map_over(with_both, gated{}, a.z, x, b, w); },
      [&] { hand_gated(a); });
  compare(
      "gelu(x + b) * m, backward" + shape,
      [&] { dl::map_transpose_over(with_both, gated{}, a.z, {a.u, a.c, a.v}, x, b, w); },
      [&] { hand_gated_back(a); });
  compare(
      "relu(x + b), forward" + shape, [&] { dl::map_over(with_row, relu_bias{}, a.y, x, b); },
      [&] { hand_relu_bias(a); });
  compare(
      "relu(x + b), backward" + shape,
      [&] { dl::map_transpose_over(with_row, relu_bias{}, a.z, {a.u, a.c}, x, b); },
      [&] { hand_relu_bias_back(a); });
  compare(
      "exp(x - row max)" + shape, [&] { dl::map_over(with_column, softmax_part{}, a.y, x, top); },
      [&] { hand_exp(a); });
  compare(
      "a x + y" + shape, [&] { dl::map(a.m * a.n, axpy{0.5f}, a.y, x, w); },
      [&] { hand_axpy(a, 0.5f); });
}

template <class Arrays> void reductions(const Arrays& a) {
  const std::string shape = " " + std::to_string(a.m) + "x" + std::to_string(a.n);
  const loops<2> all{1, {a.m * a.n}, {{0}, {1}}};
  const loops<2> rows{2, {a.m, a.n}, {{1, 0}, {a.n, 1}}};
  const loops<2> columns{2, {a.m, a.n}, {{0, 1}, {a.n, 1}}};
  const float* x = a.x;
  const auto reduce = [x](auto join, const loops<2>& l, float* y) {
    dl::map_reduce_over(join, l, itself{}, y, x);
  };
  compare("sum" + shape, [&] { reduce(dl::plus{}, all, a.c); }, [&] { a.c[1] = hand_sum(a); });
  compare("row sums" + shape, [&] { reduce(dl::plus{}, rows, a.c); }, [&] { hand_row_sums(a); });
  compare("row max" + shape, [&] { reduce(dl::greatest{}, rows, a.c); }, [&] { hand_row_max(a); });
  compare(
      "column sums" + shape, [&] { reduce(dl::plus{}, columns, a.c); },
      [&] { hand_column_sums(a); });
  if (a.m % 16 != 0) return;
  const loops<2> middle{3, {a.m / 16, 16, a.n}, {{a.n, 0, 1}, {16 * a.n, a.n, 1}}};
  compare(
      "sums over the middle" + shape, [&] { reduce(dl::plus{}, middle, a.y); },
      [&] { hand_middle_sums(a); });
}

/// No twin but our own contiguous loop: the bar is twice its time.
template <class Arrays> void transposed(const Arrays& a) {
  const loops<3> turned{2, {a.m, a.n}, {{a.n, 1}, {a.n, 1}, {1, a.m}}};
  const loops<3> alike{1, {a.m * a.n}, {{1}, {1}, {1}}};
  const float *x = a.x, *y = a.y;
  const auto [t, h] =
      bench::race(MPI_COMM_NULL, budget)([&] { dl::map_over(turned, plus_of{}, a.z, x, y); },
                                         [&] { dl::map_over(alike, plus_of{}, a.z, x, y); });
  const std::string shape = " " + std::to_string(a.m) + "x" + std::to_string(a.n);
  all_met = bench::report("x + transposed y, twin: x + y" + shape, t, {h}, 0.5) && all_met;
}

template <index_t N> void all(index_t rows) {
  const arrays<N> a(rows);
  forward_and_back(a);
  reductions(a);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    Kokkos::ScopeGuard kokkos(argc, argv);
    if (argc > 1 && std::string(argv[1]) == "--quick") budget = 0.1;
    bench::headline("loops of local/, one core, float");
    all<1024>(512);
    all<256>(64);
    all<10>(256);
    transposed(arrays<1024>(1024));
    std::printf("%s\n", all_met ? "all bars met" : "some bars missed");
  }
  MPI_Finalize();
  return 0;
}
