// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How much of the ideal does a pipeline reach? Eight feed-forward layers with residuals, 256 wide,
// 1024 inside, 32 micro-batches of 32 rows, float; half of the layers on each of two ranks, beside
// the same layers on one rank, by `accumulate` or as a pipeline of one stage, whichever is faster
// (both ranks do so at once, each for itself, so that both cores are busy). Ideal: K M / (M + K -
// 1) times as fast. Bars: 0.93 of it; the engine, one stage beside `accumulate`, 0.02 of a step,
// and so the same operations and messages of cells that only multiply by a number.
// benchmarks/peers/pipeline.sh runs the same in PyTorch in turns with this.
// ranks: 2
//
//   mpirun -n 2 benchmarks/pipeline [--quick]     4 micro-batches
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/accumulate.hpp>
#include <dimesh/memory/pool.hpp>
#include <dimesh/pipeline/pipeline.hpp>
#include <dimesh/pipeline/schedules.hpp>
#include <dimesh/pipeline/zero_bubble.hpp>

#include <cstdio>
#include <cstring>

#include "support/race.hpp"

namespace {

namespace dm = dimesh;

struct rows : dm::dim<32> {};
struct width : dm::dim<256> {};
struct inside : dm::dim<1024> {};
struct stage : dm::axis<> {};
struct pod : dm::mesh<stage> {};
constexpr std::size_t depth = 8;
using everywhere = dm::layout<pod>;
template <int K> using there = dm::layout<pod, dm::placed<stage, K>>;
using input = dm::tensor<float, everywhere, rows, width>;

template <class L> struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer, (dm::tensor<float, L, width, inside>, up),
                           (dm::tensor<float, L, inside>, bias),
                           (dm::tensor<float, L, inside, width>, down));
};
constexpr auto block = [](const auto& p, const auto& x) {
  const auto h = dm::relu(dm::einsum<rows, inside>(x, p.up) + p.bias);
  return x + dm::einsum<rows, width>(h, p.down);
};
const auto squares = [](const auto& y, int) { return dm::sum(y * y); };

template <class W> void fill(W& weights) {
  std::uint64_t seed = 1;
  dm::for_each_tensor(
      [&seed](const auto&, auto& w) { dm::fill_uniform(w, dm::random_key{seed++}, -0.03f, 0.03f); },
      weights);
}

/// The layers in cells at K..., on a grid with as many ranks.
template <int... K> struct staged {
  static constexpr auto count = static_cast<int>(sizeof...(K));
  dm::grid<pod> g;
  int micros;
  std::tuple<std::array<layer<there<K>>, depth / sizeof...(K)>...> weights;
  std::vector<input> x;

  staged(MPI_Comm comm, int m) : g(comm, stage{sizeof...(K)}), micros(m) {
    weights = std::make_tuple(dm::make<std::array<layer<there<K>>, depth / sizeof...(K)>>(g)...);
    fill(weights);
    for (int i = 0; i < m; ++i)
      x.push_back(dm::normal<input>(g, dm::random_key{100 + static_cast<std::uint64_t>(i)}, 0, 1));
  }
  auto inputs() const {
    return [this](int i) { return x[static_cast<std::size_t>(i)]; };
  }
  static auto net() { return dm::pipeline<stage>(dm::cell<K>(dm::each_of(block))...); }
  template <class S> void step(const S& s, bool blocking = false) const {
    (void)net().value_and_grad(s, weights, inputs(), squares, {.blocking = blocking});
  }
  template <class S> void memory(const char* name, const S& s) const {
    const auto told = net().forecast(s, weights, inputs(), squares);
    step(s);
    auto& pool = dm::detail::pool::instance();
    pool.restart_peak();
    const dm::index_t before = pool.figures().live;
    step(s);
    dm::index_t most[2] = {told.peak, pool.figures().peak - before};
    MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    if (g.rank() == 0)
      std::printf("%-44s %11lld bytes forecast, %lld counted\n", name,
                  static_cast<long long>(most[0]), static_cast<long long>(most[1]));
  }
};

/// The same operations and messages, of cells that compute next to nothing: what the engine takes.
template <int... K> struct idle {
  dm::grid<pod> g;
  std::tuple<dm::tensor<float, there<K>>...> weights;
  input x;
  explicit idle(MPI_Comm comm) : g(comm, stage{sizeof...(K)}), x(dm::zeros<input>(g)) {
    weights = std::make_tuple(dm::zeros<dm::tensor<float, there<K>>>(g)...);
  }
  static constexpr auto scale = [](const auto& w, const auto& v) { return v * w; };
  template <class S> void step(const S& s) const {
    (void)dm::pipeline<stage>(dm::cell<K>(scale)...)
        .value_and_grad(s, weights, [this](int) { return x; }, squares);
  }
};

/// The same without a pipeline: all layers here, gradients summed up over the micro-batches.
struct alone {
  dm::grid<pod> g{MPI_COMM_SELF, stage{1}};
  std::array<layer<everywhere>, depth> weights = dm::make<std::array<layer<everywhere>, depth>>(g);
  std::vector<input> x;
  explicit alone(int m) {
    fill(weights);
    for (int i = 0; i < m; ++i)
      x.push_back(dm::normal<input>(g, dm::random_key{100 + static_cast<std::uint64_t>(i)}, 0, 1));
  }
  void step() const {
    const auto f = [](const auto& w, const auto& v) {
      return squares(dm::each_of(block)(w, v), 0);
    };
    (void)dm::accumulate(static_cast<dm::index_t>(x.size()), [&](dm::index_t i) {
      return dm::value_and_grad(f, weights)(x[static_cast<std::size_t>(i)]);
    });
  }
};

/// A sample as long as the ideal pipeline would take.
bench::sample ideally(bench::sample s, int stages, int micros) {
  for (double& t : s.seconds) t *= double(micros + stages - 1) / (stages * micros);
  return s;
}

int run(int micros) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const alone serial(micros);
  const staged<0> one(MPI_COMM_SELF, micros);
  const staged<0, 1> two(MPI_COMM_WORLD, micros);
  const dm::one_f_one_b s{2, micros};
  const dm::gpipe all{2, micros};
  const dm::zb_h1 late{2, micros};
  const idle<0> idle_one(MPI_COMM_SELF);
  const idle<0, 1> idle_two(MPI_COMM_WORLD);
  const bench::race race(MPI_COMM_WORLD, 25.0, 5);
  const auto [plain, engine, fast, whole, blocking, parts, turns, turns_of_two] = race(
      [&] { serial.step(); }, [&] { one.step(dm::one_f_one_b{1, micros}); }, [&] { two.step(s); },
      [&] { two.step(all); }, [&] { two.step(all, true); }, [&] { two.step(late); },
      [&] { idle_one.step(dm::one_f_one_b{1, micros}); }, [&] { idle_two.step(s); });
  const std::vector<bench::sample> ideal{ideally(plain, 2, micros), ideally(engine, 2, micros)};
  if (rank == 0) {
    bench::headline("a pipeline of two stages beside the ideal one");
    bench::report("1F1B", fast, ideal, 0.93);
    bench::report("GPipe", whole, ideal, 0.93);
    bench::report("ZB-H1", parts, ideal, 0.93);
    bench::report("GPipe beside blocking messages", whole, {blocking}, 1);
    bench::report("one stage beside accumulate", engine, {plain}, 1.02, true);
    bench::report("the engine alone, of a step of one stage", turns, {engine}, 0.02, true);
    bench::report("engine and messages, of a step of two", turns_of_two, {fast}, 0.02, true);
  }
  two.memory("memory, 1F1B", s), two.memory("memory, GPipe", all),
      two.memory("memory, ZB-H1", late);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return dm::run(argc, argv, [&] {
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != 2) throw dm::error("pipeline: run it on 2 ranks");
    return run(argc > 1 && std::strcmp(argv[1], "--quick") == 0 ? 4 : 32);
  });
}
