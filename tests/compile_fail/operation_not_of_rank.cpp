// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A list for the wrong rank.
// expect: checked_schedule: a rank does what is no operation of its stages, or has been done; look at at(rank, place)
// expect: operation_not_of_rank<0, 0>
#include <dimesh/pipeline/checked_schedule.hpp>
#include <dimesh/pipeline/schedules.hpp>

/// Rank 0 is to be the last stage.
struct mine : dimesh::one_f_one_b {
#ifdef COMPILE_FAIL
  constexpr dimesh::stage_operation at(int rank, int k) const {
    return dimesh::one_f_one_b::at(ranks - 1 - rank, k);
  }
#else
  // Those of one_f_one_b: rank r is stage r.
#endif
};
constexpr auto facts = dimesh::checked_schedule<mine{{.ranks = 2, .micros = 4}}>();
