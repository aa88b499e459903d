// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do the loops of local/ cost beside one loop fused by hand? Both use the scalar functions of
// local/math.hpp, so that the loops alone differ. Bar: 0.95 of the hand-written loop's speed.
//
//   benchmarks/elementwise_kernel [--quick]
#include "dimesh/local/argmax.hpp"
#include "dimesh/local/map_transpose.hpp"

#include <cstring>
#include <vector>

#include "support/race.hpp"

namespace {

namespace dl = dimesh::local;
using dimesh::index_t;
using dl::step;

using in = dl::operand<const float, step::strided, step::unit>;
using out = dl::operand<float, step::strided, step::unit>;
using in_row = dl::operand<const float, step::zero, step::unit>;
using out_row = dl::operand<float, step::zero, step::unit>;
using in_column = dl::operand<const float, step::strided, step::zero>;
using out_column = dl::operand<float, step::strided, step::zero>;
using line = dl::operand<const float, step::unit>;

double budget = 1.0;
bool all_met = true;

/// Arrays are (m, N), row-major, in lines of cache of their own. Columns are static, as extents are
/// where they can be; the loops of local/ take that into account where rows are short.
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
  const dl::nest<2, dl::inner_extent(Arrays::n)> nest{{a.m, a.n}};
  const in x{a.x, {a.n, 1}}, w{a.y, {a.n, 1}}, ybar{a.z, {a.n, 1}};
  const in_row b{a.b, {0, 1}};
  const out y{a.z, {a.n, 1}}, h{a.y, {a.n, 1}}, xbar{a.u, {a.n, 1}}, wbar{a.v, {a.n, 1}};
  const out_row bbar{a.c, {0, 1}};
  compare(
      "gelu(x + b) * m, forward" + shape, [&] { dl::map(nest, gated{}, y, x, b, w); },
      [&] { hand_gated(a); });
  compare(
      "gelu(x + b) * m, backward" + shape,
      [&] {
        dl::map_transpose(nest, gated{}, ybar, dl::wanted{x, xbar}, dl::wanted{b, bbar},
                          dl::wanted{w, wbar});
      },
      [&] { hand_gated_back(a); });
  compare(
      "relu(x + b), forward" + shape, [&] { dl::map(nest, relu_bias{}, h, x, b); },
      [&] { hand_relu_bias(a); });
  compare(
      "relu(x + b), backward" + shape,
      [&] { dl::map_transpose(nest, relu_bias{}, ybar, dl::wanted{x, xbar}, dl::wanted{b, bbar}); },
      [&] { hand_relu_bias_back(a); });
  const in_column top{a.c, {1, 0}};
  compare(
      "exp(x - row max)" + shape, [&] { dl::map(nest, softmax_part{}, h, x, top); },
      [&] { hand_exp(a); });
  const dl::operand<float, step::unit> all{a.y, {1}};
  compare(
      "a x + y" + shape,
      [&] { dl::map(dl::nest<1>{{a.m * a.n}}, axpy{0.5f}, all, line{a.x, {1}}, line{a.y, {1}}); },
      [&] { hand_axpy(a, 0.5f); });
}

template <class Arrays> void reductions(const Arrays& a) {
  const std::string shape = " " + std::to_string(a.m) + "x" + std::to_string(a.n);
  const dl::nest<2, dl::inner_extent(Arrays::n)> nest{{a.m, a.n}};
  const in x{a.x, {a.n, 1}};
  const dl::operand<float, step::zero> one{a.c, {0}};
  compare(
      "sum" + shape, [&] { dl::reduce(dl::plus{}, dl::nest<1>{{a.m * a.n}}, one, line{a.x, {1}}); },
      [&] { a.c[1] = hand_sum(a); });
  const out_column rows{a.c, {1, 0}};
  compare(
      "row sums" + shape, [&] { dl::reduce(dl::plus{}, nest, rows, x); },
      [&] { hand_row_sums(a); });
  compare(
      "row max" + shape, [&] { dl::reduce(dl::greatest{}, nest, rows, x); },
      [&] { hand_row_max(a); });
  const out_row columns{a.c, {0, 1}};
  compare(
      "column sums" + shape, [&] { dl::reduce(dl::plus{}, nest, columns, x); },
      [&] { hand_column_sums(a); });
  if (a.m % 16 != 0) return;
  const dl::operand<float, step::strided, step::zero, step::unit> middle{a.y, {a.n, 0, 1}};
  const dl::operand<const float, step::strided, step::strided, step::unit> cube{a.x,
                                                                                {16 * a.n, a.n, 1}};
  compare(
      "sums over the middle" + shape,
      [&] {
        dl::reduce(dl::plus{}, dl::nest<3, dl::inner_extent(Arrays::n)>{{a.m / 16, 16, a.n}},
                   middle, cube);
      },
      [&] { hand_middle_sums(a); });
}

/// No twin but our own contiguous loop: the bar is twice its time.
template <class Arrays> void transposed(const Arrays& a) {
  const dl::nest<2, dl::inner_extent(Arrays::n)> nest{{a.m, a.n}};
  const in x{a.x, {a.n, 1}}, y{a.y, {a.n, 1}};
  const dl::operand<const float, step::unit, step::strided> turned{a.y, {1, a.m}};
  const out z{a.z, {a.n, 1}};
  const auto [t, h] = bench::race(MPI_COMM_NULL, budget)(
      [&] { dl::map(nest, plus_of{}, z, x, turned); }, [&] { dl::map(nest, plus_of{}, z, x, y); });
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
