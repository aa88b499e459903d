// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How far apart are two arrays at most? The greatest difference, and NaN if one is no number:
// std::max would pass over those.
//
//   double most = 0;
//   for (...) most = test_support::worst(most, std::abs(a[i] - b[i]));
#pragma once

namespace test_support {

inline double worst(double so_far, double difference) {
  return difference <= so_far || so_far != so_far ? so_far : difference;
}

}  // namespace test_support
