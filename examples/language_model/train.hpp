// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a training run go, whatever its layout? The same parameters, the same pieces of text and
// the same random numbers under every one; at the end the loss on text never trained on, and a
// sample of what the model writes.
#pragma once

#include <dimesh/optim/adam.hpp>
#include <dimesh/optim/schedule.hpp>
#include <dimesh/reflect/describe.hpp>
#include <dimesh/show/timeline_svg.hpp>
#include <iostream>

#include "../common/axes.hpp"
#include "census.hpp"
#include "model.hpp"
#include "progress.hpp"
#include "result.hpp"
#include "sample.hpp"
#include "settings.hpp"
#include "text.hpp"

template <class Plan> class trainer {
  using mesh = typename Plan::mesh;

 public:
  trainer(std::string name, const dm::grid<mesh>& g, const text::corpus& c, const settings& s)
      : g_(g),
        corpus_(c),
        s_(s),
        p_(dm::make<parameters<Plan>>(g)),
        x_(g),
        y_(g),
        result_{{.layout = std::move(name), .mesh = dm::describe_mesh(g), .ranks = g.ranks()}} {
    nn::initialize(p_, dm::random_key{s.seed});
  }

  report::language_result run() {
    announce();
    const dm::warmup_cosine rate{
        .peak = s_.rate, .warmup = s_.warmup, .total = s_.steps, .last = s_.rate / 10};
    dm::adam optimizer{.beta2 = 0.99, .weight_decay = s_.decay, .decays = dm::decay_matrices};
    auto state = optimizer.start(p_);
    std::ostream quiet(nullptr);
    report::training_progress progress(g_.rank() == 0 ? std::cout : quiet, s_.terminal,
                                       result_.layout, s_.steps, batch::extent * length::extent,
                                       result_.bytes_predicted);
    const auto began = dm::timeline::now();
    dm::detail::pool::instance().restart_peak();
    for (int step = 0; step < s_.steps; ++step) {
      if (step == traced()) dm::timeline::instance().start();
      {
        const dm::trace_span all("step");
        optimizer.rate = rate(step);
        step_once(step, optimizer, state);
      }
      if (step == traced() + 2) trace();
      progress.update(step + 1, result_.losses.back());
    }
    result_.seconds = dm::timeline::now() - began;
    result_.tokens_per_second =
        s_.steps * static_cast<double>(batch::extent * length::extent) / result_.seconds;
    result_.peak_bytes_per_rank = dm::detail::pool::instance().figures().peak;
    result_.validation_bits_per_byte = report::bits(validate());
    result_.sample = write();
    return result_;
  }

 private:
  int traced() const { return std::min(s_.steps - 3, 10); }

  /// What the types say of a step.
  void announce() {
    dm::for_each_tensor(
        [&](const auto&, const auto& t) {
          result_.parameters_per_rank += t.local_size();
          result_.optimizer_bytes_per_rank += 2 * t.local_bytes();
        },
        p_);
    const auto cost = prediction<Plan>::cost(p_, x_);
    result_.bytes_predicted =
        report::by_axes<mesh>([&](unsigned mask) { return cost.counts.over[mask].bytes; });
  }

  template <class Optimizer, class State>
  void step_once(int step, const Optimizer& optimizer, State& state) {
    const dm::random_key key{s_.seed + 1};
    const auto rows =
        text::draw_rows(corpus_.train(), batch::extent, length::extent, key.fold(1), step);
    rows.fill_inputs(x_);
    rows.fill_targets(y_);
    const nn::run_options run{s_.dropout, key.fold(2).fold(static_cast<std::uint64_t>(step))};
    census::reset();
    const auto [loss, gradient] = [&] {
      const dm::trace_span here("loss and gradient");
      return training<Plan>::step(p_, x_, y_, run);
    }();
    const auto counted = census::snapshot();
    {
      const dm::trace_span here("optimizer");
      optimizer(p_, gradient, state);
    }
    result_.losses.push_back(dm::value(loss));
    if (step == s_.steps - 1)
      result_.bytes_counted =
          report::by_axes<mesh>([&](unsigned mask) { return counted.bytes_on(mask); });
  }

  /// Three steps as a Chrome trace, the last of them as a picture.
  void trace() {
    dm::timeline::instance().stop();
    const auto spans = dm::gather_timeline(g_);
    if (g_.rank() != 0) return;
    dm::write_trace(s_.out + "/trace_" + result_.layout + ".json", spans);
    dm::timeline_plot plot{.title = "A step under '" + result_.layout + "'", .spans = spans};
    plot.show("step", 2);
    plot.write(s_.out + "/timeline_" + result_.layout + ".svg");
  }

  /// The mean loss over text that was not trained on.
  double validate() {
    const auto most = text::batches(corpus_.validation(), batch::extent, length::extent);
    const dm::index_t count = std::max<dm::index_t>(1, std::min<dm::index_t>(s_.validation, most));
    double total = 0;
    for (dm::index_t n = 0; n < count; ++n) {
      const auto rows = text::read_rows(corpus_.validation(), batch::extent, length::extent,
                                        most > 0 ? n * most / count : 0);
      rows.fill_inputs(x_);
      rows.fill_targets(y_);
      total += dm::value(dm::complete(loss<Plan>{}(p_, x_, y_)));
    }
    return total / static_cast<double>(count);
  }

  /// What the model makes of the prompt. All ranks take part.
  std::string write() {
    if (s_.sample == 0) return {};
    return text::readable(text::continue_text(
        s_.prompt, s_.sample, dm::random_key{s_.seed}, {.temperature = s_.temperature},
        [this](std::string_view so_far) { return next(so_far); }));
  }
  std::vector<float> next(std::string_view so_far) {
    const auto n = static_cast<dm::index_t>(so_far.size());
    const dm::index_t used = std::min(n, length::extent), skip = n - used;
    dm::fill_by(x_, [=](dm::index_t b, dm::index_t t) {
      const auto at = static_cast<std::size_t>(skip + t);
      return b == 0 && t < used ? static_cast<unsigned char>(so_far[at]) : 0;
    });
    const auto all = dm::relayout<dm::layout<mesh>>(network<Plan>().logits(p_, x_));
    const float* const last = all.data() + (used - 1) * vocab::extent;
    return {last, last + vocab::extent};
  }

  const dm::grid<mesh>& g_;
  const text::corpus& corpus_;
  const settings& s_;
  parameters<Plan> p_;
  tokens<Plan> x_, y_;
  report::language_result result_;
};
