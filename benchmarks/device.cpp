// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How fast does a GPT train on a device, and how much of that are its products? GPT-2's smallest
// size: twelve layers, twelve heads, 768 wide, 1024 positions, AdamW, tied head; in float, and with
// bfloat16 activations. Beside it: the same products by cuBLAS alone. For a Kokkos with CUDA.
// ranks: 1
//
//   benchmarks/device [ROWS] [STEPS]
#include <dimesh/dimesh.hpp>
#include <dimesh/nn/initialize.hpp>
#include <dimesh/nn/language_model.hpp>
#include <dimesh/optim/adam.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "handwritten/cublas_step.hpp"
#include "support/symbol.hpp"

namespace {

namespace dm = dimesh;
namespace nn = dimesh::nn;

struct batch : dm::dim<> {
  using dim::dim;
};
struct length : dm::dim<1024> {};
struct model : dm::dim<768> {};
struct heads : dm::dim<12> {};
struct head : dm::dim<64> {};
struct hidden : dm::dim<3072> {};
struct vocab : dm::dim<50304> {};

template <class Activations> struct form : nn::transformer {
  using activations = Activations;
  using batch = ::batch;
  using length = ::length;
  using model = ::model;
  using heads = dm::shape<::heads>;
  using head = ::head;
  using hidden = ::hidden;
  using vocab = ::vocab;
  static constexpr int layers = 12;
};

struct ranks : dm::axis<> {};
struct line : dm::mesh<ranks> {};
using data = dm::layout<line, dm::split<batch, ranks>>;

struct result {
  double seconds, first_loss, last_loss;
};

template <class Activations> result train(const dm::grid<line>& g, dm::index_t rows, int steps) {
  using language_model = nn::language_model<data, form<Activations>>;
  auto p = dm::make<typename language_model::parameters>(g);
  nn::initialize(p, dm::random_key{1});
  const auto x = dm::generate<typename language_model::tokens>(g, symbol{0}, batch{rows});
  const auto y = dm::generate<typename language_model::tokens>(g, symbol{1}, batch{rows});
  const dm::adam optimizer{.rate = 3e-4, .weight_decay = 0.1};
  auto state = optimizer.start(p);
  const auto loss = [](const auto& q, const auto& a, const auto& b) {
    return language_model().loss(q, a, b);
  };
  std::vector<double> seconds;
  result r{};
  for (int step = 0; step < steps + 2; ++step) {
    Kokkos::fence();
    const double start = MPI_Wtime();
    const auto [value, gradient] = dm::complete(dm::value_and_grad(loss, p)(x, y));
    optimizer(p, gradient, state);
    Kokkos::fence();
    if (step >= 2) seconds.push_back(MPI_Wtime() - start);
    (step == 0 ? r.first_loss : r.last_loss) = dm::value(value);
  }
  std::sort(seconds.begin(), seconds.end());
  r.seconds = seconds[seconds.size() / 2];
  return r;
}

template <class Activations, class T>
void report(const char* name, const dm::grid<line>& g, dm::index_t rows, int steps) {
  const double twin =
      handwritten::cublas_step<T>{
          int(rows), length::extent, model::extent, heads::extent, hidden::extent, vocab::extent,
          12}
          .seconds();
  const result r = train<Activations>(g, rows, steps);
  if (g.rank() == 0)
    std::printf("| %s | %d | %.1f | %.0f | %.1f | %.2f | %.4f -> %.4f |\n", name, int(rows),
                r.seconds * 1e3, double(rows) * length::extent / r.seconds, twin * 1e3,
                twin / r.seconds, r.first_loss, r.last_loss);
}

}  // namespace

int main(int argc, char** argv) {
  return dm::run(argc, argv, [&] {
    const dm::index_t rows = std::max(1, argc > 1 ? std::atoi(argv[1]) : 8);
    const int steps = std::max(1, argc > 2 ? std::atoi(argv[2]) : 10);
    const dm::grid<line> g;
    if (g.rank() == 0)
      std::printf(
          "| activations | rows | ms/step | tokens/s | products by cuBLAS, ms | of that | "
          "loss |\n|---|--:|--:|--:|--:|--:|---|\n");
    report<void, float>("float", g, rows, steps);
    report<dm::bfloat16, dm::bfloat16>("bfloat16", g, rows, steps);
  });
}
