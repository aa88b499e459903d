// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How good is a model on records that it never learnt from?
#pragma once

#include <algorithm>
#include <dimesh/dim.hpp>

namespace report {

/// The mean of f, a number, over so many of a loader's batches, evenly spread over its records; 0:
/// over all. B: the dim of the batches.
template <class B, class Loader, class F>
double mean_over_batches(Loader& load, dimesh::index_t most, const F& f) {
  const auto there = load.batches_per_epoch(), n = most > 0 ? std::min(most, there) : there;
  double sum = 0;
  for (dimesh::index_t i = 0; i < n; ++i) {
    load.seek({0, i * there / n * B::extent});
    sum += f(load.next());
  }
  return sum / static_cast<double>(n);
}

}  // namespace report
