// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two micro-batches change places, on the receiving rank alone.
// expect: checked_schedule: a rank receives messages in another order than they are sent; let both ranks take micro-batches in one order
// expect: messages_out_of_order<1, 1>
#include <dimesh/pipeline/checked_schedule.hpp>
#include <dimesh/pipeline/schedules.hpp>

/// The last rank takes micro-batches in pairs, the second of each first.
struct mine : dimesh::gpipe {
#ifdef COMPILE_FAIL
  constexpr dimesh::stage_operation at(int rank, int k) const {
    return dimesh::gpipe::at(rank, rank == 1 && k < micros ? k ^ 1 : k);
  }
#else
  // In ascending order, as gpipe does on both ranks.
#endif
};
constexpr auto facts = dimesh::checked_schedule<mine{{.ranks = 2, .micros = 4}}>();
