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
#include <dimesh/io/data/agree.hpp>
#include <dimesh/io/data/prefetch.hpp>
#include <dimesh/layout/layout_set.hpp>
#include <dimesh/optim/schedule.hpp>
#include <dimesh/optim/sgd.hpp>
#include <dimesh/runtime.hpp>
#include <dimesh/show/draw.hpp>
#include <filesystem>

#include "../common/evaluation.hpp"
#include "../common/image_source.hpp"
#include "../common/measured.hpp"
#include "../common/options.hpp"
#include "../common/report.hpp"
#include "../common/some_ranks.hpp"
#include "model.hpp"

struct lone : dm::axis<1> {};
struct ring : dm::axis<4> {};
struct rows : dm::axis<2> {};
struct cols : dm::axis<2> {};
struct deck : dm::axis<2> {};
struct single : dm::mesh<lone> {};
struct line : dm::mesh<ring> {};
struct square : dm::mesh<rows, cols> {};
struct cube : dm::mesh<rows, cols, deck> {};
struct everybody : dm::axis<> {};
struct world : dm::mesh<everybody> {};

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

struct image_sets {
  labelled_images train, test;
};

/// Part of the images that the network labels rightly.
template <class L> double accuracy(const network<L>& p, const images<L>& b) {
  const auto hits = dm::argmax<label>(classify{}(p, b.x)) == b.right;
  return dm::value(dm::complete(dm::mean<batch>(dm::cast<double>(hits))));
}

/// Trains under layout L, from the same parameters under every one: random numbers belong to
/// elements, not to ranks. `off` multiplies them, to see what a change in the last digit does.
template <class L, class G>
report::run_result train(const std::string& name, const G& g, const image_sets& sets,
                         const settings& s, float off = 1) {
  auto p = dm::zeros<network<L>>(g);
  dm::fill_normal(p.w1, dm::random_key{s.seed}.fold(1), 0, off * std::sqrt(2.0f / pixel::extent));
  dm::fill_normal(p.w2, dm::random_key{s.seed}.fold(2), 0, off * std::sqrt(2.0f / hidden::extent));
  dm::momentum optimizer{.decay = s.decay};
  auto state = optimizer.start(p);
  auto load = sets.train | in::batch<images<L>>(g, batch{}) | in::prefetch(0);
  auto unseen = sets.test | in::batch<images<L>>(g, batch{}) | in::prefetch(0);
  constexpr auto cost = dm::cost_of<training_step, network<dm::shaped<L>>, images<dm::shaped<L>>>;
  auto r = report::begun<report::run_result>(name, g, p, cost.value.counts);

  const dm::index_t steps = s.steps > 0 ? s.steps : s.epochs * load.batches_per_epoch();
  const dm::warmup_linear rate{.peak = s.rate, .total = steps};  // down to 0 in a straight line
  dm::training_run run(g,
                       {.steps = steps,
                        .evaluate_every = load.batches_per_epoch(),
                        .watched = "accuracy",
                        .higher_is_better = true},
                       {.name = name, .log = s.out + "/" + name});
  run.keep("network", p);  // its members' names, where a number goes bad
  census::counts sent;
  images<L> now;
  run.loop.step = [&](dm::index_t n) -> dm::metrics {
    now = load.next();
    census::reset();
    const auto [loss, gradient] = training_step{}(p, now);
    sent = census::snapshot();
    optimizer.rate = rate(n);
    if (std::isfinite(dm::value(loss))) optimizer(p, gradient, state);
    return {{"loss", dm::value(loss)}};
  };
  run.loop.diagnose = [&](dm::index_t) {
    return run.find_not_finite([&] { (void)training_step{}(p, now); });
  };
  run.loop.evaluate = [&](dm::index_t) -> dm::metrics {
    return {{"accuracy", report::mean_over_batches<batch>(
                             unseen, 0, [&](const images<L>& b) { return accuracy(p, b); })}};
  };
  run.go();
  report::finish<typename L::mesh>(r, run, sent);
  const double right = run.history().values("evaluation/accuracy").back();
  r.figures = {{"test_accuracy", right, report::column::result, "test", "acc.",
                report::format("%.4f", right)}};
  return r;
}

template <class L, class G> void draw(std::string name, const G& g, const std::string& folder) {
  using weights = dm::tensor<float, L, pixel, hidden>;
  std::cout << "\n" << name << ": " << dm::describe<weights>() << "\n" << dm::draw_text<weights>(g);
  std::replace(name.begin(), name.end(), ' ', '_');
  std::ofstream(folder + "/layout_" + name + ".svg") << dm::draw_svg<weights>(g);
}

/// Training amplifies rounding: after some hundred steps two right programs differ visibly. How
/// much is seen from one rank whose parameters start one digit off. A layout agrees if at no step
/// it is more than ten times as far from one rank as that run has come so far.
bool agrees(const report::run_result& r, const std::vector<double>& one,
            const std::vector<double>& rounding) {
  double allowed = 1e-6;
  bool agree = report::bytes_agree(r);
  for (std::size_t t = 0; t < one.size(); ++t) {
    allowed = std::max(allowed, std::abs(rounding[t] - one[t]));
    agree = agree && std::abs(r.losses[t] - one[t]) <= 10 * allowed;
  }
  if (!agree)
    std::cout << "FAILED: " << r.layout
              << " strays from one rank, or moved other bytes than its types predict.\n";
  return agree;
}

int conclude(std::vector<report::run_result>& all, const std::vector<double>& rounding,
             const settings& s) {
  report::present(all, s.out);
  const auto& one = all.front().losses;
  bool agree = true;
  for (const auto& r : all) agree = agrees(r, one, rounding) && agree;
  return report::verdict(
      agree,
      "All layouts agree with one rank to rounding (one rank, started one digit off, strays by " +
          report::difference_text(report::loss_difference(rounding, one)) +
          "),\nand moved the bytes that their types predict.",
      s.out);
}

int main(int argc, char** argv) {
  return dm::run(argc, argv, [&] {
    settings s;
    report::options o("Fashion-MNIST under every layout");
    o.add("--data", s.data, "folder with the IDX files");
    o.add("--out", s.out, "folder for the report and pictures");
    o.add("--epochs", s.epochs, "epochs of training").between(1, 1 << 20);
    o.add("--steps", s.steps, "stop after so many steps; 0: after all epochs").between(0, 1 << 30);
    o.add("--rate", s.rate, "learning rate");
    o.add("--decay", s.decay, "decay of the momentum");
    o.add("--layouts", s.layouts, "train only under these layouts (and on one rank), by name")
        .split_at_commas()
        .among(layouts.names());
    o.add("--seed", s.seed, "seed of the parameters and of the order of the images");
    if (const auto done = o.parse(argc, argv)) return *done;

    const dm::grid<world> everyone;
    const auto sets = in::together(everyone, [&] {  // brightness with mean 0 and deviation 1
      return image_sets{read_images(s.data + "/train-", 0.286f, 0.353f) | in::shuffle(s.seed),
                        read_images(s.data + "/t10k-", 0.286f, 0.353f)};
    });
    if (everyone.rank() == 0) std::filesystem::create_directories(s.out);
    std::vector<report::run_result> results;
    std::vector<double> rounding;  // the losses of one rank whose parameters start one digit off
    const auto run = [&]<class L>(const std::string& name, dm::layout_tag<L>) {
      on_mesh<typename L::mesh>(name, [&](const auto& g) {
        if (g.rank() == 0) draw<L>(name, g, s.out);
        results.push_back(train<L>(name, g, sets, s));
        if (g.ranks() == 1)
          rounding = train<L>("one rank, last digit", g, sets, s, 1 + 0x1p-22f).losses;
      });
    };
    run("one rank", dm::layout_tag<alone>());
    for (const std::string& name : s.layouts.empty() ? layouts.names() : s.layouts)
      if (name != "one rank") layouts.visit(name, [&](auto layout) { run(name, layout); });
    return everyone.rank() == 0 ? conclude(results, rounding, s) : 0;
  });
}
