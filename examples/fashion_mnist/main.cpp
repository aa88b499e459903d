// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trains one network on real images under every layout of the Mesh-TensorFlow paper's table. The
// layouts are the lines of a set; the model (model.hpp) mentions none of them. Ends with a table
// of what each layout costs, predicted by its types and counted in MPI, and fails if layouts
// disagree.
//
// ranks: 8
// writes: a report and pictures, to --out
// args: --steps 40 --out fashion_mnist_test
// demo ranks: 8

#include <dimesh/grad/cost.hpp>
#include <dimesh/layout/layout_set.hpp>
#include <dimesh/optim/sgd.hpp>
#include <dimesh/show/draw.hpp>
#include <dimesh/train/memory_use.hpp>
#include <fstream>
#include <iostream>
#include <numeric>
#include <thread>

#include "../common/axes.hpp"
#include "../common/options.hpp"
#include "../common/progress.hpp"
#include "census.hpp"
#include "data.hpp"
#include "report.hpp"

struct lone : dm::axis<1> {};
struct ring : dm::axis<4> {};
struct rows : dm::axis<2> {};
struct cols : dm::axis<2> {};
struct deck : dm::axis<2> {};
struct single : dm::mesh<lone> {};
struct line : dm::mesh<ring> {};
struct square : dm::mesh<rows, cols> {};
struct cube : dm::mesh<rows, cols, deck> {};

/// Those of the paper's table.
using alone = dm::layout<single>;
using none = dm::layout<line>;
using by_batch = dm::layout<line, dm::split<batch, ring>>;
using by_hidden = dm::layout<line, dm::split<hidden, ring>>;
using by_io = dm::layout<line, dm::split<pixel, ring>>;
using batch_hidden = dm::layout<square, dm::split<batch, rows>, dm::split<hidden, cols>>;
using batch_io = dm::layout<square, dm::split<batch, rows>, dm::split<pixel, cols>>;
using io_hidden = dm::layout<square, dm::split<pixel, rows>, dm::split<hidden, cols>>;
using by_all =
    dm::layout<cube, dm::split<batch, rows>, dm::split<pixel, cols>, dm::split<hidden, deck>>;

constexpr dm::layout_set<alone, none, by_batch, by_hidden, by_io, batch_hidden, batch_io, io_hidden,
                         by_all>
    layouts{"one rank",   "none",        "batch",
            "hidden",     "io",          "batch x hidden",
            "batch x io", "io x hidden", "batch x io x hidden"};

struct settings {
  std::string data = "/usr/share/datasets/fashion-mnist", out = "demo-out";
  int epochs = 4, steps = 0;
  double rate = 0.02, decay = 0.9;
  unsigned seed = 1;
  std::vector<std::string> layouts = {};  // those to train; empty: all
};

/// The same parameters under every layout: random numbers belong to elements, not to ranks.
/// `off` multiplies them, to see what a change in the last digit does.
template <class L, class G> network<L> start(const G& g, unsigned seed, float off) {
  auto p = dm::zeros<network<L>>(g);
  const dm::random_key key{seed};
  dm::fill_normal(p.w1, key.fold(1), 0, off * std::sqrt(2.0f / pixel::extent));
  dm::fill_normal(p.w2, key.fold(2), 0, off * std::sqrt(2.0f / hidden::extent));
  return p;
}

/// Part of the test images that the network labels rightly.
template <class L, class G>
double accuracy(const network<L>& p, const image_set& test, const G& g) {
  auto x = dm::zeros<dm::tensor<float, L, batch, pixel>>(g);
  std::vector<dm::index_t> at(static_cast<std::size_t>(batch::extent));
  dm::index_t right = 0;
  for (dm::index_t b = 0; b < test.batches(); ++b) {
    std::iota(at.begin(), at.end(), b * batch::extent);
    test.fill_images(x, at.data());
    const auto guesses = dm::argmax<label>(classify{}(p, x));
    const auto labels = dm::generate<dm::tensor<std::int32_t, L, batch>>(g, [&](dm::index_t i) {
      return std::int32_t{test.labels.bytes()[static_cast<std::size_t>(b * batch::extent + i)]};
    });
    right += dm::value(dm::complete(dm::sum<batch>(dm::cast<std::int64_t>(guesses == labels))));
  }
  return static_cast<double>(right) / static_cast<double>(test.batches() * batch::extent);
}

/// Trains under layout L on the first `ranks` ranks. Every rank of these returns the result.
template <class L, class G>
report::layout_result train(const std::string& name, const G& g, const image_set& images,
                            const image_set& test, const settings& s, float off = 1) {
  using mesh = typename L::mesh;
  auto p = start<L>(g, s.seed, off);
  auto x = dm::zeros<dm::tensor<float, L, batch, pixel>>(g);
  auto target = dm::zeros<dm::tensor<float, L, batch, label>>(g);
  dm::momentum optimizer{.rate = s.rate, .decay = s.decay};
  auto state = optimizer.start(p);

  report::layout_result r;
  r.layout = name, r.mesh = dm::describe_mesh(g), r.ranks = g.ranks();
  dm::for_each_tensor([&](const auto&, const auto& t) { r.parameters_per_rank += t.local_size(); },
                      p);
  constexpr auto cost = dm::cost_of<training_step, network<dm::shaped<L>>,
                                    dm::tensor<float, dm::shaped<L>, batch, pixel>,
                                    dm::tensor<float, dm::shaped<L>, batch, label>>;
  r.bytes_predicted =
      report::by_axes<mesh>([&](unsigned mask) { return cost.value.counts.over[mask].bytes; });

  const auto per_epoch = images.batches();
  const auto steps = s.steps > 0 ? s.steps : static_cast<int>(s.epochs * per_epoch);
  std::vector<dm::index_t> order;
  std::ostream quiet(nullptr);
  report::progress_line progress(g.rank() == 0 ? std::cout : quiet, report::on_terminal(), name,
                                 steps);
  const auto began = std::chrono::steady_clock::now();
  dm::restart_peak_memory();
  for (int step = 0; step < steps; ++step) {
    if (step % per_epoch == 0)
      order = images.order(s.seed + static_cast<unsigned>(step / per_epoch));
    const auto* at = order.data() + step % per_epoch * batch::extent;
    images.fill_images(x, at);
    images.fill_targets(target, at);
    census::reset();
    const auto [loss, gradient] = training_step{}(p, x, target);
    const auto counted = census::snapshot();
    optimizer.rate =
        s.rate * (1 - static_cast<double>(step) / steps);  // down to 0 in a straight line
    optimizer(p, gradient, state);
    r.losses.push_back(dm::value(loss));
    progress.update(step + 1, r.losses.back());
    if (step + 1 < steps) continue;
    r.bytes_counted = report::by_axes<mesh>([&](unsigned mask) { return counted.bytes_on(mask); });
  }
  r.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  r.peak_bytes_per_rank = dm::memory_in_use().peak;
  r.test_accuracy = accuracy(p, test, g);
  return r;
}

/// Waits for all ranks without taking their processors: those that a layout does not use sleep.
void meet() {
  MPI_Request all = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &all);
  for (int done = 0; MPI_Test(&all, &done, MPI_STATUS_IGNORE), !done;)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

class job {
 public:
  job(const settings& s) : s_(s), images_(s.data, "train"), test_(s.data, "t10k") {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    if (rank_ == 0) std::filesystem::create_directories(s_.out);
  }

  /// Trains under one layout, if there are ranks enough.
  template <class L> void run(const std::string& name) {
    constexpr auto& sizes = L::mesh::static_sizes;
    const int ranks = static_cast<int>(
        std::accumulate(sizes.begin(), sizes.end(), dm::index_t{1}, std::multiplies<>{}));
    if (size_ < ranks) {
      if (rank_ == 0)
        std::cout << "left out: " << name << " needs " << ranks << " ranks, there are " << size_
                  << "\n";
      return;
    }
    MPI_Comm some = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank_ < ranks ? 0 : MPI_UNDEFINED, rank_, &some);
    if (some != MPI_COMM_NULL) {
      dm::grid<typename L::mesh> g(some);
      if (rank_ == 0) draw<L>(name, g);
      results_.push_back(train<L>(name, g, images_, test_, s_));
      if (ranks == 1)
        rounding_ = train<L>("one rank, last digit", g, images_, test_, s_, 1 + 0x1p-22f).losses;
      MPI_Comm_free(&some);
    }
    meet();
  }

  /// Training amplifies rounding: after some hundred steps two right programs differ visibly. How
  /// much is seen from one rank whose parameters start one digit off. A layout agrees if at no step
  /// it is more than ten times as far from one rank as that run has come so far.
  bool agrees(const report::layout_result& r) const {
    const auto& one = results_.front().losses;
    double allowed = 1e-6;
    for (std::size_t t = 0; t < one.size(); ++t) {
      allowed = std::max(allowed, std::abs(rounding_[t] - one[t]));
      if (!(std::abs(r.losses[t] - one[t]) <= 10 * allowed)) return false;
    }
    return report::bytes_agree(r);
  }

  /// The table, the report and the verdict; only on rank 0.
  int finish() {
    if (rank_ != 0) return 0;
    report::compare(results_);
    std::cout << "\n" << report::table(results_) << "\n";
    report::write_report(results_, s_.out);
    bool agree = true;
    for (const auto& r : results_)
      if (!agrees(r)) {
        agree = false;
        std::cout << "FAILED: " << r.layout
                  << " strays from one rank, or moved other bytes than its types predict.\n";
      }
    if (agree)
      std::cout << "All layouts agree with one rank to rounding (one rank, started one digit off, "
                   "strays by "
                << report::loss_difference(rounding_, results_.front().losses)
                << "),\nand moved the bytes that their types predict.\n";
    std::cout << "Report and pictures: " << s_.out << "\n";
    return agree ? 0 : 1;
  }

 private:
  template <class L, class G> void draw(const std::string& name, const G& g) {
    std::cout << "\n"
              << name << ": " << dm::describe<dm::tensor<float, L, pixel, hidden>>() << "\n"
              << dm::draw_text<dm::tensor<float, L, pixel, hidden>>(g);
    std::string file = name;
    for (char& c : file)
      if (c == ' ') c = '_';
    std::ofstream(s_.out + "/layout_" + file + ".svg")
        << dm::draw_svg<dm::tensor<float, L, pixel, hidden>>(g);
  }

  settings s_;
  image_set images_, test_;
  int rank_ = 0, size_ = 1;
  std::vector<report::layout_result> results_;
  std::vector<double> rounding_;  // the losses of one rank whose parameters start one digit off
};

int main(int argc, char** argv) {
  return dm::run(argc, argv, [&] {
    settings s;
    report::options o("Fashion-MNIST under every layout");
    o.add("--data", s.data, "folder with the IDX files");
    o.add("--out", s.out, "folder for the report and pictures");
    o.add("--epochs", s.epochs, "epochs of training");
    o.add("--steps", s.steps, "stop after so many steps");
    o.add("--rate", s.rate, "learning rate");
    o.add("--decay", s.decay, "decay of the momentum");
    o.add("--layouts", s.layouts, "train only under these layouts (and on one rank), by name")
        .split_at_commas()
        .among(layouts.names());
    o.add("--seed", s.seed, "seed of the parameters and of the order of the images");
    if (const auto done = o.parse(argc, argv)) return *done;

    job j(s);
    const auto run = [&j](std::string_view name) {
      layouts.visit(name, [&]<class L>(dm::layout_tag<L>) { j.run<L>(std::string(name)); });
    };
    run("one rank");
    for (const std::string& name : s.layouts.empty() ? layouts.names() : s.layouts)
      if (name != "one rank") run(name);
    return j.finish();
  });
}
