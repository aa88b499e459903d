// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a training run go from its first step to its last? Steps, evaluations and saves at their
// times; an end before the last step where evaluations get no better, or where the job is told to
// end. What a step is, the caller says; the loop knows numbers only, and is compiled once for all
// layouts.
//
//   training_loop loop(g, {.steps = 1000, .evaluate_every = 100, .save_every = 200});
//   loop.step = [&](index_t step) -> metrics { ...; return {{"loss", value(loss)}}; };
//   loop.evaluate = [&](index_t) -> metrics { return {{"loss", ...}}; };
//   loop.save = [&](const loop_state& at, save_reason) { ... };
//   loop_state at;                       // or as it was saved: goes on from there
//   loop_end why = loop.run(at);
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dimesh/collective/all_reduce.hpp"
#include "dimesh/detail/waiting.hpp"
#include "dimesh/detail/words.hpp"
#include "dimesh/grid.hpp"
#include "dimesh/train/step_function.hpp"
#include "dimesh/train/stop_request.hpp"

namespace dimesh {

/// Where a run stands: what must be saved of a loop for another one to go on.
struct loop_state {
  index_t step = 0;  ///< so many are done
  double best = std::numeric_limits<double>::quiet_NaN();  ///< of the evaluations; NaN: none yet
  index_t best_step = 0;  ///< steps that were done then
  index_t without_better = 0;  ///< evaluations since
  index_t evaluated = 0;  ///< steps that were done at the last evaluation
};

struct loop_options {
  index_t steps = 1;  ///< in all, those of earlier runs among them
  index_t evaluate_every = 0;  ///< steps; 0: after the last only
  index_t save_every = 0;  ///< steps; 0: at the end only
  index_t patience = 0;  ///< evaluations without a better one until the end; 0: any
  std::string loss = "loss";  ///< the metric of a step that must be finite; by another name than
  ///< this it must be there, too
  std::vector<std::string> finite{};  ///< others that each step gives and that must: the norm of
  ///< its gradient, say, which may be infinite where the loss is not
  std::string watched{};  ///< the metric by which evaluations are compared; empty: that of `loss`
  bool higher_is_better = false;
  index_t stop_after = 0;  ///< steps in all, then it ends as if a signal had told it to; 0: never
  index_t most_left_out = 100;  ///< steps in a row; one more is an error
  bool stops_on_signal = true;  ///< SIGTERM and SIGUSR1, on any rank, end the run after a step
};

/// Why the state is saved: its time has come, the evaluation was the best, or the run ends.
enum class save_reason { scheduled, best, end };
/// Why a run ended. `signal`: it was told to, before its last step.
enum class loop_end { steps_done, no_better, signal };

class training_loop {
 public:
  /// Makes one step and returns its metrics, of which the loss, and what options.finite names, must
  /// be finite: parameters had better stay as they were otherwise. `step` counts from 0 and over
  /// all runs. One that was left out, as its gradients overflowed (optim/loss_scale.hpp), says so
  /// by a metric "left out" that is not 0: its loss and the others may be any number or none.
  step_function step;
  /// Measures the state after so many steps. May be missing.
  step_function evaluate;
  /// Saves; once for a step, for the first reason. May be missing.
  std::function<void(const loop_state& at, save_reason why)> save;
  /// Says what went wrong in a step of which such a metric is not finite, the same on all ranks
  /// (see find_not_finite). May be missing.
  std::function<std::string(index_t step)> diagnose;
  /// Asked on every rank after each step: where one says so, all end after it, saved, as after a
  /// signal. May be missing.
  std::function<bool()> should_end;
  /// Called after each step, and after each evaluation, with their metrics: progress, summaries.
  std::vector<std::function<void(index_t step, const metrics&)>> after_step, after_evaluation;
  /// Called on all ranks when a run has ended, and is saved, or ends as a metric is not finite or
  /// is missing: to bring to an end what goes on beside steps, or to throw what did not stop them.
  std::vector<std::function<void()>> at_end;

  /// The grid outlives the loop.
  template <Mesh M>
  training_loop(const grid<M>& g, loop_options options)
      : training_loop(g.everyone(), std::move(options)) {}
  training_loop(const detail::communicator& everyone, loop_options options)
      : options_(std::move(options)), everyone_(&everyone) {
    if (options_.watched.empty()) options_.watched = options_.loss;
    if (options_.steps < 0 || options_.evaluate_every < 0 || options_.save_every < 0 ||
        options_.patience < 0 || options_.most_left_out < 0)
      throw error(
          "training_loop: steps, evaluate_every, save_every, patience and most_left_out are "
          "counts, not less than 0");
  }
  // The grid stands first.
  template <Mesh M> training_loop(const loop_options&, const grid<M>&) {
    static_assert(ok<wrong_arguments<loop_options, grid<M>>>,
                  "training_loop: the grid comes first, then the options: training_loop loop(g, "
                  "{.steps = 1000})");
  }
  const loop_options& options() const { return options_; }

  /// From the state to the end. Collective over the grid: the functions above throw on all ranks or
  /// on none; what one of them throws leaves run() at once, and `at_end` is not called. Throws
  /// dimesh::error on every rank where the loss of a step, or what options.finite names, is not
  /// finite, where too many steps in a row are left out, and where a metric that options name is
  /// missing.
  loop_end run(loop_state& at) {
    if (!step) throw error("training_loop: it has no step; set loop.step to a function");
    std::optional<stop_request> signals;
    if (options_.stops_on_signal) signals.emplace();
    const told_of_steps told;
    auto why = loop_end::steps_done;
    index_t saved = at.step;
    left_out_ = 0;
    // A signal may have come when an evaluation was due; or evaluations had ended the run already.
    const bool owed = at.step > at.evaluated &&
                      (is_due(at.step, options_.evaluate_every) || at.step >= options_.steps);
    if (has_no_patience(at) || (owed && judge(at, saved))) why = loop_end::no_better;
    while (why == loop_end::steps_done && at.step < options_.steps &&
           (options_.stop_after == 0 || at.step < options_.stop_after)) {
      told_of_steps::begin(at.step);
      const metrics m = step(at.step);
      // Ranks must not part, even where only one of them has another number or got the signal. And
      // all of them ask: the answer may be one that they find together.
      const bool wants = should_end && should_end();
      const auto [fault, stop] = agreed(fault_of(m), wants || (signals && signals->asked()) ||
                                                         at.step + 1 == options_.stop_after);
      if (fault != 0) refuse(at.step, fault);
      ++at.step;
      for (const auto& f : after_step) f(at.step, m);
      if (stop && at.step < options_.steps) {
        why = loop_end::signal;
        break;
      }
      const bool last = at.step == options_.steps;
      if ((last || is_due(at.step, options_.evaluate_every)) && judge(at, saved)) {
        why = loop_end::no_better;
        break;
      }
      if (save && !last && saved != at.step && is_due(at.step, options_.save_every)) {
        save(at, save_reason::scheduled);
        saved = at.step;
      }
    }
    if (save && saved != at.step) save(at, save_reason::end);
    for (const auto& f : at_end) f();
    return why;
  }

  /// The same from the start, and nobody needs the state.
  loop_end run() {
    loop_state at;
    return run(at);
  }
  loop_end run(loop_state&& at) { return run(at); }
  template <class N>
    requires std::is_arithmetic_v<N>
  loop_end run(N) {
    static_assert(ok<wrong_arguments<N>>,
                  "training_loop: how many steps there are stands in the options: training_loop "
                  "loop(g, {.steps = 1000}); loop.run()");
    return {};
  }

 private:
  /// Steps, to a watchdog where there is one.
  struct told_of_steps {
    told_of_steps() = default;
    told_of_steps(const told_of_steps&) = delete;
    told_of_steps& operator=(const told_of_steps&) = delete;
    ~told_of_steps() { begin(-1); }
    static void begin(index_t step) {
      if (auto* const told = detail::waits_told_to.load()) told->at_step(step);
    }
  };
  static bool is_due(index_t done, index_t every) { return every > 0 && done % every == 0; }
  static const metric* find(const metrics& m, const std::string& name) {
    for (const metric& one : m)
      if (one.name == name) return &one;
    return nullptr;
  }
  /// What is wrong with a step of these metrics, as a number of which ranks take the greatest.
  /// 0: nothing; from the last metric that must be finite to the first, 2 k + 1: it is missing, and
  /// 2 k + 2: it is not finite; then: it is one step too many that was left out.
  int fault_of(const metrics& m) {
    const metric* const out = find(m, "left out");
    left_out_ = out != nullptr && out->value != 0 ? left_out_ + 1 : 0;
    const int n = static_cast<int>(options_.finite.size());
    if (left_out_ > 0) return left_out_ > options_.most_left_out ? 2 * n + 3 : 0;
    for (int k = n; k >= 0; --k) {
      const metric* const one = find(m, finite_name(k));
      if (one == nullptr && (k < n || options_.loss != loop_options{}.loss)) return 2 * k + 1;
      if (one != nullptr && !std::isfinite(one->value)) return 2 * k + 2;
    }
    return 0;
  }
  const std::string& finite_name(int k) const {
    const std::size_t n = options_.finite.size(), i = static_cast<std::size_t>(k);
    return i == n ? options_.loss : options_.finite[n - 1 - i];
  }
  [[noreturn]] void refuse(index_t at, int fault) const {
    detail::words w;
    if (fault > 2 * static_cast<int>(options_.finite.size()) + 2)
      w << "training_loop: " << options_.most_left_out + 1
        << " steps in a row were left out, the last one is step " << at
        << "; their gradients are not finite whatever the factor of the loss";
    else if (fault % 2 == 0)
      w << "training_loop: '" << finite_name((fault - 1) / 2) << "' is not finite in step " << at;
    else {
      w << "training_loop: step " << at << " gives no '" << finite_name((fault - 1) / 2)
        << (fault > 2 * static_cast<int>(options_.finite.size())
                ? "', which is the name of options.loss"
                : "', which options.finite asks for");
      end_with(w);
    }
    std::string why;
    try {
      if (diagnose) why = diagnose(at);
    } catch (const std::exception& e) {
      why = e.what();
    }
    if (!why.empty()) w << ": " << why;
    end_with(w);
  }
  /// Throws these words; whatever goes wrong at the end, they come first.
  [[noreturn]] void end_with(detail::words& w) const {
    for (const auto& f : at_end) try {
        f();
      } catch (...) {}
    w.raise();
  }
  bool has_no_patience(const loop_state& at) const {
    return options_.patience > 0 && at.without_better >= options_.patience;
  }
  /// Evaluates, where it can. True: that was one too many without a better one.
  bool judge(loop_state& at, index_t& saved) {
    if (!evaluate) return false;
    const metrics m = evaluate(at.step);
    at.evaluated = at.step;
    for (const auto& f : after_evaluation) f(at.step, m);
    const auto [missing, v] = of_first_rank(find(m, options_.watched));
    if (missing) {
      detail::words w;
      w << "training_loop: the evaluation gives no '" << options_.watched
        << "', which options.watched asks for";
      end_with(w);
    }
    const bool better = options_.higher_is_better ? v > at.best : v < at.best;
    if (!std::isnan(v) && (std::isnan(at.best) || better)) {
      const loop_state before = at;
      at.best = v;
      at.best_step = at.step;
      at.without_better = 0;
      try {
        if (save) save(at, save_reason::best);
      } catch (...) {
        at = before;  // the best one is one that was saved
        throw;
      }
      if (save) saved = at.step;
      return false;
    }
    ++at.without_better;
    return has_no_patience(at);
  }
  /// The first rank's: where an evaluation differs in its last bit, ranks must not part.
  std::pair<bool, double> of_first_rank(const metric* found) const {
    double said[2] = {found == nullptr ? 1.0 : 0.0, found == nullptr ? 0.0 : found->value};
    const detail::waiting here("training_loop");
    detail::check(MPI_Bcast(said, 2, MPI_DOUBLE, 0, everyone_->handle()), "training_loop");
    return {said[0] != 0, said[1]};
  }
  /// What any rank says. One reduction of two numbers a step.
  std::pair<int, bool> agreed(int fault, bool stop) const {
    int flags[2] = {fault, stop};
    const detail::of_host numbers;
    if (everyone_->size() > 1)
      collective::all_reduce(*everyone_, flags, flags, 2, collective::reduction::max);
    return {flags[0], flags[1] != 0};
  }

  loop_options options_;
  const detail::communicator* everyone_ = nullptr;
  index_t left_out_ = 0;  // steps in a row
};

}  // namespace dimesh
