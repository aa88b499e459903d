// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a convolution net scale whose images are cut in height and width? A U-Net (net.hpp)
// learns to clean drawn pictures, on parts of the ranks that are there: bands, and tiles. Blocks
// are uneven; the losses are those of one rank. Ends with a table: what a rank computes, and the
// halos that it sends, as types predict and as MPI saw.
//
//   unet [STEPS [HEIGHT [WIDTH [RATE]]]]
//
// ranks: 1 2 8
// args: 2 38 26
// demo ranks: 8
#include <dimesh/grad/cost.hpp>
#include <dimesh/ledger/timeline.hpp>
#include <dimesh/optim/sgd.hpp>
#include <dimesh/reflect/describe.hpp>
#include <dimesh/runtime.hpp>
#include <dimesh/train/run.hpp>
#include <iostream>
#include <thread>

#include "../common/number.hpp"
#include "../common/result.hpp"
#include "census.hpp"
#include "net.hpp"

namespace dm = dimesh;
using dm::index_t;

struct rows : dm::axis<> {};
struct cols : dm::axis<> {};
struct tiles : dm::mesh<rows, cols> {};
using tiled = unet::cut<tiles, rows, cols>;
using images = unet::images<float, tiled>;
using weights = unet::weights<tiled, float>;

struct loss {
  template <class P, class X>
  constexpr auto operator()(const P& p, const X& seen, const X& clean) const {
    return dm::mean(dm::square(unet::forward{}(p, seen) - clean));
  }
};
struct training_step {
  template <class P, class X>
  constexpr auto operator()(const P& p, const X& seen, const X& clean) const {
    return dm::complete(dm::value_and_grad(loss{}, p)(seen, clean));
  }
};

/// Discs and stripes; and the same under a pattern that hides them.
float drawn(index_t i, index_t h, index_t w) {
  const auto far = (h - 11 * i) * (h - 11 * i) + (w - 17) * (w - 17);
  return far < 90 + 40 * i || (h + 2 * w) % 23 < 4 ? 1.f : 0.f;
}
float hidden(index_t i, index_t h, index_t w) {
  return drawn(i, h, w) + 0.6f * std::sin(static_cast<float>(7 * h + 13 * w * w + 5 * i));
}

struct traffic {
  index_t messages = 0, bytes = 0;
  bool operator==(const traffic&) const = default;
};
/// What a step costs the rank at the origin, and what MPI saw.
struct outcome {
  index_t ranks[2]{}, block[2]{};  // along rows and cols
  index_t flops = 0;
  traffic halos, halos_seen, sums, sums_seen;
  index_t most_bytes = 0;  // of halos that any rank sends
  std::vector<double> losses = {};
  double seconds = 1e9;  // the fastest step
};

traffic foreseen(const dm::event_log<tiles>& log, dm::event_kind kind) {
  traffic t;
  for (const dm::event& e : log.events)
    if (e.kind == kind) ++t.messages, t.bytes += e.bytes;
  return t;
}
traffic seen(const census::counts& c, census::operation op) { return {c.calls(op), c.bytes(op)}; }

struct settings {
  int steps = 10;
  unet::high height{250};
  unet::across width{190};
  double rate = 2e-3;
};

outcome train(const dm::grid<tiles>& g, const settings& s) {
  const unet::image batch{2};
  auto p = dm::make<weights>(g, unet::bright{1}, unet::fine{8}, unet::coarse{16});
  std::uint64_t key = 0;
  dm::for_each_tensor(
      [&](const auto&, auto& w) {
        index_t inputs = 1;
        for (int d = 0; d + 1 < w.rank; ++d)
          inputs *= w.shape().extents()[static_cast<std::size_t>(d)];
        dm::fill_normal(w, dm::random_key{++key}, 0, 1 / std::sqrt(static_cast<float>(inputs)));
      },
      p);
  const auto picture = [&](auto f) {
    return dm::generate<images>(
        g, [f](auto i, auto h, auto w, auto) { return f(i, h, w); }, batch, s.height, s.width,
        unet::bright{1});
  };
  const images shown = picture(hidden), clean = picture(drawn);
  const auto log = dm::events_of(training_step{}, p, shown, clean);
  outcome o;
  o.ranks[0] = g.state().sizes()[0], o.ranks[1] = g.state().sizes()[1];
  o.block[0] = shown.block<unet::high>().length, o.block[1] = shown.block<unet::across>().length;
  o.flops = log.total().flops();
  o.halos = foreseen(log, dm::event_kind::message);
  o.sums = foreseen(log, dm::event_kind::all_reduce);
  dm::training_run run(g, {.steps = s.steps}, {});
  run.loop.step = [&](index_t) -> dm::metrics {
    census::reset();
    const double began = dm::timeline::now();
    const auto [value, gradient] = training_step{}(p, shown, clean);
    dm::sgd{.rate = s.rate}(p, gradient);
    o.seconds = std::min(o.seconds, dm::timeline::now() - began);
    const auto sent = census::snapshot();
    o.halos_seen = seen(sent, census::operation::send);
    o.sums_seen = seen(sent, census::operation::all_reduce);
    return {{"loss", dm::value(value)}};
  };
  run.go();
  o.losses = run.losses();
  MPI_Allreduce(&o.halos_seen.bytes, &o.most_bytes, 1, MPI_INT64_T, MPI_MAX, g.everyone().handle());
  return o;
}

/// Waits for all ranks without taking a core from those that work.
void wait_for_all() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int done = 0; done == 0; std::this_thread::sleep_for(std::chrono::milliseconds(2)))
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

/// False where the losses are not those of one rank, or messages not those that types predict.
bool print(const std::vector<outcome>& all) {
  using report::format, report::grouped;
  report::text_table t{.headings = {{"", "block", "products", "of an even", "halos a step,",
                                     "bytes", "sums,", "most halo", "diff from", "fastest"},
                                    {"ranks", "of rank 0", "a rank", "share", "messages",
                                     "types = MPI", "bytes", "bytes", "one rank", "step"}}};
  bool agree = true;
  for (const outcome& o : all) {
    const index_t n = o.ranks[0] * o.ranks[1];
    const double apart = report::loss_difference(o.losses, all[0].losses);
    agree = agree && apart <= 1e-5 && o.halos == o.halos_seen && o.sums == o.sums_seen;
    t.rows.push_back(
        {std::to_string(o.ranks[0]) + " x " + std::to_string(o.ranks[1]),
         std::to_string(o.block[0]) + " x " + std::to_string(o.block[1]),
         format("%.2f Mflop", static_cast<double>(o.flops) / 1e6),
         format("%.3f", static_cast<double>(o.flops * n) / static_cast<double>(all[0].flops)),
         std::to_string(o.halos.messages) + (o.halos == o.halos_seen ? " =" : " not"),
         grouped(o.halos.bytes) + (o.halos == o.halos_seen ? " =" : " not"),
         grouped(o.sums.bytes) + (o.sums == o.sums_seen ? " =" : " not"), grouped(o.most_bytes),
         format("%.1e", apart), format("%.1f ms", 1e3 * o.seconds)});
  }
  std::cout << t.str();
  return agree;
}

int main(int argc, char** argv) {
  return dm::run(argc, argv, [&] {
    settings s;
    constexpr int most = 1 << 20;
    if (argc > 1) s.steps = report::number("unet", argv[1], 1, most);
    if (argc > 2) s.height.n = report::number("unet", argv[2], 1, most);
    if (argc > 3) s.width.n = report::number("unet", argv[3], 1, most);
    if (argc > 4) s.rate = report::number("unet", argv[4], 0.0, 1e6);
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    constexpr int shapes[][2] = {{1, 1}, {2, 1}, {1, 2}, {3, 1}, {4, 1}, {2, 2},
                                 {5, 1}, {3, 2}, {7, 1}, {8, 1}, {4, 2}};
    std::vector<outcome> all;
    for (const auto& [r, c] : shapes) {
      if (r * c > size) continue;
      MPI_Comm some = MPI_COMM_NULL;
      MPI_Comm_split(MPI_COMM_WORLD, rank < r * c ? 0 : MPI_UNDEFINED, rank, &some);
      if (some != MPI_COMM_NULL) {
        all.push_back(train(dm::grid<tiles>(some, rows{r}, cols{c}), s));
        MPI_Comm_free(&some);
      }
      wait_for_all();
    }
    if (rank != 0) return;
    std::cout << "A U-Net on two images of " << s.height.n << " x " << s.width.n << ", " << s.steps
              << " steps: loss " << all[0].losses.front() << " -> " << all[0].losses.back()
              << "\n\n";
    if (!print(all)) throw dm::error("unet: tiles disagree with one rank, or with their types");
    std::cout << "\nAll losses are those of one rank; halos and sums are as predicted.\n";
  });
}
