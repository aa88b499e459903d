// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A send without a receive: the last rank leaves out its last micro-batch.
// expect: checked_schedule: a micro-batch is not done at a stage, and the next one waits for its message; add the operation to the rank's list
// expect: operation_never_done<1, 1, 3>
#include <dimesh/pipeline/checked_schedule.hpp>
#include <dimesh/pipeline/schedules.hpp>

/// The last rank stops early.
struct mine : dimesh::one_f_one_b {
#ifdef COMPILE_FAIL
  constexpr int length(int rank) const { return rank == 1 ? 6 : 8; }
#else
  // All of them, as one_f_one_b has them.
#endif
};
constexpr auto facts = dimesh::checked_schedule<mine{{.ranks = 2, .micros = 4}}>();
