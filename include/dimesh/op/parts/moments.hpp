// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What are mean and variance of elements that ranks split? Deviations of blocks in one pass over
// memory, joined by their counts; where ranks split what is joined, by two all-reduces: of a number
// a moment, the mean as far as its digits go, and of two, what is left of it and squared deviations
// from it. No digits cancel, and every rank has the same bits.
//
//   moment_place(x, moments)         over which axes, and of how many elements
//   find_moments(place, x, moments, mean, rest, variance)     the mean is mean + rest
#pragma once

#include <algorithm>

#include "dimesh/collective/all_reduce.hpp"
#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/layout/box.hpp"
#include "dimesh/local/statistics.hpp"
#include "dimesh/op/parts/loop_plan.hpp"

namespace dimesh::detail {

/// What the blocks of a tensor and of its moments say of sums over the other dims.
struct moment_place {
  unsigned over = 0;  // the axes whose ranks have blocks of the same sums
  double all = 1, own = 1;  // elements of a sum: everywhere, and here

  constexpr moment_place(const tensor_core& x, const tensor_core& moments) {
    for (int d = 0; d < x.rank(); ++d) {
      if (moments.facts->place_of(x.facts->dim[d]) >= 0) continue;
      over |= x.layout().axes_of(d);
      all *= static_cast<double>(x.extent(d));
      own *= static_cast<double>(x.local(d));
    }
    over = talking(over, x.sizes());
  }
  /// Of one element; moments of nothing are 0.
  constexpr double share() const { return all > 0 ? 1 / all : 0; }
  constexpr void cost(tally& t, const tensor_core& x, index_t bytes, int times) const {
    if (over == 0 || bytes == 0) return;
    const index_t n = group_size(over, x.sizes());
    for (int i = 0; i < times; ++i)
      t.collective(event_kind::all_reduce, over, bytes, 2 * (n - 1) * bytes / n);
  }
  template <class T> void complete(const tensor_core& x, T* sums, index_t n) const {
    if (over != 0) collective::all_reduce(x.grid->along(over), sums, sums, n);
  }
};

/// Of a block: an element `mean` of each moment, how far the mean is from it, `rest`, and squared
/// deviations, `variance` -> those of all (Chan, Golub and LeVeque 1979). Deviations are from what
/// all ranks have added up as the mean, and are corrected by what that lacks: near 1e7 float's own
/// rounding is as large as they are.
template <class T>
void join_moments(const moment_place& place, const tensor_core& x, T* mean, T* rest, T* variance,
                  index_t n) {
  const storage room = storage::acquire(static_cast<std::size_t>(3 * n) * sizeof(T));
  T *const sums = static_cast<T*>(room.data()), *const both = sums + n;
  const T own = static_cast<T>(place.own), share = static_cast<T>(place.share());
  const writes_memory kernel;
  for (index_t i = 0; i < n; ++i) sums[i] = own * share * (mean[i] + rest[i]);
  place.complete(x, sums, n);
  for (index_t i = 0; i < n; ++i) {
    const T from = (mean[i] - sums[i]) + rest[i];
    both[i] = own * share * from;
    both[n + i] = share * variance[i] + own * share * from * from;
  }
  place.complete(x, both, 2 * n);
  for (index_t i = 0; i < n; ++i) {
    mean[i] = sums[i], rest[i] = both[i];
    variance[i] = std::max(both[n + i] - both[i] * both[i], T(0));
  }
}
/// Mean and variance (of the population) over the dims of x that `moments` lacks, and what the mean
/// lacks for being rounded to T.
template <class T>
void find_moments(const moment_place& place, const tensor_core& x, const tensor_core& moments,
                  T* mean, T* rest, T* variance) {
  const index_t n = moments.elements();
  local::deviations(loops_over(loop_dims(x), moments, x), x.data<const T>(), mean, rest, variance,
                    n);
  if (place.over != 0) join_moments(place, x, mean, rest, variance, n);
  const writes_memory kernel;
  const T share = place.over != 0 ? T(1) : static_cast<T>(place.share());
  for (index_t i = 0; i < n; ++i) {
    const T rounded = mean[i] + rest[i];
    rest[i] += mean[i] - rounded;
    mean[i] = rounded;
    variance[i] *= share;
  }
}

}  // namespace dimesh::detail
