// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A pipeline tick by tick: what the library computes from one event to the next, found in the most
// naive way. At each tick every rank that is free looks whether its next operation can begin.
#pragma once

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "dimesh/pipeline/operation.hpp"

namespace test_clock {

using dimesh::stage_operation;
using dimesh::stage_work;

struct ticks {
  int forward = 1, input = 1, weight = 1, message = 0;
  int of(stage_work w) const {
    return w == stage_work::forward          ? forward
           : w == stage_work::backward_input ? input
           : w == stage_work::backward       ? input + weight
                                             : weight;
  }
};

struct outcome {
  int makespan = -1;  // -1: it comes to a stop
  int span = 0;  // the longest of a rank, from its first begin to its last end
  int held = 0;  // activations, at most on any rank at a tick
  std::vector<int> idle = {};  // of each rank, until the makespan
};

template <class S> class clock {
 public:
  clock(const S& s, const ticks& t) : s_(s), t_(t), ranks_(static_cast<std::size_t>(s.ranks)) {}

  outcome run() {
    outcome o;
    std::size_t left = 0;
    for (int r = 0; r < s_.ranks; ++r) left += static_cast<std::size_t>(s_.length(r));
    const int longest =
        4 * (static_cast<int>(left) + 1) * (t_.forward + t_.input + t_.weight + t_.message + 1);
    for (int now = 0; now < longest; ++now) {
      for (int r = 0; r < s_.ranks; ++r) begin_some(r, now);
      for (int r = 0; r < s_.ranks; ++r) o.held = std::max(o.held, held(r, now));
      if (std::all_of(ranks_.begin(), ranks_.end(), [](const rank& r) { return r.done; })) break;
    }
    for (const rank& r : ranks_)
      if (!r.done) return o;
    for (const rank& r : ranks_)
      o.makespan = std::max(o.makespan, r.free), o.span = std::max(o.span, r.free - r.first);
    for (const rank& r : ranks_) o.idle.push_back(o.makespan - r.busy);
    return o;
  }

 private:
  struct rank {
    int next = 0, free = 0, busy = 0, first = -1;
    bool done = false;
    std::vector<std::pair<stage_operation, std::pair<int, int>>> log = {};  // begin, end
  };

  // The tick at which a result is there for a rank; far away if it is not made yet.
  int there(char what, int stage, int micro, int for_rank) const {
    const auto found = ends_.find({what, stage, micro});
    if (found == ends_.end()) return 1 << 29;
    return found->second + (s_.rank_of(stage, micro) == for_rank ? 0 : t_.message);
  }
  bool can_begin(const stage_operation& o, int r, int now) const {
    const int slices = dimesh::detail::pipeline::slices_of(s_);
    int when = 0;
    const auto wants = [&](char what, int stage, int micro) {
      when = std::max(when, there(what, stage, micro, r));
    };
    if (o.work == stage_work::forward) {
      if (o.stage > 0) wants('f', o.stage - 1, o.micro);
      if (o.micro % slices > 0) wants('f', o.stage, o.micro - 1);
    } else if (o.work == stage_work::backward_weight) {
      wants('b', o.stage, o.micro);
    } else {
      wants('f', o.stage, o.micro);
      if (o.stage < s_.stages() - 1) wants('b', o.stage + 1, o.micro);
      if (o.micro % slices < slices - 1) wants('b', o.stage, o.micro + 1);
    }
    return when <= now;
  }
  void begin_some(int number, int now) {
    rank& r = ranks_[static_cast<std::size_t>(number)];
    if (r.free > now) return;
    r.done = r.next == s_.length(number);
    if (r.done) return;
    int pair = 1;
    if constexpr (requires { s_.together(number, r.next); })
      pair = s_.together(number, r.next) ? 2 : 1;
    int time = 0;
    for (int i = 0; i < pair; ++i) {
      const stage_operation o = s_.at(number, r.next + i);
      if (!can_begin(o, number, now)) return;
      time += t_.of(o.work);
    }
    if (r.first < 0) r.first = now;
    for (int i = 0; i < pair; ++i) {
      const stage_operation o = s_.at(number, r.next + i);
      if (o.work == stage_work::forward) ends_[{'f', o.stage, o.micro}] = now + time;
      if (o.work == stage_work::backward || o.work == stage_work::backward_input)
        ends_[{'b', o.stage, o.micro}] = now + time;
      r.log.push_back({o, {now, now + time}});
    }
    r.free = now + time, r.busy += time, r.next += pair;
  }
  // Activations whose forward has begun and whose last use has not ended.
  int held(int number, int now) const {
    int n = 0;
    for (const auto& [o, when] : ranks_[static_cast<std::size_t>(number)].log) {
      if (o.work == stage_work::forward && when.first <= now) ++n;
      const bool last = o.work == stage_work::backward || o.work == stage_work::backward_weight;
      if (last && when.second <= now) --n;
    }
    return n;
  }

  S s_;
  ticks t_;
  std::vector<rank> ranks_;
  std::map<std::tuple<char, int, int>, int> ends_;
};

template <class S> outcome run_clock(const S& s, const ticks& t = {}) {
  return clock<S>(s, t).run();
}

}  // namespace test_clock
