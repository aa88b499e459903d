// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a run go, whatever its layout? The same parameters, the same pieces of text and the same
// random numbers under every one; at the end the loss on text never trained on, and a sample of
// what the model writes.
#pragma once

#include <dimesh/grad/cost.hpp>
#include <dimesh/io/data/prefetch.hpp>
#include <dimesh/nn/generate/generate.hpp>
#include <dimesh/optim/adam.hpp>
#include <dimesh/optim/schedule.hpp>
#include <dimesh/train/run.hpp>
#include <dimesh/train/trace_steps.hpp>

#include "../common/book.hpp"
#include "../common/evaluation.hpp"
#include "../common/measured.hpp"
#include "model.hpp"
#include "settings.hpp"

inline constexpr dm::index_t tokens_per_step = batch::extent * length::extent;

/// What of a run needs its layout's types; the rest is compiled once for all layouts (train.cpp).
struct training {
  const settings& s;
  dm::training_run& run;
  report::run_result& result;
  dm::warmup_cosine rate = {
      .peak = s.rate, .warmup = s.warmup, .total = s.steps, .last = s.rate / 10};

  /// A step on the next piece of text, from the parameters as they are: the loss.
  std::function<double(const nn::run_options& how, double rate)> step = {};
  /// The operation of the last step that gave the first number that is none.
  std::function<std::string(const nn::run_options& how)> who_went_bad = {};
  /// The tokens after a prompt.
  std::function<nn::token_list(const nn::token_list& prompt, const nn::generate_options&)> write =
      {};

  /// Gives the loop its step.
  void prepare();
  /// What is asked of a model that is trained.
  void conclude();
};

/// What a run says of itself on the way, from what was foreseen.
dm::run_options what_is_told(const settings& s, const report::run_result& foreseen);
/// Where a step's timeline goes.
dm::step_trace pictures_of_step(const settings& s, const std::string& name);

/// Trains under a plan, which goes by this name.
template <class Plan>
report::run_result train(const std::string& name, const dm::grid<typename Plan::mesh>& g,
                         const text::book& book, const settings& s) {
  using pieces = batch_of_text<Plan>;
  auto p = dm::make<parameters<Plan>>(g);
  nn::initialize(p, dm::random_key{s.seed});
  dm::adam optimizer{.beta2 = 0.99, .weight_decay = s.decay, .decays = dm::decay_matrices};
  auto state = optimizer.start(p);
  auto load = text::drawn_rows(book.training, length::extent, dm::random_key{s.seed + 1}.fold(1),
                               batch::extent) |
              dm::input::batch<pieces>(g, batch{}) | dm::input::prefetch(0);
  auto unseen = text::rows_in_order(book.held_out, length::extent, batch::extent) |
                dm::input::batch<pieces>(g, batch{}) | dm::input::prefetch(0);
  auto now = dm::make<pieces>(g);
  // The step that will run, on tensors without elements: nothing is computed or sent.
  const auto cost = dm::count(loss_and_gradient<Plan>{}, p, now);
  auto result = report::begun<report::run_result>(name, g, p, cost.counts);
  dm::training_run run(g, report::loop_options(s), what_is_told(s, result));
  run.keep("model", p);
  run.keep("adam", state);
  run.keep(load);
  run.keep_same("seed", s.seed);

  census::counts sent;
  training t{s, run, result};
  t.step = [&](const nn::run_options& how, double rate) {
    now = load.next();
    census::reset();
    const auto [loss, gradient] = [&] {
      const dm::trace_span here("loss and gradient");
      return loss_and_gradient<Plan>{how}(p, now);
    }();
    sent = census::snapshot();
    const double value = dm::value(loss);
    if (std::isfinite(value)) {  // parameters stay as they were where something went bad
      const dm::trace_span here("optimizer");
      optimizer.rate = rate;
      optimizer(p, gradient, state);
    }
    return value;
  };
  t.who_went_bad = [&](const nn::run_options& how) {
    return run.find_not_finite([&] { (void)loss_and_gradient<Plan>{how}(p, now); });
  };
  run.loop.evaluate = [&](dm::index_t) -> dm::metrics {
    return {{"loss", report::mean_over_batches<batch>(unseen, s.validation, [&](const pieces& b) {
               const auto mean = dm::value_and_grad(loss<Plan>{}, p).value(b.ids, b.next);
               return dm::value(dm::complete(mean));
             })}};
  };
  t.write = [&](const nn::token_list& prompt, const nn::generate_options& how) {
    using writer = nn::language_model<typename Plan::compute, nn::with_batch<form, one_text>>;
    return nn::generate(writer(), p, g, {prompt}, how)[0];
  };
  t.prepare();
  dm::trace_steps(run.loop, g, std::min(s.steps - 3, 10), 3, pictures_of_step(s, name));
  result.told_to_end = run.go() == dm::loop_end::signal;
  report::finish<typename Plan::mesh>(result, run, sent);
  if (!result.told_to_end) t.conclude();
  return result;
}
