// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schedules of two stages a rank: round and round, or there and back.

#include <dimesh/pipeline/schedules.hpp>
#include <dimesh/pipeline/zero_bubble.hpp>

#include "train.hpp"

void train_returning(const dm::grid<pod>& g, const settings& s, const text::book& c,
                     std::vector<outcome>& all) {
  const auto p = static_cast<int>(g.size<stage>());
  const dm::interleaved round{p, s.micros, 2};
  const dm::zb_v back{p, s.micros};
  if (p == 1) {
    train_by<0, 0>("interleaved", round, g, s, c, all);
    train_by<0, 0>("zb-v", back, g, s, c, all);
  } else if (p == 2) {
    train_by<0, 1, 0, 1>("interleaved", round, g, s, c, all);
    train_by<0, 1, 1, 0>("zb-v", back, g, s, c, all);
  } else if (p == 4) {
    train_by<0, 1, 2, 3, 0, 1, 2, 3>("interleaved", round, g, s, c, all);
    train_by<0, 1, 2, 3, 3, 2, 1, 0>("zb-v", back, g, s, c, all);
  }
}
