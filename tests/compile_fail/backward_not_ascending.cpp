// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A rank goes back through the micro-batches as the figure of GPipe's paper does, last one first.
// expect: checked_schedule: a stage goes back through micro-batches in another order than 0, 1, 2, ..., and gradients are summed in it; let backward operations ascend
// expect: backward_not_ascending<0, 5>
#include <dimesh/pipeline/checked_schedule.hpp>
#include <dimesh/pipeline/schedules.hpp>

struct mine : dimesh::gpipe {
#ifdef COMPILE_FAIL
  constexpr dimesh::stage_operation at(int rank, int k) const {
    return dimesh::gpipe::at(rank, k < micros ? k : 3 * micros - 1 - k);
  }
#else
  // In ascending order, as gpipe does.
#endif
};
constexpr auto facts = dimesh::checked_schedule<mine{{.ranks = 2, .micros = 4}}>();
