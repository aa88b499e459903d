// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What ties a training run together? The loop, and what must be kept for another run to go on where
// this one ends, under any layout and on any number of ranks: tensors, counts, the place in the
// data, schedules, all metrics. Checkpoints are written while steps go on. It knows no types, and
// is compiled once for all layouts.
//
//   training_run run(g, {.steps = 1000, .save_every = 200}, {.name = "data", .save = "runs/7"});
//   run.keep("model", params);  run.keep("adam", state);  run.keep(load);
//   run.keep_same("seed", 7);
//   run.loop.step = [&](index_t) -> metrics { ...; return {{"loss", value(loss)}}; };
//   run.go()          -> loop_end::steps_done;  .log = "logs/7": figures for TensorBoard, a report
//   run.losses(), run.history(), run.seconds()
//
// Needs what checkpoints need (io/checkpoint/save.hpp).
#pragma once

#include <filesystem>
#include <iostream>
#include <optional>
#include <string>

#include "dimesh/detail/watchdog.hpp"
#include "dimesh/io/agree.hpp"
#include "dimesh/io/checkpoint/files.hpp"
#include "dimesh/io/checkpoint/load.hpp"
#include "dimesh/io/checkpoint/start_save.hpp"
#include "dimesh/ledger/timeline.hpp"
#include "dimesh/train/find_not_finite.hpp"
#include "dimesh/train/html_report.hpp"
#include "dimesh/train/kept_state.hpp"
#include "dimesh/train/loop.hpp"
#include "dimesh/train/progress.hpp"

namespace dimesh {

struct run_options {
  std::string name{};  ///< on the line that tells how far it is; empty: no line
  std::string save{};  ///< folder for checkpoints; empty: none, and signals do what they would
  std::string
      resume{};  ///< folder of checkpoints, to go on from the latest; empty: that of `save`,
  ///< where it has any, so that a job that is started again goes on; else from the start
  std::string log{};  ///< folder for its figures (train/summaries.hpp) and, when it ends, for a
      ///< report.html of their plots; empty: none
  index_t keep_last = 2;  ///< older checkpoints are removed; 0: none is
  index_t stop_after = 0;  ///< steps in all, then it ends as if a signal had told it to; 0: never
  std::vector<step_rate> rates{};  ///< what the line tells beside the loss
  bool terminal = on_terminal();  ///< a person reads along
  double stalled_after = 600;  ///< seconds after which a rank that comes to no new call and no new
  ///< step says on stderr where it is; 0: never, and nobody says so
};

namespace detail {

/// The folder of checkpoints from whose latest such a run goes on, as the first rank sees it;
/// empty: it begins. Collective.
inline std::string folder_before(const run_options& how, MPI_Comm everyone) {
  if (!how.resume.empty() || how.save.empty()) return how.resume;
  int rank = 0, there = 0;
  MPI_Comm_rank(everyone, &rank);
  std::error_code none;
  if (rank == 0)
    there = std::filesystem::exists(how.save + "/latest", none) ||
                    !checkpoint::steps_in(how.save).empty()
                ? 1
                : 0;
  const waiting here("training_run");
  check(MPI_Bcast(&there, 1, MPI_INT, 0, everyone), "training_run");
  return there != 0 ? how.save : "";
}

}  // namespace detail

/// The text that a run of these options is going to go on with, which the one before it kept by
/// that name; none where it begins. For what is made before there is a run: data in symbols of the
/// vocabulary, say. Collective over `everyone`; throws dimesh::error on all ranks where there is
/// nothing to go on from, or no such text.
inline std::optional<std::string> kept_text(const run_options& how, const std::string& name,
                                            MPI_Comm everyone = MPI_COMM_WORLD) {
  const std::string folder = detail::folder_before(how, everyone);
  if (folder.empty()) return {};
  std::string text;
  detail::together(everyone, [&] {
    text = detail::found_in(detail::checkpoint::load_record_at(folder).files, name, folder);
  });
  return text;
}

class training_run : public kept_state {
 public:
  /// Its step, and what else may be called: evaluations, a diagnosis, who listens. `save` is the
  /// run's own.
  training_loop loop;

  /// The grid outlives it.
  template <Mesh M>
  training_run(const grid<M>& g, const loop_options& when, const run_options& how)
      : training_run(g.everyone(), when, how) {}
  training_run(const detail::communicator& everyone, const loop_options& when,
               const run_options& how)
      : loop(everyone, shortened(when, how)),
        how_(how),
        everyone_(&everyone),
        steps_(when.steps),
        tells_(everyone.rank() == 0) {
    if (!how_.log.empty())
      detail::together(everyone.handle(), [&] { log_.emplace(how_.log, tells_); });
    loop.after_step.push_back([this](index_t done, const metrics& m) {
      note(done, "training/", m);
      tell(done);
      if (saving_ && saving_->done()) saving_.reset();
    });
    loop.after_evaluation.push_back(
        [this](index_t done, const metrics& m) { note(done, "evaluation/", m); });
    if (!how_.save.empty()) loop.save = [this](const loop_state& at, save_reason) { save(at); };
    loop.at_end.push_back([this] { finish_save(); });  // before any other throws
  }
  training_run(const training_run&) = delete;
  training_run& operator=(const training_run&) = delete;

  /// From the start, or from where another run was, to the end: once. Collective over the grid.
  /// Throws what the loop throws, and dimesh::error on every rank where there is nothing to go on
  /// from, where that has other tensors, or another number of what must be the same; and, saved and
  /// after the step in which that happened, where its figures cannot be written.
  loop_end go() {
    loop_state at;
    how_.resume = detail::folder_before(how_, everyone_->handle());
    if (!how_.resume.empty()) at = resumed();
    before_ = at.step;
    if (!how_.resume.empty() && how_.resume == how_.save) saved_ = at.step;
    if (tells_ && !how_.name.empty())
      line_.emplace(std::cout, how_.terminal, how_.name, static_cast<int>(steps_), 10);
    if (log_)  // figures that one rank cannot write end all
      loop.should_end = [this, asked = loop.should_end] {
        const bool wants = asked && asked();  // on every rank: it may be a collective
        return wants || !log_->fault().empty();
      };
    if (loop.evaluate)
      loop.evaluate = [this, asked = loop.evaluate](index_t n) {
        const double began = timeline::now();
        metrics m = asked(n);
        evaluations_ += timeline::now() - began;
        return m;
      };
    const auto dog = detail::watchdog::of_run(how_.stalled_after, detail::world_rank());
    const double began = timeline::now();
    const loop_end why = loop.run(at);
    seconds_ = timeline::now() - began - evaluations_;
    line_.reset();
    done_ = at.step - before_;
    // What had ended before is in the new folder, too: who goes on from there finds all of it.
    if (done_ == 0 && loop.save && !how_.resume.empty() && how_.save != how_.resume)
      loop.save(at, save_reason::end);
    finish_save();
    if (log_) detail::together(everyone_->handle(), [this] { write_report(); });
    return why == loop_end::steps_done && at.step < steps_ ? loop_end::signal : why;
  }

  /// find_not_finite, for `loop.diagnose`: it names what is kept as checkpoints do.
  template <class F> std::string find_not_finite(F&& f) const {
    return detail::find_not_finite(*everyone_, tensors_, static_cast<F&&>(f));
  }

  /// The loss of each step, those of earlier runs among them.
  const std::vector<double>& losses() const { return history_.values(loss_tag()); }
  /// All metrics: of steps by names that begin with training/, of evaluations with evaluation/.
  const metric_history& history() const { return history_; }
  /// How long the steps of this run took, with saves but no evaluations, and how many they were.
  double seconds() const { return seconds_; }
  index_t steps_done() const { return done_; }

 private:
  std::string loss_tag() const { return "training/" + loop.options().loss; }
  static loop_options shortened(loop_options when, const run_options& how) {
    when.stops_on_signal = when.stops_on_signal && !how.save.empty();
    if (how.stop_after > 0) when.stop_after = how.stop_after;
    return when;
  }

  void note(index_t done, const std::string& kind, const metrics& m) {
    for (const metric& one : m) {
      history_.add(done, kind + one.name, one.value);
      if (log_) log_->scalar(done, kind + one.name, one.value);
    }
  }
  void write_report() {
    log_->flush();
    if (!tells_) return;
    html_report page(how_.name.empty() ? "A training run" : how_.name);
    page.add(history_);
    page.write(how_.log + "/report.html");
  }
  void tell(index_t done) {
    if (!line_ || losses().empty()) return;
    line_->update(static_cast<int>(done), [&](double seconds) {
      const auto steps = static_cast<int>(done - before_);
      char loss[32];
      std::snprintf(loss, sizeof loss, "loss %.4f", losses().back());
      const std::string rates = rates_text(how_.rates, steps, seconds);
      const auto left = static_cast<double>(steps_ - done);
      return std::string(loss) + (rates.empty() ? "" : "  " + rates) + "  " +
             (left > 0 ? time_text(seconds / steps * left) + " left" : time_text(seconds));
    });
  }

  /// Begins to; the elements are copied when it returns.
  void save(const loop_state& at) {
    if (at.step == saved_) return;  // an evaluation that was made up for may be the best
    saved_ = at.step;
    checkpoint_record r = record(at.step);
    r.integers["loop.best_step"] = at.best_step;
    r.integers["loop.without_better"] = at.without_better;
    r.integers["loop.evaluated"] = at.evaluated;
    r.numbers["loop.best"] = at.best;
    r.files[metrics_file] = history_.text();
    if (saving_) saving_->finish();
    saving_.reset();
    detail::checkpoint::require_parts("training_run", tensors_);
    saving_.emplace(detail::checkpoint::begin_save(
        how_.save, r, {.keep_last = how_.keep_last, .keep_steps = {at.best_step}}, tensors_));
  }
  void finish_save() {
    if (saving_) saving_->finish();
    saving_.reset();
  }
  loop_state resumed() {
    detail::checkpoint::require_parts("training_run", tensors_);
    const checkpoint_record r = detail::checkpoint::load(how_.resume, {}, tensors_);
    const auto found = [&](const auto& in, const std::string& name) {
      return detail::found_in(in, name, how_.resume);
    };
    history_.add_text(found(r.files, metrics_file));
    take(r, how_.resume, tells_);
    return {r.step, found(r.numbers, "loop.best"), found(r.integers, "loop.best_step"),
            found(r.integers, "loop.without_better"), found(r.integers, "loop.evaluated")};
  }

  run_options how_;
  const detail::communicator* everyone_;
  index_t steps_;
  bool tells_;
  metric_history history_;
  std::optional<progress_line> line_;
  std::optional<summaries> log_;
  std::optional<started_save> saving_;
  index_t saved_ = -1;  // the step that the folder has for certain
  index_t before_ = 0, done_ = 0;  // steps of earlier runs, of this one
  double seconds_ = 0, evaluations_ = 0;
};

}  // namespace dimesh
