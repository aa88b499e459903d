// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How long does a training step of a small GPT take, and how much of the processor does it use? The
// model of benchmarks/peers/gpt_torch.py, which runs it in PyTorch: four layers, four heads, 256
// wide, 1024 symbols, AdamW, tied head; in float, and with bfloat16 activations. The batch is split
// over the ranks: four rows in all (strong scaling), and four a rank (weak). With a Kokkos that has
// OpenMP a rank computes on OMP_NUM_THREADS cores: scripts/bench.sh --openmp.
// ranks: 1 2
//
//   mpirun -n 2 benchmarks/language_model [STEPS]
#include <dimesh/dimesh.hpp>
#include <dimesh/nn/initialize.hpp>
#include <dimesh/nn/language_model.hpp>
#include <dimesh/optim/adam.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

#include "support/symbol.hpp"

namespace {

namespace dm = dimesh;
namespace nn = dimesh::nn;

struct batch : dm::dim<> {
  using dim::dim;
};
template <dm::index_t N> struct length : dm::dim<N> {};
struct model : dm::dim<256> {};
struct heads : dm::dim<4> {};
struct head : dm::dim<64> {};
struct hidden : dm::dim<1024> {};
struct vocab : dm::dim<1024> {};

template <dm::index_t N, class Activations> struct form : nn::transformer {
  using activations = Activations;
  using batch = ::batch;
  using length = ::length<N>;
  using model = ::model;
  using heads = dm::shape<::heads>;
  using head = ::head;
  using hidden = ::hidden;
  using vocab = ::vocab;
  static constexpr int layers = 4;
};

struct ranks : dm::axis<> {};
struct line : dm::mesh<ranks> {};
using data = dm::layout<line, dm::split<batch, ranks>>;

/// Multiply-adds that this processor's widest units do in a second, times two: sixteen sums of
/// their own, nothing but registers.
double peak_flops() {
#ifdef __CUDACC__  // what computes is no core of this processor
  return std::numeric_limits<double>::quiet_NaN();
#else
#if defined(__AVX512F__)
  constexpr int bytes = 64;
#elif defined(__AVX__)
  constexpr int bytes = 32;
#else
  constexpr int bytes = 16;
#endif
  using vector [[gnu::vector_size(bytes)]] = float;  // a register
  vector sum[16] = {}, a = vector{} + 1.0f, b = vector{} + 1e-9f;
  double best = 0;
  for (int round = 0; round < 30; ++round) {
    constexpr int turns = 1'000'000;
    const double start = MPI_Wtime();
    for (int i = 0; i < turns; ++i) {
      asm volatile("" : "+x"(a), "+x"(b));  // the values might have changed
#pragma GCC unroll 16
      for (auto& s : sum) s += a * b;
    }
    for (auto& s : sum) asm volatile("" ::"x"(s));
    best = std::max(best, turns * 16.0 * (bytes / 4) * 2 / (MPI_Wtime() - start));
  }
  return best;
#endif
}

/// Cores on which a rank computes.
int threads() { return Kokkos::DefaultHostExecutionSpace().concurrency(); }

/// Floating-point operations of a step: products forward, and twice as many backward.
double step_flops(double rows, double positions) {
  const double c = model::extent, v = vocab::extent, layers = 4;
  return 3 * rows * positions * (24 * layers * c * c + 2 * v * c + 4 * layers * positions * c);
}

template <dm::index_t N, class Activations = void> struct trainer {
  using M = form<N, Activations>;
  using model = nn::language_model<data, M>;
  using tokens = typename model::tokens;

  /// Seconds of each of so many steps.
  static std::vector<double> run(const dm::grid<line>& g, dm::index_t rows, int steps) {
    auto p = dm::make<typename model::parameters>(g);
    nn::initialize(p, dm::random_key{1});
    const auto x = dm::generate<tokens>(g, symbol{0}, batch{rows});
    const auto y = dm::generate<tokens>(g, symbol{1}, batch{rows});
    const dm::adam optimizer{.rate = 3e-4, .weight_decay = 0.1};
    auto state = optimizer.start(p);
    const auto loss = [](const auto& q, const auto& a, const auto& b) {
      return model().loss(q, a, b);
    };
    std::vector<double> seconds;
    for (int step = 0; step < steps + 3; ++step) {
      MPI_Barrier(MPI_COMM_WORLD);
      const double start = MPI_Wtime();
      const auto [value, gradient] = dm::complete(dm::value_and_grad(loss, p)(x, y));
      optimizer(p, gradient, state);
      MPI_Barrier(MPI_COMM_WORLD);
      if (step >= 3) seconds.push_back(MPI_Wtime() - start);
    }
    std::sort(seconds.begin(), seconds.end());
    return seconds;
  }

  static void report(const dm::grid<line>& g, dm::index_t rows, int steps, double peak) {
    const auto t = run(g, rows, steps);
    const double median = t[t.size() / 2], flops = step_flops(static_cast<double>(rows), N);
    if (g.rank() == 0)
      std::printf("| %s | %4d | %d | %d | %6.1f | %.1f .. %.1f | %7.0f | %6.1f | %3.0f %% |\n",
                  std::is_void_v<Activations> ? "float" : "bfloat16", int(N), g.ranks(), int(rows),
                  median * 1e3, t.front() * 1e3, t.back() * 1e3,
                  static_cast<double>(rows) * N / median, flops / median * 1e-9,
                  100 * flops / median / (peak * g.ranks() * threads()));
  }
};

}  // namespace

int main(int argc, char** argv) {
  return dm::run(argc, argv, [&] {
    const int steps = std::max(1, argc > 1 ? std::atoi(argv[1]) : 25);
    const dm::grid<line> g;
    double peak = peak_flops();
    MPI_Allreduce(MPI_IN_PLACE, &peak, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (g.rank() == 0)
      std::printf(
          "peak of one core: %.0f GFLOP/s; threads a rank: %d\n\n| activations | T | ranks | rows "
          "| ms/step | least .. greatest | tokens/s | GFLOP/s | of peak |\n"
          "|---|--:|--:|--:|--:|---|--:|--:|--:|\n",
          peak * 1e-9, threads());
    for (const dm::index_t rows : {dm::index_t{4}, dm::index_t{4} * g.ranks()}) {
      if (rows == 4 || g.ranks() > 1) {
        trainer<128>::report(g, rows, steps, peak);
        trainer<256>::report(g, rows, steps, peak);
        trainer<128, dm::bfloat16>::report(g, rows, steps, peak);
        trainer<256, dm::bfloat16>::report(g, rows, steps, peak);
      }
      if (g.ranks() == 1) break;
    }
  });
}
