// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schedules of one stage a rank.

#include <dimesh/pipeline/schedules.hpp>
#include <dimesh/pipeline/zero_bubble.hpp>

#include "train.hpp"

template <int... K>
static void train_all(const dm::grid<pod>& g, const settings& s, const text::book& c,
                      std::vector<outcome>& all) {
  constexpr int p = sizeof...(K);
  train_by<K...>("gpipe", dm::gpipe{p, s.micros}, g, s, c, all);
  train_by<K...>("1f1b", dm::one_f_one_b{p, s.micros}, g, s, c, all);
  train_by<K...>("zb-h1", dm::zb_h1{p, s.micros}, g, s, c, all);
  train_by<K...>("zb-h2", dm::zb_h2{p, s.micros}, g, s, c, all);
}
void train_straight(const dm::grid<pod>& g, const settings& s, const text::book& c,
                    std::vector<outcome>& all) {
  const auto stages = g.size<stage>();
  if (stages == 1) train_all<0>(g, s, c, all);
  if (stages == 2) train_all<0, 1>(g, s, c, all);
  if (stages == 4) train_all<0, 1, 2, 3>(g, s, c, all);
}
