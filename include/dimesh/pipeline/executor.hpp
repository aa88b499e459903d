// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who carries a schedule out? Each rank its own list of operations, on cells that have lost their
// types: it takes what an operation needs, runs it, hands on what it gives, and lets go of what
// nobody needs any more.
//
//   executor e(cells, object, grid, axis, settings);
//   e.run(operations of this rank);          // e.peak, e.loss, cells' sums
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>

#include "dimesh/ledger/timeline.hpp"
#include "dimesh/pipeline/channel.hpp"
#include "dimesh/pipeline/operation.hpp"
#include "dimesh/pipeline/shape_cells.hpp"
#include "dimesh/pipeline/updates.hpp"

namespace dimesh {

/// What a rank did in a run of a pipeline.
struct pipeline_report {
  int peak = 0;  ///< micro-batches' activations of a stage held at a time, at most
  index_t messages = 0;  ///< sent to other stages, one for each tensor
  index_t bytes = 0;  ///< of their elements
};

namespace detail::pipeline {

class executor {
 public:
  pipeline_report report;
  cores loss;  // the sum of the last cell's
  stage_listener* listener = nullptr;

  /// recorded: with a way back. input(i) gives the first cell's micro-batch i.
  /// slices: of a sequence, each of which is a micro-batch of extents of its own.
  executor(std::span<cell_base* const> cells, messenger& m, int place, bool recorded,
           const std::function<cores(int)>& input, int slices = 1)
      : cells_(cells),
        messages_(m),
        place_(place),
        recorded_(recorded),
        slices_(slices),
        input_(input),
        sent_(2 * cells.size()) {
    for (std::size_t s = 0; s < cells.size() * static_cast<std::size_t>(slices); ++s) {
      forward_.push_back(m.open());
      backward_.push_back(m.open());
    }
  }

  /// window: how many messages of each stage and direction are under way at a time, at most; the
  /// next one waits for the first of them. Where one rank fails, those that wait for its messages,
  /// or until it takes theirs, fail, too.
  void run(std::span<const stage_operation> all, int window) {
    window_ = static_cast<std::size_t>(window);
    const at_one_place here;
    try {
      go_through(all);
    } catch (...) {
      give_up();
      throw;
    }
  }
  /// The loss, where it is; else a tensor on the grid without elements.
  void take_loss(tensor_core& to, const void* object, const grid_state& g) {
    const tensor_facts* const facts = to.facts;
    if (loss.empty())
      to.make_on(object, g, nullptr, storage{});
    else
      to = std::move(loss[0]);
    to.facts = facts;
  }
  /// What the last cell gave of each micro-batch, where nothing goes back.
  std::map<int, cores> given;

 private:
  using key = std::pair<int, int>;  // stage and micro-batch

  void go_through(std::span<const stage_operation> all) {
    for (std::size_t k = 0; k < all.size(); ++k) {
      expect(all[k], true);
      if (k + 1 < all.size()) expect(all[k + 1], false);
      work(all[k]);
      for (const auto& each : sent_)
        for (const auto& one : each) messages_.progress(one);
    }
    for (auto& each : sent_)
      for (auto& one : each) messages_.settle(one);
    report.messages = messages_.messages;
    report.bytes = messages_.bytes;
  }
  void give_up() noexcept {
    std::set<int> told{place_};
    const auto tell = [&](int place) {
      if (told.insert(place).second) messages_.take_no_more(place);
    };
    for (int s = 0; s <= last(); ++s) {
      if (cell(s).place != place_) continue;
      if (s > 0) tell(cell(s - 1).place);
      if (s < last()) tell(cell(s + 1).place);
      for (int slice = 0; slice < slices_; ++slice) {
        if (s < last() && cell(s + 1).place != place_)
          messages_.give_up(forward_[channel_number(s + 1, slice)], cell(s + 1).place);
        if (s > 0 && cell(s - 1).place != place_ && recorded_)
          messages_.give_up(backward_[channel_number(s - 1, slice)], cell(s - 1).place);
      }
    }
  }

  cell_base& cell(int s) const { return *cells_[static_cast<std::size_t>(s)]; }
  int last() const { return static_cast<int>(cells_.size()) - 1; }
  static bool forward(const stage_operation& o) { return o.work == stage_work::forward; }

  /// The stage whose result an operation needs; -1: none.
  int before(const stage_operation& o) const {
    if (forward(o)) return o.stage - 1;
    return o.work == stage_work::backward_weight || o.stage == last() ? -1 : o.stage + 1;
  }
  std::size_t channel_number(int stage, int micro) const {
    return static_cast<std::size_t>(stage * slices_ + micro % slices_);
  }
  channel& channel_to(const stage_operation& o) {
    return (forward(o) ? forward_ : backward_)[channel_number(o.stage, o.micro)];
  }
  bool begins_sequence(const stage_operation& o) const { return o.micro % slices_ == 0; }
  bool ends_sequence(const stage_operation& o) const { return (o.micro + 1) % slices_ == 0; }
  key sequence_of(const stage_operation& o) const { return {o.stage, o.micro / slices_}; }
  /// What the slice before left of this operation's sequence; nothing, if it left nothing.
  cores take_of(std::map<key, cores>& all, const stage_operation& o) const {
    auto left = all.extract(sequence_of(o));
    return left ? std::move(left.mapped()) : cores{};
  }
  /// The last so many of some tensors, which lose them.
  static cores split_off(cores& from, std::size_t count) {
    const auto at = from.end() - static_cast<std::ptrdiff_t>(count);
    cores out(std::make_move_iterator(at), std::make_move_iterator(from.end()));
    from.erase(at, from.end());
    return out;
  }
  auto& coming(const stage_operation& o) { return forward(o) ? x_ : ybar_; }

  /// Begins to receive what an operation needs, if it comes from another rank; now, or if it can.
  void expect(const stage_operation& o, bool now) {
    const int from = before(o);
    if (from < 0 || cell(from).place == place_) return;
    auto& slot = coming(o)[{o.stage, o.micro}];
    channel& c = channel_to(o);
    if (slot || !(now || messages_.knows(c))) return;
    slot =
        messages_.receive(c, cell(from).place, forward(o) ? cell(o.stage).takes : duals(o.stage));
  }
  /// The cotangents of what a cell gives: tensors that say nothing but their facts.
  cores duals(int s) const {
    cores all;
    for (const tensor_core& one : cell(s).gives)
      if (one.facts->has_gradient) all.emplace_back(one.facts->dual);
    return all;
  }
  cores take(const stage_operation& o) {
    auto& all = coming(o);
    const auto at = all.find({o.stage, o.micro});
    cores x = messenger::arrive(*at->second);
    all.erase(at);
    return x;
  }
  /// To the stage `to`, which needs it for the same work.
  void hand_on(const stage_operation& o, int to, cores x) {
    stage_operation next = o;
    next.stage = to;
    if (cell(to).place != place_) {
      auto& sent = sent_[2 * static_cast<std::size_t>(o.stage) + (forward(o) ? 1 : 0)];
      if (sent.size() == window_) {
        messages_.settle(sent.front());
        sent.pop_front();
      }
      sent.push_back(messages_.send(channel_to(next), cell(to).place, x, o.micro));
      return;
    }
    auto& slot = coming(next)[{to, o.micro}];
    slot = std::make_unique<transfer>();
    slot->tensors = std::move(x);
  }

  void work(const stage_operation& o) {
    switch (o.work) {
      case stage_work::forward:
        return go_forward(o);
      case stage_work::backward:
        return go_back(o, true);
      case stage_work::backward_input:
        return go_back(o, false);
      case stage_work::backward_weight:
        return finish(o);
    }
  }
  /// In a rehearsal, shapes as large.
  cores first_past(const stage_operation& o, const cores& x) const {
    cores past = cell(o.stage).first_past(o.micro);
    const cores& known = x.empty() ? cell(o.stage).weights : x;
    if (known.empty() || !known[0].is_shape) return past;
    past = as_shapes(past, known[0].count);
    for (tensor_core& one : past) one.live = live_bytes(one.count, one.bytes());
    return past;
  }
  void go_forward(const stage_operation& o) {
    const bool begins = o.stage == 0, ends = o.stage == last();
    cores x = begins ? input_(o.micro) : take(o);
    const std::size_t carried = cell(o.stage).carries.size();
    if (carried > 0) {
      cores past = begins_sequence(o) ? first_past(o, x) : take_of(pasts_, o);
      for (tensor_core& one : past) x.push_back(std::move(one));
    }
    if (listener != nullptr) listener->before_forward(o.stage, o.micro);
    const trace_span here("forward");  // what is waited for is no work
    auto r = std::make_unique<cell_run>(cell(o.stage), x, o.micro, recorded_, !begins);
    const int now = static_cast<int>(runs_.size()) + 1;
    if (now > report.peak) report.peak = now;
    cores y = r->y;
    for (tensor_core& one : y) one.record = nullptr;
    if (cores past = split_off(y, carried); carried > 0 && !ends_sequence(o))
      pasts_[sequence_of(o)] = std::move(past);
    if (!ends) {
      hand_on(o, o.stage + 1, std::move(y));
    } else if (recorded_) {
      add_loss(y);
    } else {
      given[o.micro] = std::move(y);
    }
    if (!recorded_) return;
    for (std::size_t i = ends ? r->y.size() - carried : 0; i < r->y.size(); ++i)
      r->y[i].forget_data();
    runs_[{o.stage, o.micro}] = std::move(r);
  }
  void add_loss(cores& y) {
    if (loss.empty())
      loss = std::move(y);
    else if (y[0].is_shape)
      add_shapes(loss[0], y[0]);
    else
      add_to_sum(loss[0], y[0], storage{});
  }
  void go_back(const stage_operation& o, bool whole) {
    cores ybar;
    if (o.stage < last()) ybar = take(o);
    const trace_span here("backward");
    cell_run& r = *runs_.at({o.stage, o.micro});
    r.seed(ybar, cell(o.stage).sums, take_of(past_bars_, o));
    if (whole)
      r.backward(cell(o.stage).sums);
    else
      r.backward_input(cell(o.stage).sums);
    cores xbar = r.xbar();
    std::size_t carried = 0;
    for (const tensor_core& one : cell(o.stage).carries) carried += one.facts->has_gradient;
    if (cores bar = split_off(xbar, carried); carried > 0 && !begins_sequence(o))
      past_bars_[sequence_of(o)] = std::move(bar);
    if (o.stage > 0) hand_on(o, o.stage - 1, std::move(xbar));
    if (whole) end(o);
  }
  void finish(const stage_operation& o) {
    const trace_span here("backward");
    runs_.at({o.stage, o.micro})->backward(cell(o.stage).sums);
    end(o);
  }
  void end(const stage_operation& o) {
    runs_.erase({o.stage, o.micro});
    if (listener != nullptr) listener->summed(o.stage);
  }

  std::span<cell_base* const> cells_;
  messenger& messages_;
  int place_;
  bool recorded_;
  int slices_;
  std::size_t window_ = 1;
  std::function<cores(int)> input_;
  std::vector<channel> forward_, backward_;
  std::map<key, cores> pasts_, past_bars_;  // of each stage's sequences that are under way
  std::vector<std::deque<std::unique_ptr<transfer>>> sent_;  // of each stage and direction
  std::map<key, std::unique_ptr<cell_run>> runs_;
  std::map<key, std::unique_ptr<transfer>> x_, ybar_;
};

}  // namespace detail::pipeline
}  // namespace dimesh
