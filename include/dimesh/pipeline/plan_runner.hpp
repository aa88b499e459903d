// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who carries a plan of recomputation out, on tensors? This does: it advances, tapes, goes back,
// keeps, loads and drops as the plan says (recompute_plan.hpp), on steps that have lost their
// types.
//
//   plan_runner r("recompute", steps, x0, ends, directory);
//   plan.each(r);            // r.bar(): the cotangent of x0; steps' sums: those of the weights
//
// It may stop between two actions once the last step has run, and go on when the gradient is there
// (recompute_by_plan.hpp).
#pragma once

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "dimesh/core/runs_again.hpp"
#include "dimesh/io/agree.hpp"
#include "dimesh/pipeline/cell_run.hpp"
#include "dimesh/pipeline/recompute_plan.hpp"

namespace dimesh {

/// What carrying a plan out took.
struct plan_report {
  long long forward = 0;  ///< steps run, taped or not
  int kept = 0, on_disk = 0;  ///< states at a time, at most
  int taped = 0;  ///< steps at a time, at most
};

namespace detail::pipeline {

/// Tensors whose elements lie in a file, which is gone when this ends. `call` is in messages.
class state_on_disk {
 public:
  state_on_disk(std::string_view call, const cores& x, std::string path)
      : call_(call), path_(std::move(path)), tensors_(x) {
    Kokkos::fence();
    file_.reset(std::fopen(path_.c_str(), "w+b"));
    if (!file_) refuse();
    std::remove(path_.c_str());  // its contents stay until it is closed
    for (tensor_core& one : tensors_) {
      if (!one.is_shape) {
        const std::vector<std::byte> host = bytes_on_host(one);
        if (std::fwrite(host.data(), 1, host.size(), file_.get()) != host.size()) refuse();
      }
      one.forget_data();
    }
    if (std::fflush(file_.get()) != 0) refuse();  // a full disk may show here first
  }
  cores read() const {
    cores out = tensors_;
    std::rewind(file_.get());
    for (tensor_core& one : out) {
      if (one.is_shape) {
        one.live = live_bytes(one.count, one.bytes());
        continue;
      }
      std::vector<std::byte> host(static_cast<std::size_t>(one.bytes()));
      if (std::fread(host.data(), 1, host.size(), file_.get()) != host.size()) refuse();
      one.memory = one.fresh_memory();
      const in_space here(one.facts->space);
      copy_from_host(one.memory.data(), host.data(), one.bytes());
    }
    return out;
  }

 private:
  struct closer {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  [[noreturn]] void refuse() const {
    (words() << call_ << ": the file '" << path_
             << "' for a state cannot be written or read; give a directory with room")
        .raise();
  }
  std::string_view call_;
  std::string path_;
  cores tensors_;
  std::unique_ptr<std::FILE, closer> file_;
};

/// The ranks that carry a plan out: all of the grid, also where a state or weights do not live, but
/// within a pipeline, whose places carry out plans of their own. Null where these are shapes, of
/// which each rank may ask by itself.
inline const communicator* who_runs(std::span<cell_base* const> steps, const cores& x) {
  const grid_state* grid = nullptr;
  unsigned axes = 0;
  const auto look_at = [&](const cores& all) {
    for (const tensor_core& one : all) {
      if (one.is_shape || one.grid == nullptr) continue;
      if (grid == nullptr) grid = one.grid, axes = (1u << one.layout().axes) - 1;
      if (grid == one.grid && at_one_place::here()) axes &= ~one.layout().mask(use::placed);
    }
  };
  look_at(x);
  for (const cell_base* step : steps) look_at(step->weights);
  return axes == 0 ? nullptr : &grid->along(axes);
}

/// A step that waits for its way back, and the states before and after it.
struct taped_step {
  std::unique_ptr<cell_run> run;
  cores from, to;
};

class plan_runner {
 public:
  plan_report report;

  /// ends(x): what the last step made has come; gives its cotangents, if they are known by then.
  /// number: what steps are told that take one; negative: each its own. call: what the user called.
  plan_runner(std::string_view call, std::span<cell_base* const> steps, cores x0,
              const std::function<cores(const cores&)>& ends, std::string directory,
              int number = -1)
      : call_(call),
        steps_(steps),
        hand_(std::move(x0)),
        ends_(ends),
        directory_(std::move(directory)),
        number_(number) {}

  void operator()(const plan_action& a) {
    switch (a.work) {
      case plan_work::advance:
      case plan_work::tape:
        for (int i = a.from; i < a.to; ++i) step(i, a.work == plan_work::tape);
        return;
      case plan_work::reverse:
        hand_.clear();
        for (int i = a.to - 1; i >= a.from; --i) reverse(i);
        return;
      case plan_work::keep:
        return keep(a);
      case plan_work::load:
        if (a.where == plan_level::disk)
          together([&] { hand_ = disk_.at(a.from)->read(); });
        else
          hand_ = state(a.from);
        return;
      case plan_work::drop:
        if (a.where == plan_level::disk)
          disk_.erase(a.from);
        else
          kept_.erase(a.from);
    }
  }
  /// The cotangents of the first state.
  cores bar() { return std::move(bar_); }
  /// Has the last step run?
  bool ended() const { return ended_; }
  /// The cotangents of the last state have come; what is in hand is not needed any more where it
  /// is gone back from next, or another state taken.
  void resume(cores bar) { bar_ = std::move(bar); }
  void let_go() { hand_.clear(); }

 private:
  void step(int i, bool taped) {
    ++report.forward;
    const runs_again here(i < first_);
    first_ = std::max(first_, i + 1);
    auto r = std::make_unique<cell_run>(*steps_[static_cast<std::size_t>(i)], hand_,
                                        number_ < 0 ? i : number_, taped, true);
    cores from = std::exchange(hand_, r->y);
    for (tensor_core& one : hand_) one.record = nullptr;
    if (i + 1 == static_cast<int>(steps_.size()) && !ended_) {
      bar_ = ends_(hand_);
      ended_ = true;
    }
    if (!taped) return;
    runs_[i] = {std::move(r), std::move(from), hand_};
    report.taped = std::max(report.taped, static_cast<int>(runs_.size()));
  }
  void reverse(int i) {
    cell_run& r = *runs_.at(i).run;
    r.seed(bar_, steps_[static_cast<std::size_t>(i)]->sums);
    r.backward(steps_[static_cast<std::size_t>(i)]->sums);
    bar_ = r.xbar();
    runs_.erase(i);
  }
  void keep(const plan_action& a) {
    if (a.where == plan_level::disk) {
      int rank = 0;
      MPI_Comm_rank(MPI_COMM_WORLD, &rank);
      const std::string name = directory_ + "/state_" + std::to_string(rank) + "_" +
                               std::to_string(reinterpret_cast<std::uintptr_t>(this)) + "_" +
                               std::to_string(a.from);
      everyone_ = who_runs(steps_, hand_);
      together([&] { disk_[a.from] = std::make_unique<state_on_disk>(call_, hand_, name); });
      report.on_disk = std::max(report.on_disk, static_cast<int>(disk_.size()));
    } else {
      kept_[a.from] = hand_;
      report.kept = std::max(report.kept, static_cast<int>(kept_.size()));
    }
  }
  /// Calls f, which has to do with files; where it throws on one of the ranks, all of them throw.
  template <class F> void together(const F& f) {
    if (everyone_ == nullptr) return f();
    detail::together(everyone_->handle(), f);
  }
  /// One that is kept, or that a taped step has read or made.
  const cores& state(int i) const {
    if (const auto at = kept_.find(i); at != kept_.end()) return at->second;
    if (const auto at = runs_.find(i); at != runs_.end()) return at->second.from;
    return runs_.at(i - 1).to;
  }

  std::string_view call_;
  std::span<cell_base* const> steps_;
  cores hand_, bar_;
  std::function<cores(const cores&)> ends_;
  std::string directory_;
  int number_;
  bool ended_ = false;
  const communicator* everyone_ = nullptr;  // of a state that goes to a file
  int first_ = 0;  // the step that has not run yet
  std::map<int, cores> kept_;
  std::map<int, std::unique_ptr<state_on_disk>> disk_;
  std::map<int, taped_step> runs_;
};

}  // namespace detail::pipeline
}  // namespace dimesh
