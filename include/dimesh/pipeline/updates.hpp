// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When are a stage's weights updated, and which version of them does a micro-batch use? Of most
// schedules once, when all micro-batches are back; of those without a flush (stale.hpp) in between,
// while others are under way with older versions: those stay until nobody needs them.
//
//   updates_of(one_f_one_b{4, 8})    -> 1       updates_of(pipedream{4, 8})   -> 8
//   stage_updates<S> u(s, cells, update);       // update(stage): its gradient is whole
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "dimesh/pipeline/cell_run.hpp"
#include "dimesh/pipeline/rank_operations.hpp"
#include "dimesh/pipeline/stale.hpp"

namespace dimesh::detail::pipeline {

/// Does a schedule say which version of the weights a micro-batch uses?
template <class S>
inline constexpr bool has_versions = requires(const S& s, int n) {
  { s.version(n, n) } -> std::convertible_to<int>;
  { s.update_of(n) } -> std::convertible_to<int>;
};
/// One that does is of no use to a step without updates.
template <class S>
using fault_of_updates = std::conditional_t<has_versions<S>, updates_not_made<S>, no_fault>;
/// The updates that weights have which a micro-batch uses at a stage.
template <class S> constexpr int version_of(const S& s, int stage, int micro) {
  if constexpr (has_versions<S>)
    return s.version(stage, micro);
  else
    return 0;
}
/// Is an update made when so many micro-batches' gradients are summed?
template <class S> constexpr bool ends_update(const S& s, int summed) {
  if constexpr (has_versions<S>)
    return summed == s.micros || s.update_of(summed) > s.update_of(summed - 1);
  else
    return summed == s.micros;
}
template <class S> constexpr int updates_of(const S& s) {
  int n = 0;
  for (int summed = 1; summed <= s.micros; ++summed) n += ends_update(s, summed);
  return n;
}
/// The micro-batches of each update, whose mean gradient it takes.
template <class S> constexpr int micros_of_update(const S& s) {
  int n = 1;
  while (n < s.micros && !ends_update(s, n)) ++n;
  return n;
}

/// Versions are followed rank by rank, and each update takes the mean of as many micro-batches.
template <class S> void require_versions(const S& s) {
  if constexpr (has_versions<S>) {
    // the words for a schedule that is not made for its numbers
    if (!schedule_fits(s)) (void)checked_schedule(listed_schedule(s));
    for (int rank = 0; rank < s.ranks; ++rank)
      if (s.stages() != s.ranks || s.rank_of(rank, 0) != rank)
        (words() << "pipeline: a schedule without a flush has stage " << rank
                 << " elsewhere than on rank " << rank
                 << "; versions of weights are kept where each rank has the stage of its number")
            .raise();
    const int each = micros_of_update(s);
    for (int summed = 1; summed <= s.micros; ++summed)
      if (ends_update(s, summed) != (summed % each == 0))
        (words() << "pipeline: an update takes " << each << " micro-batches, and another one of "
                 << "the schedule does not; let update_of(micro) rise after as many each time, "
                 << "and micros be a multiple of it")
            .raise();
    for (int rank = 0; rank < s.ranks; ++rank)
      if (!weight_facts_of(s, rank).available)
        (words() << "pipeline: the schedule asks for weights before they are updated; let its "
                    "version(stage, micro) count the updates that are made by then")
            .raise();
  }
}

/// Is told where a stage stands: by the executor.
class stage_listener {
 public:
  virtual void before_forward(int stage, int micro) = 0;
  virtual void summed(int stage) = 0;  // a micro-batch's cotangents of its weights are there

 protected:
  ~stage_listener() = default;
};

template <class S> class stage_updates final : public stage_listener {
 public:
  /// update(stage) uses up the sums, changes the weights of a cell, and renews the cell's.
  stage_updates(const S& s, std::span<cell_base* const> cells, std::function<void(int)> update)
      : s_(s), cells_(cells), update_(std::move(update)), stages_(cells.size()) {
    for (std::size_t k = 0; k < cells.size(); ++k) stages_[k].kept[0] = cells[k]->weights;
  }
  void before_forward(int stage, int micro) override {
    state& mine = stages_[static_cast<std::size_t>(stage)];
    ++mine.begun;
    cells_[static_cast<std::size_t>(stage)]->weights = mine.kept.at(version_of(s_, stage, micro));
  }
  void summed(int stage) override {
    state& mine = stages_[static_cast<std::size_t>(stage)];
    if (!ends_update(s_, ++mine.summed)) return;
    cell_base& cell = *cells_[static_cast<std::size_t>(stage)];
    const int next = mine.begun < s_.micros ? version_of(s_, stage, mine.begun)
                                            : std::numeric_limits<int>::max();
    mine.kept.erase(mine.kept.begin(), mine.kept.lower_bound(next));
    update_(stage);
    mine.kept[++mine.newest] = cell.weights;
  }

 private:
  struct state {
    int begun = 0, summed = 0, newest = 0;
    std::map<int, cores> kept = {};  // versions that forward passes to come use
  };
  const S& s_;
  std::span<cell_base* const> cells_;
  std::function<void(int)> update_;
  std::vector<state> stages_;
};

}  // namespace dimesh::detail::pipeline
