// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How fast does a model write? The small GPT of benchmarks/language_model, with what it keeps of
// each token, reads a prompt and goes on with the likeliest symbols; benchmarks/peers/generation.sh
// runs PyTorch's beside it. One text, and sixteen at once; on several ranks one text by heads and
// inner dims, sixteen by rows.
// ranks: 1 2
//
//   mpirun -n 2 benchmarks/generation [--quick]
#include <dimesh/dimesh.hpp>
#include <dimesh/nn/generate/generate.hpp>
#include <dimesh/nn/initialize.hpp>
#include <dimesh/nn/language_model.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

namespace dm = dimesh;
namespace nn = dimesh::nn;

template <dm::index_t N> struct batch : dm::dim<N> {};
struct length : dm::dim<256> {};
struct model : dm::dim<256> {};
struct heads : dm::dim<4> {};
struct head : dm::dim<64> {};
struct hidden : dm::dim<1024> {};
struct vocab : dm::dim<1024> {};

template <dm::index_t N> struct form : nn::transformer {
  using batch = ::batch<N>;
  using length = ::length;
  using model = ::model;
  using heads = dm::shape<::heads>;
  using head = ::head;
  using hidden = ::hidden;
  using vocab = ::vocab;
  static constexpr int layers = 4;
};

struct ranks : dm::axis<> {};
struct line : dm::mesh<ranks> {};
using by_model =
    dm::layout<line, dm::split<heads, ranks>, dm::split<hidden, ranks>, dm::split<vocab, ranks>>;
using by_rows = dm::layout<line, dm::split<batch<16>, ranks>>;

/// Seconds for `count` symbols in each row, after a prompt of 16.
template <class C, class Form>
double write(const dm::grid<line>& g, const nn::language_model<C, Form>& m,
             const nn::language_model_parameters<C, Form>& p, dm::index_t rows, dm::index_t count) {
  std::vector<nn::token_list> prompts(static_cast<std::size_t>(rows));
  for (std::size_t b = 0; b < prompts.size(); ++b)
    for (std::size_t i = 0; i < 16; ++i)
      prompts[b].push_back(static_cast<std::int32_t>((b * 131 + i * 17) % 1024));
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  const auto texts = nn::generate(m, p, g, prompts, {.count = count, .how = {.temperature = 0}});
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = MPI_Wtime() - start;
  return texts.back().size() == static_cast<std::size_t>(16 + count) ? seconds : 0;
}

/// The median of several; what a symbol costs once half of the length is written, beside the first
/// half's, says that it does not read its text anew.
template <class C, class Form> void report(const dm::grid<line>& g, dm::index_t rows, bool quick) {
  const nn::language_model<C, Form> m;
  auto p = dm::make<nn::language_model_parameters<C, Form>>(g);
  nn::initialize(p, dm::random_key{1});
  const int rounds = quick ? 3 : 15;
  (void)write(g, m, p, rows, 8);
  std::vector<double> all, half;
  for (int round = 0; round < rounds; ++round) {
    half.push_back(write(g, m, p, rows, 112));
    all.push_back(write(g, m, p, rows, 224));
  }
  std::sort(all.begin(), all.end());
  std::sort(half.begin(), half.end());
  const auto middle = static_cast<std::size_t>(rounds / 2);
  const double first = half[middle], second = all[middle] - half[middle];
  if (g.rank() == 0)
    std::printf(
        "generation  batch %2d  ranks %d  %8.0f tokens/s  %7.3f ms a step  (first half "
        "%.3f, second %.3f)\n",
        static_cast<int>(rows), g.ranks(), static_cast<double>(rows) * 224 / all[middle],
        1e3 * all[middle] / 224, 1e3 * first / 112, 1e3 * second / 112);
}

}  // namespace

int main(int argc, char** argv) {
  return dm::run(argc, argv, [&] {
    const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
    const dm::grid<line> g;
    report<by_model, form<1>>(g, 1, quick);
    report<by_rows, form<16>>(g, 16, quick);
  });
}
