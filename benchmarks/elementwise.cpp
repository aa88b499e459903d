// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do typed elementwise chains and reductions cost beside one loop fused by hand? Bar: 0.95 of
// its speed, forward and backward. The loops call the same scalar functions; their derivatives are
// written out. And what does an operation cost beside its loop? Bar: 50 ns.
//
//   benchmarks/elementwise [--quick]
#include <dimesh/dimesh.hpp>
#include <dimesh/op/reduce.hpp>

#include <cmath>
#include <cstring>
#include <vector>

#include "support/race.hpp"

namespace {

namespace dm = dimesh;

struct one : dm::axis<1> {};
struct alone : dm::mesh<one> {};
using plain = dm::layout<alone>;
struct row : dm::dim<> {};
struct col : dm::dim<> {};
using matrix = dm::tensor<float, plain, row, col>;
using vector = dm::tensor<float, plain, col>;

double budget = 1.0;
int bars = 0, met = 0;

struct gated {
  template <class X, class B, class M> KOKKOS_INLINE_FUNCTION auto operator()(X x, B b, M m) const {
    return dm::gelu(x + b) * m;
  }
};
struct biased_relu {
  template <class Z, class B> KOKKOS_INLINE_FUNCTION auto operator()(Z z, B b) const {
    return dm::relu(z + b);
  }
};

template <class F, class Twin>
void compare(const std::string& what, long rows, long columns, F&& f, Twin&& twin) {
  auto [typed, hand] = bench::race(MPI_COMM_NULL, budget)(f, twin);
  ++bars;
  met += bench::report(what + ", " + std::to_string(rows) + "x" + std::to_string(columns), typed,
                       {hand}, 0.95);
}

/// out[r, c] = gelu(x + b) * m
void gated_by_hand(long rows, long columns, const float* x, const float* b, const float* m,
                   float* out) {
  for (long i = 0; i < rows; ++i) {
    const float *xr = x + i * columns, *mr = m + i * columns;
    float* o = out + i * columns;
#pragma omp simd
    for (long j = 0; j < columns; ++j) o[j] = dm::gelu(xr[j] + b[j]) * mr[j];
  }
}

/// xbar[r, c], mbar[r, c], and bbar[c] summed over rows, all in one pass.
void gated_back_by_hand(long rows, long columns, const float* x, const float* b, const float* m,
                        const float* ybar, float* xbar, float* bbar, float* mbar) {
  std::fill_n(bbar, columns, 0.0f);
  for (long i = 0; i < rows; ++i) {
    const float *xr = x + i * columns, *mr = m + i * columns, *yr = ybar + i * columns;
    float *xb = xbar + i * columns, *mb = mbar + i * columns;
#pragma omp simd
    for (long j = 0; j < columns; ++j) {
      const float z = xr[j] + b[j];
      // gelu = z s(u), u = 2 sqrt(2/pi) (z + 0.044715 z^3)
      const float s = dm::sigmoid(1.5957691216f * z * (1 + 0.044715f * z * z));
      const float slope = s + z * s * (1 - s) * 1.5957691216f * (1 + 3 * 0.044715f * z * z);
      const float g = yr[j] * mr[j] * slope;
      xb[j] = g;
      mb[j] = yr[j] * z * s;
      bbar[j] += g;
    }
  }
}

/// The cotangents of x... as map's transpose makes them, in one pass.
template <class F, class Bar, class... X> void cotangents_of(const Bar& ybar, const X&... x) {
  namespace dd = dm::detail;
  constexpr unsigned all = (1u << sizeof...(X)) - 1;
  const dd::bound<dd::map_transpose_op<all, F, float, dm::value_of<X>...>, 0> op({F{}});
  std::tuple<X...> bars;
  const dd::tensor_core* const in[] = {&dd::core_of(ybar), &dd::core_of(x)...};
  std::apply(
      [&](auto&... bar) {
        (dd::core_of(bar).place_like(dd::core_of(x)), ...);
        dd::tensor_core* const to[] = {&dd::core_of(bar)...};
        const dd::tensor_core* from[sizeof...(X) + 1];
        std::copy(std::begin(in), std::end(in), from);
        dd::run_plain(op, dd::results(to, sizeof...(X)), from, sizeof...(X) + 1, true, nullptr);
      },
      bars);
}

void chains(const dm::grid<alone>& g, long rows, long columns) {
  const dm::shape<row, col> s(row{rows}, col{columns});
  matrix x(g, s), m(g, s), ybar(g, s), out(g, s), xbar(g, s), mbar(g, s);
  vector b(g, col{columns}), bbar(g, col{columns});
  for (dm::index_t i = 0; i < x.local_size(); ++i) {
    x.data()[i] = 0.01f * static_cast<float>(i % 601 - 300);
    m.data()[i] = 0.5f, ybar.data()[i] = 1.0f + static_cast<float>(i % 3);
    out.data()[i] = xbar.data()[i] = mbar.data()[i] = 0;
  }
  for (dm::index_t i = 0; i < b.local_size(); ++i) b.data()[i] = 0.1f, bbar.data()[i] = 0;

  compare(
      "gelu(x + b) * m, forward", rows, columns, [&] { auto y = dm::map(gated{}, x, b, m); },
      [&] { gated_by_hand(rows, columns, x.data(), b.data(), m.data(), out.data()); });
  compare(
      "gelu(x + b) * m, backward", rows, columns, [&] { cotangents_of<gated>(ybar, x, b, m); },
      [&] {
        gated_back_by_hand(rows, columns, x.data(), b.data(), m.data(), ybar.data(), xbar.data(),
                           bbar.data(), mbar.data());
      });
  compare(
      "relu(z + b), forward", rows, columns, [&] { auto r = dm::map(biased_relu{}, x, b); },
      [&] {
        for (long i = 0; i < rows; ++i) {
          const float *xr = x.data() + i * columns, *br = b.data();
          float* o = out.data() + i * columns;
#pragma omp simd
          for (long j = 0; j < columns; ++j) o[j] = std::max(xr[j] + br[j], 0.0f);
        }
      });
  compare(
      "relu(z + b), backward", rows, columns, [&] { cotangents_of<biased_relu>(ybar, x, b); },
      [&] {
        float *bb = bbar.data(), *br = b.data();
        std::fill_n(bb, columns, 0.0f);
        for (long i = 0; i < rows; ++i) {
          const float *xr = x.data() + i * columns, *yr = ybar.data() + i * columns;
          float* o = xbar.data() + i * columns;
#pragma omp simd
          for (long j = 0; j < columns; ++j) {
            const float v = xr[j] + br[j] > 0 ? yr[j] : 0.0f;
            o[j] = v;
            bb[j] += v;
          }
        }
      });
  compare(
      "x + m", rows, columns, [&] { auto r = x + m; },
      [&] {
        const float *p = x.data(), *q = m.data();
        float* o = out.data();
#pragma omp simd
        for (long i = 0; i < rows * columns; ++i) o[i] = p[i] + q[i];
      });
}

[[gnu::noinline]] void sum_by_hand(long n, const float* in, float* out) {
  float s = 0;
#pragma omp simd reduction(+ : s)
  for (long i = 0; i < n; ++i) s += in[i];
  *out = s;
}
[[gnu::noinline]] void row_sums_by_hand(long rows, long columns, const float* in, float* out) {
  for (long i = 0; i < rows; ++i) {
    float s = 0;
#pragma omp simd reduction(+ : s)
    for (long j = 0; j < columns; ++j) s += in[i * columns + j];
    out[i] = s;
  }
}
[[gnu::noinline]] void column_sums_by_hand(long rows, long columns, const float* in, float* out) {
  std::fill_n(out, columns, 0.0f);
  for (long i = 0; i < rows; ++i) {
#pragma omp simd
    for (long j = 0; j < columns; ++j) out[j] += in[i * columns + j];
  }
}
/// Loses NaN, as such loops do; the library's does not.
[[gnu::noinline]] void row_maxima_by_hand(long rows, long columns, const float* in, float* out) {
  for (long i = 0; i < rows; ++i) {
    float s = in[i * columns];
#pragma omp simd reduction(max : s)
    for (long j = 0; j < columns; ++j) s = in[i * columns + j] > s ? in[i * columns + j] : s;
    out[i] = s;
  }
}

void reductions(const dm::grid<alone>& g, long rows, long columns) {
  matrix x(g, row{rows}, col{columns});
  for (dm::index_t i = 0; i < x.local_size(); ++i)
    x.data()[i] = 0.01f * static_cast<float>(i % 601 - 300);
  std::vector<float> out(static_cast<std::size_t>(std::max(rows, columns)));
  float* const o = out.data();
  const float* const in = x.data();
  compare(
      "sum", rows, columns, [&] { auto r = dm::sum(x); },
      [&] { sum_by_hand(rows * columns, in, o); });
  compare(
      "sum over columns", rows, columns, [&] { auto r = dm::sum<col>(x); },
      [&] { row_sums_by_hand(rows, columns, in, o); });
  compare(
      "sum over rows", rows, columns, [&] { auto r = dm::sum<row>(x); },
      [&] { column_sums_by_hand(rows, columns, in, o); });
  compare(
      "max over columns", rows, columns, [&] { auto r = dm::max<col>(x); },
      [&] { row_maxima_by_hand(rows, columns, in, o); });
}

[[gnu::noinline]] void add_by_hand(long n, const float* p, const float* q, float* out) {
#pragma omp simd
  for (long i = 0; i < n; ++i) out[i] = p[i] + q[i];
}

/// What an operation costs beside its loop, of ten elements. Bar: 50 ns.
void overhead(const dm::grid<alone>& g) {
  constexpr dm::index_t n = 10;
  vector x(g, col{n}), y(g, col{n}), out(g, col{n});
  for (int i = 0; i < n; ++i) x.data()[i] = y.data()[i] = 1;
  float* const to = out.data();
  auto [add, loop, made] = bench::race(MPI_COMM_NULL, budget)(
      [&] { auto z = x + y; }, [&] { add_by_hand(n, x.data(), y.data(), to); },
      [&] { vector z(g, col{n}); });
  const double beside = (add.counts() - loop.counts()) * 1e9;
  ++bars;
  met += beside <= 50;
  std::printf(
      "\nten elements: x + y takes %.0f ns, of which its loop %.0f ns and making its result %.0f "
      "ns;\nbeside its loop %.0f ns <= 50 ns %s\n",
      add.counts() * 1e9, loop.counts() * 1e9, made.counts() * 1e9, beside,
      beside <= 50 ? "PASS" : "short");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--quick") == 0) budget = 0.1;
  return dm::run(argc, argv, [&] {
    const dm::grid<alone> g;
    bench::headline("float; twin: one fused loop by hand");
    for (const auto& [rows, columns] : {std::pair{16L, 256L}, {512L, 1024L}, {4096L, 1024L}}) {
      chains(g, rows, columns);
      reductions(g, rows, columns);
    }
    overhead(g);
    std::printf("%d of %d bars met\n", met, bars);
  });
}
