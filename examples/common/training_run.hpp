// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do models that translate go through their training? Step by step with Adam's state, a line of
// progress, losses kept; saved and resumed with the place in the data, under any layout.
//
//   text::training_run run{.name = "data", .steps = 2000, .save = "run"};
//   run.train(g, load, p, state, step, after)    // step(batch, n) -> the loss
//   run.losses, run.seconds, run.told_to_end
#pragma once

#include <dimesh/io/checkpoint/load.hpp>
#include <dimesh/ledger/timeline.hpp>
#include <dimesh/optim/adam.hpp>
#include <dimesh/train/loop.hpp>
#include <iostream>

#include "progress.hpp"
#include "result.hpp"

namespace text {

namespace dm = dimesh;

struct training_run {
  std::string name = {};
  int steps = 1, save_every = 0;
  int stop_after = 0;  // steps, those of earlier runs among them: as if told to end; 0: not
  std::string save = {}, resume = {};  // folders, or none
  bool terminal = false;
  std::vector<double> losses = {};
  double seconds = 0;
  dm::index_t done = 0;  ///< steps of this run
  bool told_to_end = false;

  template <dm::Mesh M, class Load, class P, class Step, class After>
  void train(const dm::grid<M>& g, Load& load, P& p, dm::adam_state<P>& state, const Step& step,
             const After& after) {
    dm::loop_state at;
    const auto parts = [&](const auto& f) {
      return f(dm::part("model", p), dm::part("adam.first", state.first),
               dm::part("adam.second", state.second));
    };
    if (!resume.empty()) {
      const auto r =
          parts([&](const auto&... part) { return dm::load_checkpoint(resume, {}, part...); });
      at.step = r.step;
      state.steps = r.integers.at("adam.steps");
      load.seek({r.integers.at("epoch"), r.integers.at("record")});
      for (dm::index_t i = 0; i < r.step; ++i)
        losses.push_back(r.numbers.at("loss." + std::to_string(i)));
    }
    std::ostream quiet(nullptr);
    report::progress_line line(g.rank() == 0 ? std::cout : quiet, terminal, name, steps, 10);
    const bool stops = stop_after > 0 && stop_after < steps;
    dm::training_loop loop(g, {.steps = stops ? stop_after : steps,
                               .save_every = save_every,
                               .stops_on_signal = !save.empty()});
    loop.step = [&](dm::index_t n) -> dm::metrics {
      losses.push_back(step(load.next(), n));
      return {{"loss", losses.back()}};
    };
    loop.after_step.push_back([&](dm::index_t n, const dm::metrics& m) {
      line.update(static_cast<int>(n),
                  [&](double) { return report::format("loss %.4f", m[0].value); });
      after(n);
    });
    if (!save.empty())
      loop.save = [&](const dm::loop_state& now, dm::save_reason) {
        const auto place = load.position();
        dm::checkpoint_record r{
            .step = now.step,
            .integers = {
                {"adam.steps", state.steps}, {"epoch", place.epoch}, {"record", place.record}}};
        for (std::size_t i = 0; i < losses.size(); ++i)
          r.numbers["loss." + std::to_string(i)] = losses[i];
        parts([&](const auto&... part) {
          dm::save_checkpoint(save, r, {.keep_last = 2}, part...);
          return 0;
        });
      };
    const auto began = dm::timeline::now();
    const auto before = at.step;
    told_to_end = loop.run(at) == dm::loop_end::signal || stops;
    seconds = dm::timeline::now() - began;
    done = at.step - before;
    // What had ended before is in the new folder, too: who goes on from there finds all of it.
    if (done == 0 && loop.save && !resume.empty() && save != resume)
      loop.save(at, dm::save_reason::end);
  }
};

}  // namespace text
