// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2
// What does each stage of an input pipeline cost beside the loop that one would write for it? And
// how long does a training step wait for batches that are made ahead of it? Bar for the latter:
// 0.98 of the speed of steps without input.
//
//   benchmarks/input [--quick]        mpirun -n 2 benchmarks/input
#include <dimesh/io/data/any_stage.hpp>
#include <dimesh/io/data/order.hpp>
#include <dimesh/io/data/pack.hpp>
#include <dimesh/io/data/prefetch.hpp>
#include <dimesh/io/data/sample.hpp>
#include <dimesh/io/data/text.hpp>
#include <dimesh/io/data/transform.hpp>
#include <dimesh/op/einsum.hpp>
#include <dimesh/runtime.hpp>

#include <cstdio>
#include <cstring>
#include <numeric>
#include <random>

#include "support/race.hpp"
#include "support/stages.hpp"

namespace {
namespace dm = dimesh;
using namespace bench;

struct data : dm::axis<> {};
struct pod : dm::mesh<data> {};
struct batch : dm::dim<64> {};
struct pixel : dm::dim<784> {};
struct hidden : dm::dim<> {};
using by_batch = dm::layout<pod, dm::split<batch, data>>;
template <class L> struct images {
  BOOST_HANA_DEFINE_STRUCT(images, (dm::tensor<float, L, batch, pixel>, x),
                           (dm::tensor<std::int32_t, L, batch>, y));
};

void stages() {
  const index_t n = 1000000;
  std::vector<index_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), index_t{0});
  const std::vector<index_t> sequence = order;
  const dm::random_permutation permutation(dm::random_key(7), n);
  for (index_t i = 0; i < n; ++i) order[static_cast<std::size_t>(i)] = permutation(i);
  const auto count = [&] {
    for (const index_t i : sequence) keep(i);
  };
  const auto looked_up = [&] {
    for (const index_t i : order) keep(sequence[static_cast<std::size_t>(i)]);
  };
  const in::numbers numbers(n);
  compare("numbers", n, [&] { read_all(numbers); }, count);
  compare(
      "shuffle, beside a table of places", n, [&] { read_all(numbers | in::shuffle(7)); },
      looked_up);
  compare("take and skip", n, [&] { read_all(numbers | in::skip(5) | in::take(n)); }, count);
  compare(
      "repeat(4) of a shuffle", n,
      [&] { read_all(in::numbers(n / 4) | in::shuffle(7) | in::repeat(4)); }, looked_up);
  compare("map", n, [&] { read_all(numbers | in::map([](index_t i) { return 3 * i; })); }, count);
  compare(
      "filter of one half, with its plan", n,
      [&] { read_all(numbers | in::filter([](index_t i) { return i % 2 == 0; })); }, count);
  compare(
      "mixture 3 : 1", n,
      [&] { read_all(in::mixture(7, {3, 1}, in::numbers(3 * n / 4), in::numbers(n / 4))); }, count);
  compare(
      "zip of two", n,
      [&] {
        const auto z = in::zip(numbers, numbers).epoch(0);
        for (index_t i = 0; i < z.size(); ++i) {
          const auto [a, b] = z(i);
          keep(a + b);
        }
      },
      [&] {
        for (index_t i = 0; i < n; ++i) {
          const auto at = static_cast<std::size_t>(i);
          keep(sequence[at] + order[at]);
        }
      });
  std::vector<std::vector<int>> sequences;
  for (index_t i = 0; i < 20000; ++i)
    sequences.emplace_back(static_cast<std::size_t>(5 + i * 7 % 40), 1);
  const in::records<std::vector<int>> source(sequences);
  compare(
      "pad to rows of 64, with a mask", 20000,
      [&] {
        const auto p = (source | in::pad(64, 0)).epoch(0);
        for (index_t i = 0; i < p.size(); ++i) used += first_of(std::get<0>(p(i)));
      },
      [&] {
        for (const auto& s : sequences) {
          std::vector<int> row(64, 0);
          std::vector<std::uint8_t> present(64, 0);
          std::copy(s.begin(), s.end(), row.begin());
          std::fill_n(present.begin(), s.size(), std::uint8_t{1});
          used += first_of(row) + first_of(present);
        }
      });
  compare(
      "pack into rows of 128", 20000,
      [&] {
        const auto p = (source | in::pack(128, 0)).epoch(0);
        for (index_t i = 0; i < p.size(); ++i) used += first_of(std::get<0>(p(i)));
      },
      [&] {
        std::vector<int> row(128), segment(128), position(128);
        std::size_t at = 0;
        for (const auto& s : sequences) {
          if (at + s.size() > 128) at = 0, used += first_of(row);
          for (std::size_t k = 0; k < s.size(); ++k, ++at)
            row[at] = s[k], segment[at] = 1, position[at] = static_cast<int>(k);
        }
      });
}

/// Pieces of a text that lies in memory; records drawn with replacement; a stage without its type.
void pieces() {
  const index_t n = 1000000, length = 128;
  const std::string text(static_cast<std::size_t>(n + length - 1), 'a');
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  const in::windows windows(in::contents("text", text), length, 1);
  const auto use = [](std::span<const std::uint8_t> w) { keep(w.front() + w.back()); };
  const auto in_turn = [&] {
    for (index_t i = 0; i < n; ++i) use({bytes + i, static_cast<std::size_t>(length)});
  };
  const auto read = [&](const auto& stage) {
    const auto pass = stage.epoch(0);
    for (index_t i = 0; i < pass.size(); ++i) use(pass(i));
  };
  compare("windows of a text", n, [&] { read(windows); }, in_turn);
  compare(
      "sample of windows, beside mt19937_64", n, [&] { read(windows | in::sample(7, n)); },
      [&] {
        std::mt19937_64 engine(7);
        std::uniform_int_distribution<index_t> any(0, n - 1);
        for (index_t i = 0; i < n; ++i)
          use({bytes + any(engine), static_cast<std::size_t>(length)});
      });
  const in::any_stage<std::span<const std::uint8_t>> any = windows;
  compare("any_stage of windows", n, [&] { read(any); }, in_turn);
}

void batches(const dm::grid<pod>& g) {
  const index_t n = 6400;
  const auto bytes = std::make_shared<std::vector<std::uint8_t>>(
      static_cast<std::size_t>(n * pixel::extent), std::uint8_t{7});
  const auto rows = [=](index_t i) {
    return std::tuple(
        std::span<const std::uint8_t>(bytes->data() + i * pixel::extent, pixel::extent),
        static_cast<std::int32_t>(i % 10));
  };
  const auto pipeline =
      in::numbers(n) | in::shuffle(7) | in::map(rows) | in::batch<images<by_batch>>(g, batch{});
  auto form = dm::make<images<by_batch>>(g);
  const auto loop = [&] {
    for (index_t b = 0; b < n / batch::extent; ++b) {
      float* to = form.x.data();
      for (index_t i = 0; i < form.x.block(0).length; ++i) {
        const std::uint8_t* from =
            bytes->data() + (b * batch::extent + form.x.block(0).offset + i) * pixel::extent;
        for (index_t k = 0; k < pixel::extent; ++k) *to++ = static_cast<float>(from[k]);
      }
      used += static_cast<std::size_t>(form.x.data()[0]);
    }
  };
  const auto read = [&](auto& load) {
    for (index_t b = 0; b < n / batch::extent; ++b)
      used += static_cast<std::size_t>(load.next().x.data()[0]);
  };
  // The budget ends on each rank at another time, and batches are collective: a fixed number.
  const auto timed = [&](const auto& f) {
    double least = 1e30;
    for (int k = 0; k < 5; ++k) {
      const double since = seconds();
      f();
      least = std::min(least, seconds() - since);
    }
    return least;
  };
  const double plain = timed(loop);
  for (const int threads : {0, 1, 2}) {
    auto load = pipeline | in::prefetch(threads, 8);
    const double mine = timed([&] { read(load); });
    if (talks)
      std::printf(
          "batches of 64 x 784, %d threads     %9.3f M records/s   plain loop %9.3f   "
          "ratio %.2f\n",
          threads, static_cast<double>(n) / mine / 1e6, static_cast<double>(n) / plain / 1e6,
          plain / mine);
  }
  // A step: two products, as of a small layer and its gradient.
  using weights = dm::tensor<float, by_batch, pixel, hidden>;
  weights w(g, hidden{512});
  dm::fill(w, 0.01f);
  const auto step = [&](const auto& x) {
    const auto y = dm::einsum<batch, hidden>(x, w);
    const auto z = dm::einsum<batch, pixel>(y, w);
    used += static_cast<std::size_t>(z.data()[0]);
  };
  for (const int threads : {0, 1}) {
    auto load = pipeline | in::prefetch(threads, 8);
    // Steps without input go through batches that lie in memory: as cold as any that is new.
    std::vector<std::remove_cvref_t<decltype(load.next().x)>> made;
    for (int i = 0; i < 8; ++i) made.push_back(load.next().x);
    std::size_t turn = 0;
    auto [fed, bare] = bench::race(MPI_COMM_WORLD, 8 * budget)(
        [&] { step(load.next().x); }, [&] { step(made[turn++ % made.size()]); });
    if (talks) {
      if (threads == 0)  // who makes its batches itself waits for them: to compare with
        std::printf("%-44s %11.2f %11.2f %15.3f\n", "steps that make their batches",
                    fed.counts() * 1e6, bare.counts() * 1e6, bare.counts() / fed.counts());
      else
        bench::report("steps whose batches a thread makes", fed, {bare}, 0.98);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  return dm::run(argc, argv, [&] {
    if (argc > 1 && std::strcmp(argv[1], "--quick") == 0) budget = 0.05;
    const dm::grid<pod> g;
    talks = g.rank() == 0;
    stages();
    pieces();
    batches(g);
    if (used == 1) std::puts("");  // so that nothing is left out
  });
}
