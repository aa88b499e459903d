// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Does a schedule run where messages wait? With a buffer for each, any that is free of circles
// does; with none, or with room for one, some do not.
//
//   part_table<int> places        where in its rank's list the operation with a part stands
//   runs_waiting(s, false, places)     -> receive, work, send: each waits for its other end
//   runs_in_window(s, 2, places)       -> a stage's message waits for the last but one before it
//   smallest_window(s, places)         -> with how many under way at a time it runs
#pragma once

#include "dimesh/pipeline/simulate.hpp"

namespace dimesh::detail::pipeline {

/// The rank and the place of the operation that an operation sends its result to; or receives from.
struct partner {
  int rank = -1, place = 0;
};
template <PipelineSchedule S>
constexpr partner sender_of(const S& s, const stage_operation& o, part_table<int>& places) {
  const need n = needs_of(s, o).from_neighbour;
  if (n.stage < 0) return {};
  const int rank = s.rank_of(n.stage, n.micro);
  return rank == s.rank_of(o.stage, o.micro) ? partner{} : partner{rank, places(n)};
}
template <PipelineSchedule S>
constexpr partner receiver_of(const S& s, const stage_operation& o, part_table<int>& places) {
  if (o.work == stage_work::backward_weight) return {};
  const bool forward = o.work == stage_work::forward;
  const int stage = forward ? o.stage + 1 : o.stage - 1;
  if (stage < 0 || stage >= s.stages()) return {};
  const int rank = s.rank_of(stage, o.micro);
  if (rank == s.rank_of(o.stage, o.micro)) return {};
  return {rank, places(forward ? part::forward : part::input, stage, o.micro)};
}

/// Does it run if sends wait for their receives? Between operations k - 1 and k a rank sends the
/// result of the one and receives for the other: first and then, or both at once (`paired`).
template <PipelineSchedule S>
constexpr bool runs_waiting(const S& s, bool paired, part_table<int>& places) {
  struct state {
    int gap = 0;  // before operation number `gap`
    bool sent = false, received = false;
  };
  numbered<state> ranks(static_cast<std::size_t>(s.ranks));
  for (bool moved = true; moved;) {
    moved = false;
    for (int rank = 0; rank < s.ranks; ++rank) {
      state& me = ranks[static_cast<std::size_t>(rank)];
      const int length = s.length(rank);
      while (me.gap <= length) {
        const partner to = me.gap > 0 ? receiver_of(s, s.at(rank, me.gap - 1), places) : partner{};
        if (to.rank < 0) me.sent = true;
        const partner from = me.gap < length ? sender_of(s, s.at(rank, me.gap), places) : partner{};
        if (from.rank < 0) me.received = true;
        if (!me.received && (paired || me.sent)) {
          state& other = ranks[static_cast<std::size_t>(from.rank)];
          if (other.gap == from.place + 1) me.received = other.sent = moved = true;
        }
        if (!me.sent) {
          state& other = ranks[static_cast<std::size_t>(to.rank)];
          // A blocking receiver has its own send behind it.
          if (other.gap == to.place && (paired || other.sent))
            me.sent = other.received = moved = true;
        }
        if (!me.sent || !me.received) break;
        me = {me.gap + 1, false, false};
        moved = true;
      }
    }
  }
  for (int rank = 0; rank < s.ranks; ++rank)
    if (ranks[static_cast<std::size_t>(rank)].gap <= s.length(rank)) return false;
  return true;
}

/// Who takes the last messages of each rank's stage and direction, so many of each.
template <PipelineSchedule S> class last_messages {
 public:
  constexpr last_messages(const S& s, int window)
      : stages_(s.stages()),
        length_(static_cast<std::size_t>(window)),
        takers_(static_cast<std::size_t>(2 * s.ranks * s.stages() * window)),
        next_(static_cast<std::size_t>(2 * s.ranks * s.stages())) {}
  constexpr std::size_t ring_of(int rank, const stage_operation& o) const {
    const int forward = o.work == stage_work::forward ? 1 : 0;
    return static_cast<std::size_t>(2 * (rank * stages_ + o.stage) + forward);
  }
  /// The taker of the message that a ring's next one waits for, when `ahead` others go before it.
  constexpr const partner& before(std::size_t ring, std::size_t ahead) const {
    return takers_[ring * length_ + (next_[ring] + ahead) % length_];
  }
  constexpr void add(std::size_t ring, const partner& taker) {
    takers_[ring * length_ + next_[ring]] = taker;
    next_[ring] = (next_[ring] + 1) % length_;
  }

 private:
  int stages_;
  std::size_t length_;
  numbered<partner> takers_;
  numbered<std::size_t> next_;
};

/// Does it run if a stage's message, forward or backward, waits until the receiver of the one
/// `window` before it has come to the operation that takes that? (It comes there when all before
/// that is done and sent.)
template <PipelineSchedule S>
constexpr bool runs_in_window(const S& s, int window, part_table<int>& places) {
  numbered<int> reached(static_cast<std::size_t>(s.ranks));
  last_messages<S> sent(s, window);
  const auto done = [&](const need& n) {
    return n.stage < 0 ||
           places(n) < reached[static_cast<std::size_t>(s.rank_of(n.stage, n.micro))];
  };
  // May it send, when operations first, ... are done together with it, and sent before?
  const auto has_room = [&](int rank, int first, int i) {
    const std::size_t ring = sent.ring_of(rank, s.at(rank, i));
    int ahead = 0;
    for (int j = first; j < i; ++j) {
      const stage_operation o = s.at(rank, j);
      ahead += sent.ring_of(rank, o) == ring && receiver_of(s, o, places).rank >= 0 ? 1 : 0;
    }
    if (ahead >= window) return false;
    const partner before = sent.before(ring, static_cast<std::size_t>(ahead));
    return before.rank < 0 || reached[static_cast<std::size_t>(before.rank)] >= before.place;
  };
  const auto goes_on = [&](int rank) {
    const int k = reached[static_cast<std::size_t>(rank)];
    const int group = k < s.length(rank) ? done_together(s, rank, k) : 0;
    for (int i = k; i < k + group; ++i) {
      const stage_operation o = s.at(rank, i);
      const needs all = needs_of(s, o);
      if (!done(all.from_neighbour) || !done(all.own) || !done(all.slice)) return false;
      if (receiver_of(s, o, places).rank >= 0 && !has_room(rank, k, i)) return false;
    }
    for (int i = k; i < k + group; ++i) {
      const stage_operation o = s.at(rank, i);
      if (const partner to = receiver_of(s, o, places); to.rank >= 0)
        sent.add(sent.ring_of(rank, o), to);
    }
    reached[static_cast<std::size_t>(rank)] += group;
    return group > 0;
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (int rank = 0; rank < s.ranks; ++rank)
      while (goes_on(rank)) moved = true;
  }
  for (int rank = 0; rank < s.ranks; ++rank)
    if (reached[static_cast<std::size_t>(rank)] < s.length(rank)) return false;
  return true;
}

/// Of a schedule that runs if no message ever waits: how many of a stage and direction must be able
/// to be under way at a time.
template <PipelineSchedule S> constexpr int smallest_window(const S& s, part_table<int>& places) {
  if (runs_in_window(s, 1, places)) return 1;
  int too_few = 1, enough = s.micros;
  while (enough - too_few > 1) {
    const int half = too_few + (enough - too_few) / 2;
    (runs_in_window(s, half, places) ? enough : too_few) = half;
  }
  return enough;
}

}  // namespace dimesh::detail::pipeline
