// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a training run go, whatever its layout? The same parameters, the same pieces of text and
// the same random numbers under every one; at the end the loss on text never trained on, and a
// sample of what the model writes.
#pragma once

#include <dimesh/grad/cost.hpp>
#include <dimesh/io/checkpoint/load.hpp>
#include <dimesh/io/checkpoint/start_save.hpp>
#include <dimesh/nn/generate/generate.hpp>
#include <dimesh/optim/adam.hpp>
#include <dimesh/optim/schedule.hpp>
#include <dimesh/reflect/describe.hpp>
#include <dimesh/show/timeline_svg.hpp>
#include <dimesh/train/find_not_finite.hpp>
#include <dimesh/train/loop.hpp>
#include <dimesh/train/memory_use.hpp>
#include <iostream>

#include "../common/axes.hpp"
#include "census.hpp"
#include "model.hpp"
#include "progress.hpp"
#include "result.hpp"
#include "settings.hpp"
#include "text.hpp"

/// What of a run does not depend on its layout, compiled once for all of them.
class training_run {
 public:
  virtual ~training_run() = default;

  report::language_result run() {
    announce(result_);
    const dm::warmup_cosine rate{
        .peak = s_.rate, .warmup = s_.warmup, .total = s_.steps, .last = s_.rate / 10};
    std::ostream quiet(nullptr);
    report::training_progress progress(rank_ == 0 ? std::cout : quiet, s_.terminal, result_.layout,
                                       s_.steps, batch::extent * length::extent,
                                       result_.bytes_predicted);
    start();
    loop_.step = [&](dm::index_t n) -> dm::metrics {
      if (n == traced()) traces_ = true, dm::timeline::instance().start();
      {
        const dm::trace_span all("step");
        step_once(n, rate(n));
      }
      if (traces_ && n == traced() + 2) trace();
      return {{"loss", result_.losses.back()}};
    };
    loop_.diagnose = [this](dm::index_t n) { return who_went_bad(drawn(n), options_of(n)); };
    loop_.after_step.push_back([&](dm::index_t done, const dm::metrics& m) {
      progress.update(static_cast<int>(done), m[0].value);
      if (saving_ && saving_->done()) saving_.reset();
    });
    dm::loop_state at;
    if (!s_.resume.empty()) at.step = resumed(s_.resume);
    if (!s_.save.empty())
      loop_.save = [this](const dm::loop_state& now, dm::save_reason) {
        if (saving_) saving_->finish();
        saving_.emplace(save(s_.save, record(now.step)));  // written while steps go on
      };
    const auto began = dm::timeline::now(), before = static_cast<double>(at.step);
    dm::restart_peak_memory();
    result_.told_to_end = loop_.run(at) == dm::loop_end::signal;
    if (saving_) saving_->finish();
    result_.seconds = dm::timeline::now() - began;
    result_.tokens_per_second = (static_cast<double>(at.step) - before) *
                                static_cast<double>(batch::extent * length::extent) /
                                result_.seconds;
    result_.peak_bytes_per_rank = dm::memory_in_use().peak;
    if (result_.told_to_end) return std::move(result_);
    if (static_cast<double>(at.step) == before) result_.bytes_predicted.clear();  // none was sent
    result_.validation_bits_per_byte = report::bits(validate());
    if (s_.sample > 0) result_.sample = report::readable(sample());
    return std::move(result_);
  }

 protected:
  template <class M>
  training_run(report::run_result of, const dm::grid<M>& g, const text::corpus& c,
               const settings& s)
      : result_{std::move(of)},
        loop_(g,
              {.steps = s.steps, .save_every = s.save_every, .stops_on_signal = !s.save.empty()}),
        rank_(g.rank()),
        corpus_(c),
        s_(s) {}
  const settings& of() const { return s_; }

 private:
  /// Enters what the types say of a step.
  virtual void announce(report::language_result& to) const = 0;
  /// Makes the optimizer's state.
  virtual void start() = 0;
  /// The loss, before the parameters change.
  virtual double step(const text::rows& rows, const nn::run_options& options, double rate) = 0;
  /// The operation of such a step that gave the first number that is none.
  virtual std::string who_went_bad(const text::rows& rows, const nn::run_options& options) = 0;
  /// How many steps the optimizer has made.
  virtual dm::index_t& optimizer_steps() = 0;
  /// Begins to save.
  virtual dm::started_save save(const std::string& folder,
                                const dm::checkpoint_record& r) const = 0;
  virtual dm::checkpoint_record load(const std::string& folder) = 0;
  /// What went out in the step before.
  virtual report::bytes_by_axis sent() const = 0;
  virtual double loss_on(const text::rows& rows) = 0;
  /// The tokens of a prompt, and those that the model writes after them. All ranks take part.
  virtual nn::token_list write(const nn::token_list& prompt,
                               const nn::generate_options& how) const = 0;
  virtual std::vector<dm::rank_span> spans() const = 0;

  dm::index_t traced() const { return std::min(s_.steps - 3, 10); }
  dm::random_key key() const { return dm::random_key{s_.seed + 1}; }
  text::rows drawn(dm::index_t n) const {
    return text::draw_rows(corpus_.train(), batch::extent, length::extent, key().fold(1),
                           static_cast<int>(n));
  }
  nn::run_options options_of(dm::index_t n) const {
    return {s_.dropout, key().fold(2).fold(static_cast<std::uint64_t>(n))};
  }

  void step_once(dm::index_t n, double rate) {
    result_.losses.push_back(step(drawn(n), options_of(n), rate));
    result_.bytes_counted = sent();
  }

  /// What is saved beside the tensors: the losses of the steps until then, too.
  dm::checkpoint_record record(dm::index_t step) {
    dm::checkpoint_record r{.step = step,
                            .integers = {{"adam.steps", optimizer_steps()},
                                         {"seed", static_cast<dm::index_t>(s_.seed)}}};
    for (std::size_t i = 0; i < result_.losses.size(); ++i)
      r.numbers["loss." + std::to_string(i)] = result_.losses[i];
    return r;
  }
  /// Goes on from where another run was; returns how many steps that had done.
  dm::index_t resumed(const std::string& folder) {
    const dm::checkpoint_record r = load(folder);
    optimizer_steps() = r.integers.at("adam.steps");
    if (const auto seed = r.integers.at("seed"); seed != static_cast<dm::index_t>(s_.seed))
      throw dm::error("language_model: '" + folder + "' was saved by a run with --seed " +
                      std::to_string(seed) + ", which draws its text otherwise; resume with that");
    for (dm::index_t i = 0; i < r.step; ++i)
      result_.losses.push_back(r.numbers.at("loss." + std::to_string(i)));
    return r.step;
  }

  /// The prompt, and what the model writes after it.
  std::string sample() const {
    nn::token_list prompt;
    for (const char c : s_.prompt) prompt.push_back(static_cast<unsigned char>(c));
    std::string text;
    for (const auto token : write(prompt, {.count = s_.sample,
                                           .how = {.temperature = s_.temperature},
                                           .key = dm::random_key{s_.seed}}))
      text += static_cast<char>(token);
    return text;
  }

  /// Three steps as a Chrome trace, the last of them as a picture.
  void trace() {
    dm::timeline::instance().stop();
    const auto all = spans();
    if (rank_ != 0) return;
    dm::write_trace(s_.out + "/trace_" + result_.layout + ".json", all);
    dm::timeline_plot plot{.title = "A step under '" + result_.layout + "'", .spans = all};
    plot.show("step", 2);
    plot.write(s_.out + "/timeline_" + result_.layout + ".svg");
  }

  /// The mean loss over text that was not trained on.
  double validate() {
    const auto most = text::batches(corpus_.validation(), batch::extent, length::extent);
    const dm::index_t count = std::max<dm::index_t>(1, std::min<dm::index_t>(s_.validation, most));
    double total = 0;
    for (dm::index_t n = 0; n < count; ++n)
      total += loss_on(text::read_rows(corpus_.validation(), batch::extent, length::extent,
                                       most > 0 ? n * most / count : 0));
    return total / static_cast<double>(count);
  }

  report::language_result result_;
  dm::training_loop loop_;
  std::optional<dm::started_save> saving_;
  bool traces_ = false;
  int rank_;
  const text::corpus& corpus_;
  const settings& s_;
};

template <class Plan> class trainer final : public training_run {
  using mesh = typename Plan::mesh;
  using optimizer_state =
      decltype(std::declval<dm::adam>().start(std::declval<const parameters<Plan>&>()));

 public:
  trainer(std::string name, const dm::grid<mesh>& g, const text::corpus& c, const settings& s)
      : training_run({.layout = std::move(name), .mesh = dm::describe_mesh(g), .ranks = g.ranks()},
                     g, c, s),
        g_(g),
        p_(dm::make<parameters<Plan>>(g)),
        x_(g),
        y_(g) {
    nn::initialize(p_, dm::random_key{s.seed});
  }

 private:
  static auto loss_and_gradient_of(const parameters<Plan>& p, const tokens<Plan>& ids,
                                   const tokens<Plan>& next, const nn::run_options& options) {
    return loss_and_gradient<Plan>{options}(p, ids, next);
  }
  void announce(report::language_result& to) const override {
    dm::for_each_tensor(
        [&](const auto&, const auto& t) {
          to.parameters_per_rank += t.local_size();
          to.optimizer_bytes_per_rank += 2 * t.local_bytes();
        },
        p_);
    // The step that will run, on tensors without elements: nothing is computed or sent.
    const auto cost = dm::count(loss_and_gradient_of, p_, x_, y_, nn::run_options{});
    to.bytes_predicted =
        report::by_axes<mesh>([&](unsigned mask) { return cost.counts.over[mask].bytes; });
  }
  void start() override {
    optimizer_ = {.beta2 = 0.99, .weight_decay = of().decay, .decays = dm::decay_matrices};
    state_ = optimizer_.start(p_);
  }
  double step(const text::rows& rows, const nn::run_options& options, double rate) override {
    rows.fill_inputs(x_);
    rows.fill_targets(y_);
    census::reset();
    const auto [loss, gradient] = [&] {
      const dm::trace_span here("loss and gradient");
      return loss_and_gradient_of(p_, x_, y_, options);
    }();
    sent_ = census::snapshot();
    const double now = dm::value(loss);
    if (std::isfinite(now)) {  // parameters stay as they were where something went bad
      const dm::trace_span here("optimizer");
      optimizer_.rate = rate;
      optimizer_(p_, gradient, state_);
    }
    return now;
  }
  std::string who_went_bad(const text::rows& rows, const nn::run_options& options) override {
    rows.fill_inputs(x_);
    rows.fill_targets(y_);
    return dm::find_not_finite(g_, [&] { (void)loss_and_gradient_of(p_, x_, y_, options); });
  }
  dm::index_t& optimizer_steps() override { return state_.steps; }
  dm::started_save save(const std::string& folder, const dm::checkpoint_record& r) const override {
    return dm::start_save_checkpoint(folder, r, {.keep_last = 2}, dm::part("model", p_),
                                     dm::part("adam.first", state_.first),
                                     dm::part("adam.second", state_.second));
  }
  dm::checkpoint_record load(const std::string& folder) override {
    return dm::load_checkpoint(folder, {}, dm::part("model", p_),
                               dm::part("adam.first", state_.first),
                               dm::part("adam.second", state_.second));
  }
  report::bytes_by_axis sent() const override {
    return report::by_axes<mesh>([&](unsigned mask) { return sent_.bytes_on(mask); });
  }
  double loss_on(const text::rows& rows) override {
    rows.fill_inputs(x_);
    rows.fill_targets(y_);
    return dm::value(dm::complete(loss<Plan>{}(p_, x_, y_)));
  }
  nn::token_list write(const nn::token_list& prompt,
                       const nn::generate_options& how) const override {
    using writer = nn::language_model<typename Plan::compute, nn::with_batch<form, one_text>>;
    return nn::generate(writer(), p_, g_, {prompt}, how)[0];
  }
  std::vector<dm::rank_span> spans() const override { return dm::gather_timeline(g_); }

  const dm::grid<mesh>& g_;
  parameters<Plan> p_;
  tokens<Plan> x_, y_;
  dm::adam optimizer_;
  optimizer_state state_;
  census::counts sent_;
};
