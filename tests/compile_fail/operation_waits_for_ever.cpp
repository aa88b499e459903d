// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A rank that goes back before it has gone forward.
// expect: checked_schedule: the ranks wait for each other for ever; put this operation behind what it needs
// expect: operation_waits_for_ever<1, 0>
#include <dimesh/pipeline/checked_schedule.hpp>
#include <dimesh/pipeline/schedules.hpp>

/// The last rank begins with a backward pass.
struct mine : dimesh::one_f_one_b {
#ifdef COMPILE_FAIL
  constexpr dimesh::stage_operation at(int rank, int k) const {
    return dimesh::one_f_one_b::at(rank, rank == 1 ? k ^ 1 : k);
  }
#else
  // Forward first, as one_f_one_b does.
#endif
};
constexpr auto facts = dimesh::checked_schedule<mine{{.ranks = 2, .micros = 4}}>();
