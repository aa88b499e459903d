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
//   run.losses(), run.history(), run.seconds(), run.log()
//   run.load_best()   -> run.best_step(): the tensors are as they were then
//
// Needs what checkpoints need (io/checkpoint/save.hpp).
#pragma once

#include <iostream>
#include <optional>
#include <string>
#include <utility>

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
#include "dimesh/train/run_options.hpp"

namespace dimesh {

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
    if (!how_.log.empty()) log_.emplace(how_.log, everyone);
    loop.after_step.push_back([this](index_t done, const metrics& m) {
      note(done, "training/", m);
      tell(done);
      if (auto saving = std::exchange(saving_, std::nullopt); saving && !saving->done())
        saving_ = std::move(saving);  // one that has failed is told of once
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
  /// from, where that has other tensors, or another number or text of what must be the same (all
  /// that is kept is then as it was), or where ranks have different ones; where it would go on with
  /// a kept tensor that carries halos, which are not saved; where a kept tensor is not finite when
  /// it is to be saved; and, saved and after the step in which that happened, where its figures
  /// cannot be written. Where a function of the loop throws, a save on its way is dropped: whether
  /// all ranks do, or one by mistake, is not known, and the checkpoint before it is there.
  loop_end go() {
    loop_state& at = at_;
    const std::string from = detail::folder_before(how_, everyone_->handle());
    if (tells_ && !how_.resume.empty() && from != how_.resume)
      std::cerr << "training_run: goes on from '" << from << "', where it has saved already\n";
    how_.resume = from;
    agree_on_texts(everyone_->handle());
    agree_on_same(everyone_->handle());
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
    if (log_) write_report();
    return why == loop_end::steps_done && at.step < steps_ ? loop_end::signal : why;
  }

  /// find_not_finite, for `loop.diagnose`: it names what is kept as checkpoints do.
  template <class F> std::string find_not_finite(F&& f) const {
    return detail::find_not_finite(*everyone_, tensors_, static_cast<F&&>(f));
  }

  /// Steps that were done at the best evaluation, of earlier runs, too; 0: there was none.
  index_t best_step() const { return at_.best_step; }
  /// What was watched then; NaN: there was none.
  double best() const { return at_.best; }
  /// The kept tensors become those that were saved after the best evaluation, by this run or one
  /// that it goes on from; numbers, schedules and the place in the data stay. Returns best_step().
  /// Collective: on all ranks or on none; after go(). Throws dimesh::error on every rank where no
  /// evaluation gave a number, where that checkpoint is no longer there, or where a kept tensor
  /// carries halos, which are not saved.
  index_t load_best() {
    finish_save();
    const index_t step = at_.best_step;
    if (step == 0)
      throw error("training_run::load_best: there is no best evaluation: none has given a number");
    // One that an evaluation made up for at the start found is where this run comes from, unless
    // it has been saved again.
    const std::string& in = step == before_ && how_.save.empty() ? came_from_ : best_in_;
    const bool saved = !in.empty() && (step <= before_ || !how_.save.empty());
    const std::string from = in + "/" + detail::checkpoint::step_name(step);
    const bool there = saved && detail::first_rank_finds(everyone_->handle(), [&] {
                         return std::filesystem::exists(from + "/manifest.json");
                       });
    if (!there)
      throw error("training_run::load_best: the best evaluation was after " + std::to_string(step) +
                  " steps, of which there is no checkpoint" +
                  (saved ? " in '" + in + "'" : "; give a folder in run_options.save"));
    require_no_halos();
    detail::checkpoint::load(from, {}, tensors_);
    return step;
  }

  /// The loss of each step, those of earlier runs among them.
  const std::vector<double>& losses() const { return history_.values(loss_tag()); }
  /// All metrics: of steps by names that begin with training/, of evaluations with evaluation/.
  const metric_history& history() const { return history_; }
  /// Where its figures go, for others beside them: histograms, images, texts. The report has them,
  /// too. Throws dimesh::error where run_options.log is empty.
  summaries& log() {
    if (!log_) throw error("training_run::log: there is none; give a folder in run_options.log");
    return *log_;
  }
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
    detail::together(everyone_->handle(), [this] {
      if (!tells_) return;
      metric_history all = history_;  // those of earlier runs, too
      const metric_history written = log_->scalars();
      for (const scalar_series& s : written.series())
        if (history_.values(s.tag).empty())
          for (std::size_t i = 0; i < s.value.size(); ++i)
            all.add(static_cast<index_t>(s.step[i]), s.tag, s.value[i]);
      html_report page(how_.name.empty() ? "A training run" : how_.name);
      page.add(*log_, all);
      page.write(how_.log + "/report.html");
    });
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
    const bool is_best = at.best_step == at.step;
    if (at.step == saved_) {  // an evaluation that was made up for may be the best
      if (is_best) best_in_ = detail::root_of_checkpoints(how_.save);
      return;
    }
    finish_save();  // whatever becomes of this one, that before it is there
    detail::checkpoint::require_parts("training_run", tensors_);
    if (how_.check_finite) detail::require_finite(*everyone_, tensors_, at.step);
    const std::string here = detail::root_of_checkpoints(how_.save);
    const std::string best_in = is_best ? here : best_in_;
    checkpoint_record r = record(at.step);
    r.integers["loop.best_step"] = at.best_step;
    r.integers["loop.without_better"] = at.without_better;
    r.integers["loop.evaluated"] = at.evaluated;
    r.numbers["loop.best"] = at.best;
    r.files[metrics_file] = tells_ ? history_.text() : "";  // the first rank's is written
    if (!best_in.empty()) r.files[best_file] = best_in == here ? "." : best_in;
    saving_.emplace(detail::checkpoint::begin_save(
        how_.save, r, {.keep_last = how_.keep_last, .keep_steps = {at.best_step}}, tensors_));
    saved_ = at.step;
    best_in_ = best_in;
  }
  void finish_save() {
    auto saving = std::exchange(saving_, std::nullopt);
    if (saving) saving->finish();
  }
  loop_state resumed() {
    detail::checkpoint::require_parts("training_run", tensors_);
    require_no_halos();
    // One step: what is checked of it is what is loaded.
    const std::string step = detail::checkpoint::folder_for_all(everyone_->handle(), how_.resume);
    detail::together(everyone_->handle(), [&] {  // before a tensor is read
      const checkpoint_record r = detail::checkpoint::load_record_at(step);
      (void)detail::found_in(r.files, metrics_file, how_.resume);
      require_fits(r, how_.resume);
    });
    const checkpoint_record r = detail::checkpoint::load(step, {}, tensors_);
    const auto found = [&](const auto& in, const std::string& name) {
      return detail::found_in(in, name, how_.resume);
    };
    history_.add_text(found(r.files, metrics_file));
    take(r, how_.resume, tells_);
    came_from_ = detail::root_of_checkpoints(how_.resume);
    if (const auto best = r.files.find(best_file); best != r.files.end())
      best_in_ = best->second == "." ? came_from_ : best->second;
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
  loop_state at_;
  std::string came_from_;  // the folder of checkpoints from which it goes on
  std::string best_in_;  // the folder that has the checkpoint of the best evaluation
  index_t saved_ = -1;  // the step that the folder has for certain
  index_t before_ = 0, done_ = 0;  // steps of earlier runs, of this one
  double seconds_ = 0, evaluations_ = 0;
};

}  // namespace dimesh
