// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a pipeline without a flush cost? No bubble, but weights that are older than they should
// be, and several versions of them at a time. They run by value_and_update (pipeline.hpp), and are
// here to show what synchronous schedules avoid.
//
//   pipedream{.ranks = 4, .micros = 32}      an update a micro-batch; rank r has p - r versions
//   pipedream_2bw{.ranks = 4, .micros = 32, .accumulate = 4}   one in four; two versions, one old
//   weight_facts_of(pipedream{4, 32}, 0)       -> {.versions = 4, .staleness = 3}
#pragma once

#include "dimesh/detail/numbered.hpp"
#include "dimesh/pipeline/schedules.hpp"

namespace dimesh {

/// PipeDream (Harlap et al. 2018, arXiv 1806.03377), 1F1B over a stream of micro-batches: each
/// one's gradient is applied as soon as its backward pass is through the stage, and its backward
/// pass uses the weights that its forward pass saw (weight stashing).
struct pipedream {
  int ranks = 0, micros = 0;
  constexpr int stages() const { return ranks; }
  constexpr int rank_of(int stage, int) const { return stage; }
  constexpr int length(int) const { return 2 * micros; }
  constexpr stage_operation at(int rank, int k) const {
    return one_f_one_b{ranks, micros}.at(rank, k);
  }
  /// How many updates the weights have that this micro-batch uses at this stage: one for each
  /// backward operation that the rank has done before its forward.
  constexpr int version(int stage, int micro) const {
    return detail::pipeline::most(0, micro - (ranks - 1 - stage));
  }
  /// How many updates come before the micro-batch's own.
  constexpr int update_of(int micro) const { return micro; }
};

/// PipeDream-2BW (Narayanan et al. 2020, arXiv 2006.09503): gradients of `accumulate` micro-batches
/// (p or more) make an update, and every batch uses the weights one update back, at all stages: W(t
/// + 1) = W(t) - rate * gradient(W(t - 1)).
struct pipedream_2bw {
  int ranks = 0, micros = 0;
  int accumulate = 0;  ///< micro-batches of an update; divides `micros`
  constexpr bool fits() const { return accumulate >= ranks && micros % accumulate == 0; }
  constexpr int stages() const { return ranks; }
  constexpr int rank_of(int stage, int) const { return stage; }
  constexpr int length(int) const { return 2 * micros; }
  constexpr stage_operation at(int rank, int k) const {
    return one_f_one_b{ranks, micros}.at(rank, k);
  }
  constexpr int version(int, int micro) const {
    return detail::pipeline::most(0, micro / accumulate - 1);
  }
  constexpr int update_of(int micro) const { return micro / accumulate; }
};

/// What a rank of such a pipeline has to keep, found by going through its operations.
struct weight_facts {
  int versions = 0;  ///< that are kept at a time, the newest among them
  int staleness = 0;  ///< the most updates that a gradient missed when it is applied
  bool available = true;  ///< each version is there when the first micro-batch asks for it
};

/// Goes through the operations of a rank that has one stage. A version is kept from its update
/// until no micro-batch to come needs it, or it is no longer the newest.
template <class S> constexpr weight_facts weight_facts_of(const S& s, int rank) {
  weight_facts facts;
  detail::numbered<int> users(static_cast<std::size_t>(s.micros) + 1);
  for (int micro = 0; micro < s.micros; ++micro) {
    const int version = s.version(rank, micro);
    if (version < 0 || version > s.micros) return {.available = false};
    ++users[static_cast<std::size_t>(version)];
  }
  int newest = 0, gone = 0;
  for (int k = 0; k < s.length(rank); ++k) {
    const stage_operation o = s.at(rank, k);
    const int version = s.version(o.stage, o.micro);
    if (o.work == stage_work::forward) {
      if (version > newest) facts.available = false;
    } else {
      facts.staleness = detail::pipeline::most(facts.staleness, s.update_of(o.micro) - version);
      --users[static_cast<std::size_t>(version)];
      // The update is made when the last micro-batch of its batch is back.
      if (o.micro + 1 == s.micros || s.update_of(o.micro + 1) > s.update_of(o.micro)) ++newest;
    }
    while (gone < newest && users[static_cast<std::size_t>(gone)] == 0) ++gone;
    facts.versions = detail::pipeline::most(facts.versions, newest - gone + 1);
  }
  return facts;
}

}  // namespace dimesh
