// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which schedule has a rank that sends further ahead than another one takes?
#pragma once

#include "dimesh/pipeline/schedules.hpp"

namespace test_support {

/// The first rank as under gpipe, the second as under 1F1B: from four micro-batches on, with less
/// than half of a stage's messages under way, each would wait for the other for ever.
struct far_ahead {
  int ranks = 2, micros = 0;
  constexpr int stages() const { return 2; }
  constexpr int rank_of(int stage, int) const { return stage; }
  constexpr int length(int) const { return 2 * micros; }
  constexpr dimesh::stage_operation at(int rank, int k) const {
    if (rank == 0) return dimesh::gpipe{2, micros}.at(0, k);
    return dimesh::one_f_one_b{2, micros}.at(1, k);
  }
};

}  // namespace test_support
