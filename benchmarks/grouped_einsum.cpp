// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a product of rows in groups cost beside a hand-written loop of CBLAS (and oneDNN) calls
// over the same blocks, one a group? Bar: 0.98 of the better one's speed, forward and for both
// gradients, with groups of one length, of very different ones, and with many that are empty.
//
//   benchmarks/grouped_einsum [--quick]
#include <dimesh/dimesh.hpp>
#include <dimesh/op/grouped_einsum.hpp>

#ifdef DIMESH_WITH_ONEDNN
#include <dnnl.h>
#endif
#ifdef DIMESH_WITH_CBLAS
#include <cblas.h>
#endif

#include <cmath>
#include <cstring>
#include <numeric>

#include "support/race.hpp"

namespace {

namespace dm = dimesh;

struct one : dm::axis<1> {};
struct alone : dm::mesh<one> {};
using plain = dm::layout<alone>;
struct token : dm::dim<> {};
struct expert : dm::dim<> {};
template <int N> struct d_in : dm::dim<N> {};
template <int N> struct d_out : dm::dim<N> {};

double budget = 1.5;
int bars = 0, met = 0;

/// c[m, n] = op(a) . op(b), with row lengths of the arrays as they are stored; no extent is 0.
void blas(bool ta, bool tb, int m, int n, int k, const float* a, int lda, const float* b, int ldb,
          float* c, int ldc) {
#ifdef DIMESH_WITH_CBLAS
  cblas_sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, m, n,
              k, 1, a, lda, b, ldb, 0, c, ldc);
#endif
}
void onednn(bool ta, bool tb, int m, int n, int k, const float* a, int lda, const float* b, int ldb,
            float* c, int ldc) {
#ifdef DIMESH_WITH_ONEDNN
  dnnl_sgemm(ta ? 'T' : 'N', tb ? 'T' : 'N', m, n, k, 1, a, lda, b, ldb, 0, c, ldc);
#endif
}

/// The loops by hand: y = x . w, xbar = y . w^T, wbar = x^T . y, group by group.
template <class Gemm> struct by_hand {
  const std::vector<int>& lengths;
  int k, n;
  Gemm gemm;
  void forward(const float* x, const float* w, float* y) const {
    for (const int m : lengths) {
      if (m > 0) gemm(false, false, m, n, k, x, k, w, n, y, n);
      x += m * k, y += m * n, w += k * n;
    }
  }
  void of_x(const float* y, const float* w, float* x) const {
    for (const int m : lengths) {
      if (m > 0) gemm(false, true, m, k, n, y, n, w, n, x, k);
      x += m * k, y += m * n, w += k * n;
    }
  }
  void of_w(const float* x, const float* y, float* w) const {
    for (const int m : lengths) {
      if (m > 0)
        gemm(true, false, k, n, m, x, k, y, n, w, n);
      else
        std::fill_n(w, k * n, 0.0f);
      x += m * k, y += m * n, w += k * n;
    }
  }
};

template <class X> void fill(X& x, double scale) {
  for (dm::index_t i = 0; i < x.local_size(); ++i)
    x.data()[i] = static_cast<float>(scale * static_cast<double>(i % 17 - 8));
}
template <class X> void compare(const X& x, const X& y) {
  for (dm::index_t i = 0; i < x.local_size(); i += 97)
    if (!(std::abs(x.data()[i] - y.data()[i]) <= 1e-3f * (1 + std::abs(y.data()[i]))))
      std::printf("DIFFERS at %ld: %g, %g\n", static_cast<long>(i), double(x.data()[i]),
                  double(y.data()[i]));
}

template <int K, int N>
void measure(const dm::grid<alone>& grid, const std::vector<int>& lengths, const char* note) {
  const auto groups = static_cast<dm::index_t>(lengths.size());
  const dm::index_t rows = std::accumulate(lengths.begin(), lengths.end(), 0);
  dm::tensor<float, plain, token, d_in<K>> x(grid, token{rows}), xbar(grid, token{rows});
  dm::tensor<float, plain, expert, d_in<K>, d_out<N>> w(grid, expert{groups}),
      wbar(grid, expert{groups});
  dm::tensor<float, plain, token, d_out<N>> y(grid, token{rows});
  dm::tensor<int, plain, expert> many(grid, expert{groups});
  std::copy(lengths.begin(), lengths.end(), many.data());
  fill(x, 0.25), fill(w, 0.125), fill(y, 0.25);
  const dm::detail::grouped_einsum_op<float, int> op{&dm::detail::facts_of_dim<token>,
                                                     &dm::detail::facts_of_dim<expert>};
  const auto forward = [&] {
    return dm::grouped_einsum<token, expert, token, d_out<N>>(x, w, many);
  };
  // The gradients as the tape runs them.
  const auto of_x = [&] { return dm::detail::apply_as<dm::spec_of<decltype(x)>>(op, y, w, many); };
  const auto of_w = [&] { return dm::detail::apply_as<dm::spec_of<decltype(w)>>(op, y, x, many); };
  const by_hand<decltype(&blas)> with_blas{lengths, K, N, &blas};
  const by_hand<decltype(&onednn)> with_onednn{lengths, K, N, &onednn};
  const bench::race r(MPI_COMM_NULL, budget);
  const auto against = [&](const char* way, auto typed, auto hand, auto& out) {
    const auto ours = typed();
    const auto one_twin = [&] { hand(with_blas); };
    const auto other_twin = [&] { hand(with_onednn); };
    std::vector<bench::sample> twins;
    bench::sample t;
#if defined(DIMESH_WITH_CBLAS) && defined(DIMESH_WITH_ONEDNN)
    one_twin();
    compare(ours, out);
    const auto [s0, s1, s2] = r([&] { auto z = typed(); }, one_twin, other_twin);
    t = s0, twins = {s1, s2};
#elif defined(DIMESH_WITH_ONEDNN)
    other_twin();
    compare(ours, out);
    const auto [s0, s2] = r([&] { auto z = typed(); }, other_twin);
    t = s0, twins = {s2};
#else
    one_twin();
    compare(ours, out);
    const auto [s0, s1] = r([&] { auto z = typed(); }, one_twin);
    t = s0, twins = {s1};
#endif
    char what[96];
    std::snprintf(what, sizeof what, "%ld rows %ld groups %dx%d %s %s", static_cast<long>(rows),
                  static_cast<long>(groups), K, N, way, note);
    ++bars;
    met += bench::report(what, t, twins, 0.98);
  };
  dm::tensor<float, plain, token, d_out<N>> out(grid, token{rows});
  against("y", forward, [&](const auto& h) { h.forward(x.data(), w.data(), out.data()); }, out);
  against("xbar", of_x, [&](const auto& h) { h.of_x(y.data(), w.data(), xbar.data()); }, xbar);
  against("wbar", of_w, [&](const auto& h) { h.of_w(x.data(), y.data(), wbar.data()); }, wbar);
}

/// `groups` lengths that add up to about `rows`: one long one, many short ones, some none at all.
std::vector<int> skewed(int groups, int rows) {
  std::vector<int> lengths;
  for (int g = 0; g < groups; ++g)
    lengths.push_back(g % 4 == 3 ? 0 : g == 1 ? rows / 2 : rows / (2 * groups) + 5 * g % 7);
  return lengths;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--quick") == 0) budget = 0.2;
  return dm::run(argc, argv, [&] {
    const dm::grid<alone> grid;
    bench::headline("groups; twin: CBLAS, oneDNN by hand");
    measure<256, 1024>(grid, std::vector<int>(8, 128), "equal");
    measure<256, 1024>(grid, skewed(8, 1024), "skewed");
    measure<256, 64>(grid, std::vector<int>(64, 16), "short");
    measure<256, 64>(grid, skewed(64, 1024), "skewed");
    measure<64, 64>(grid, skewed(256, 512), "tiny");
    std::printf("%d of %d bars met\n", met, bars);
  });
}
