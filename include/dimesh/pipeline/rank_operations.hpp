// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a rank of a pipeline do? The operations that a schedule has for it, which must be made
// for as many cells, at their places, as there are.
//
//   operations_of(one_f_one_b{2, 8}, cells, size of the axis, my coordinate,
//                 blocking, goes back)
#pragma once

#include <list>
#include <span>
#include <utility>
#include <vector>

#include "dimesh/pipeline/cell_run.hpp"
#include "dimesh/pipeline/checked_schedule.hpp"

namespace dimesh::detail::pipeline {

[[noreturn]] inline void refuse_place(int stage, int rank, int place) {
  (words() << "pipeline: the schedule has stage " << stage << " on rank " << rank
           << ", and its cell lives at coordinate " << place
           << "; place cells as the schedule says")
      .raise();
}
[[noreturn]] inline void refuse_two_places(int stage, int rank, int other) {
  (words() << "pipeline: the schedule has stage " << stage << " on ranks " << rank << " and "
           << other
           << ", and a cell's weights are on one of them; such schedules can be checked and "
              "simulated; to run, take one that has each stage on one rank, as one_f_one_b")
      .raise();
}
[[noreturn]] inline void refuse_stages(int schedule, int cells, index_t ranks, index_t axis) {
  (words() << "pipeline: the schedule has " << schedule << " stages on " << ranks
           << " ranks, the pipeline " << cells << " cells on " << axis
           << "; give as many cells as stages, on an axis of as many ranks")
      .raise();
}

/// What a schedule says, as lists: what checks and runs them is compiled once for all schedules.
struct listed_schedule {
  int ranks = 0, micros = 0, slices = 1;
  template <PipelineSchedule S>
  explicit listed_schedule(const S& s)
      : ranks(s.ranks), micros(s.micros), slices(slices_of(s)), fits_(schedule_fits(s)) {
    if (!fits_) return;
    stages_ = s.stages();
    for (int stage = 0; stage < stages_; ++stage)
      for (int micro = 0; micro < micros; ++micro) places_.push_back(s.rank_of(stage, micro));
    for (int rank = 0; rank < ranks; ++rank) {
      auto& mine = lists_.emplace_back();
      for (int k = 0; k < s.length(rank); ++k)
        mine.push_back({s.at(rank, k), done_together(s, rank, k) > 1});
    }
  }
  /// Its way forward alone: each rank's forward operations, in their order.
  listed_schedule forward_part() const {
    listed_schedule part = *this;
    for (auto& mine : part.lists_) {
      std::erase_if(mine, [](const listed& o) { return o.what.work != stage_work::forward; });
      for (listed& o : mine) o.together = false;
    }
    return part;
  }
  bool goes_back() const {
    for (const auto& mine : lists_)
      for (const listed& o : mine)
        if (o.what.work != stage_work::forward) return true;
    return false;
  }
  friend bool operator==(const listed_schedule&, const listed_schedule&) = default;
  bool fits() const { return fits_; }
  int stages() const { return stages_; }
  int rank_of(int stage, int micro) const {
    return places_[static_cast<std::size_t>(stage * micros + micro)];
  }
  int length(int rank) const { return static_cast<int>(of(rank).size()); }
  stage_operation at(int rank, int k) const { return of(rank)[static_cast<std::size_t>(k)].what; }
  bool together(int rank, int k) const { return of(rank)[static_cast<std::size_t>(k)].together; }

 private:
  struct listed {
    stage_operation what;
    bool together;
    friend bool operator==(const listed&, const listed&) = default;
  };
  const std::vector<listed>& of(int rank) const { return lists_[static_cast<std::size_t>(rank)]; }
  bool fits_;
  int stages_ = 1;
  std::vector<int> places_ = {};
  std::vector<std::vector<listed>> lists_ = {};
};

/// What checked_schedule says. A program runs few schedules, each at every step: those that were
/// checked last are not checked again.
inline const schedule_facts& checked_once(const listed_schedule& s) {
  thread_local std::list<std::pair<listed_schedule, schedule_facts>> seen;
  for (auto at = seen.begin(); at != seen.end(); ++at)
    if (at->first == s) {
      seen.splice(seen.begin(), seen, at);
      return seen.front().second;
    }
  const schedule_facts facts = checked_schedule(s);
  if (seen.size() == 4) seen.pop_back();
  return seen.emplace_front(s, facts).second;
}

/// The operations of a rank. window: of its messages under way (check.hpp).
struct rank_operations {
  std::vector<stage_operation> all = {};
  int window = 1;
};
/// Throws where the schedule is wrong, or not made for the cells; or goes forward alone, where a
/// way back is wanted.
inline rank_operations operations_of(const listed_schedule& s, std::span<cell_base* const> cells,
                                     index_t size, index_t rank, bool blocking, bool goes_back) {
  const schedule_facts& facts = checked_once(s);
  if (goes_back && !s.goes_back())
    (words() << "pipeline: the schedule goes forward only, and a gradient comes from a way back; "
                "take one_f_one_b or another one that has it")
        .raise();
  if (s.stages() != static_cast<int>(cells.size()) || s.ranks != size)
    refuse_stages(s.stages(), static_cast<int>(cells.size()), s.ranks, size);
  if (blocking && !facts.safe_blocking)
    (words() << "pipeline: the schedule does not run with blocking messages: two ranks would both "
                "send; leave `blocking` out")
        .raise();
  for (int stage = 0; stage < s.stages(); ++stage) {
    const int place = s.rank_of(stage, 0), cell = cells[static_cast<std::size_t>(stage)]->place;
    for (int micro = 1; micro < s.micros; ++micro)
      if (s.rank_of(stage, micro) != place)
        refuse_two_places(stage, place, s.rank_of(stage, micro));
    if (cell != place) refuse_place(stage, place, cell);
  }
  rank_operations found{.window = facts.window};
  const int mine = static_cast<int>(rank);
  for (int k = 0; k < s.length(mine); ++k) found.all.push_back(s.at(mine, k));
  return found;
}

/// Where a pipeline stands: the grid of its weights, and an axis of it.
struct standing {
  const void* object = nullptr;
  const grid_state* grid = nullptr;
  int axis = 0;
  /// Of this rank, along the axis.
  int coord() const { return static_cast<int>(grid->coords()[axis]); }
};
template <class A> standing standing_of(std::span<cell_base* const> cells) {
  standing found;
  for (const cell_base* c : cells)
    for (const tensor_core& w : c->weights) {
      require_grid("pipeline", w);
      if (found.grid != nullptr && found.grid != w.grid)
        (words() << "pipeline: weights of the cells live on different grids; make all of them on "
                    "one")
            .raise();
      found = {w.grid_object, w.grid, w.facts->axis_of(type_number<A>)};
    }
  if (found.grid == nullptr)
    (words() << "pipeline: no cell has a weight, so that nothing says on which grid it runs; give "
                "one of them a tensor")
        .raise();
  return found;
}

}  // namespace dimesh::detail::pipeline
