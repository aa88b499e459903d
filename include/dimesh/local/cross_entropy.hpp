// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a row of logits lose for its target, and how does each logit change that? With the
// row's log-sum-exp at hand, a rank needs its own part of the row only: losses of parts add up.
//
//   loss_r = lse + z lse^2 - (1 - s) x[target] - s / n sum(x)       over the whole row of n
//   slope_j = (1 + 2 z lse) exp(x_j - lse) - (1 - s) [j == target] - s / n
//
// A target outside the row stands for nothing: loss and slopes are 0.
#pragma once

#include <algorithm>

#include "dimesh/detail/config.hpp"
#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/math.hpp"
#include "dimesh/local/pieces.hpp"
#include "dimesh/local/tile.hpp"

namespace dimesh::local {

struct cross_entropy_terms {
  double smoothing = 0;  // s: of the target, spread evenly over all classes
  double z_weight = 0;   // z: how much log-sum-exp is held near 0
  index_t first = 0;     // class of x[., 0]
  index_t classes = 0;   // n: of the whole row
  bool counts = true;    // does this part count what the row has once?
};

namespace detail {

/// The loss of one row: what a device does.
template <class T, class Id> struct cross_entropy_row {
  index_t width;
  cross_entropy_terms terms;
  T on, z, every;
  const T *x, *lse;
  const Id* target;
  T* loss;

  KOKKOS_FUNCTION void operator()(index_t r) const {
    const dimesh::detail::writes_memory kernel;
    const T* const row = x + r * width;
    const auto t = static_cast<index_t>(target[r]);
    T sum = 0;
    if (t >= 0 && t < terms.classes) {
      if (terms.counts) sum = lse[r] + z * lse[r] * lse[r];
      if (t >= terms.first && t < terms.first + width) sum -= on * row[t - terms.first];
      T all = 0;
      for (index_t j = 0; terms.smoothing != 0 && j < width; ++j) all += row[j];
      sum -= every * all;
    }
    loss[r] = sum;
  }
};
/// Four slopes of a row, a quarter of it apart.
template <class T, class Id> struct cross_entropy_slope {
  index_t width;
  cross_entropy_terms terms;
  T on, z, every;
  const T *bar, *x, *lse;
  const Id* target;
  T* xbar;

  KOKKOS_INLINE_FUNCTION index_t quarter() const { return (width + 3) / 4; }
  KOKKOS_FUNCTION void operator()(index_t e) const {
    const dimesh::detail::writes_memory kernel;
    const auto [r, begin] = divided(e, quarter());
    const auto t = static_cast<index_t>(target[r]);
    if (t < 0 || t >= terms.classes) {  // logits that nobody asks for may be no numbers
      for (index_t j = begin; j < width; j += quarter()) xbar[r * width + j] = T(0);
      return;
    }
    const T g = bar[r], shift = lse[r], spread = g * every;
    const T share = g * (T(1) + T(2) * z * shift);
    for (index_t j = begin; j < width; j += quarter())
      xbar[r * width + j] = share * dimesh::exp(x[r * width + j] - shift) - spread -
                            (t == terms.first + j ? g * on : T(0));
  }
};

}  // namespace detail

/// x (rows, width), lse and target (rows) -> loss (rows): this part's share.
template <class T, class Id, class Space = default_space>
void cross_entropy(index_t rows, index_t width, const cross_entropy_terms& terms, const T* x,
                   const T* lse, const Id* target, T* loss) {
  const dimesh::detail::writes_memory kernel;
  const T on = static_cast<T>(1 - terms.smoothing), z = static_cast<T>(terms.z_weight);
  const T every = static_cast<T>(terms.smoothing / static_cast<double>(terms.classes));
  if constexpr (!detail::runs_on_host<Space>)
    if (!detail::moves_to_host<Space>())
      return detail::each_for_itself<Space>(
          rows, detail::cross_entropy_row<T, Id>{width, terms, on, z, every, x, lse, target, loss});
  in_host_ranges<Space>(rows, [=](index_t first, index_t last) {
    const dimesh::detail::writes_memory loop;
    for (index_t r = first; r < last; ++r) {
      const T* const row = x + r * width;
      const auto t = static_cast<index_t>(target[r]);
      loss[r] = 0;
      if (t < 0 || t >= terms.classes) continue;
      if (terms.counts) loss[r] = lse[r] + z * lse[r] * lse[r];
      if (t >= terms.first && t < terms.first + width) loss[r] -= on * row[t - terms.first];
      if (terms.smoothing == 0) continue;
      T sum = 0;
#pragma omp simd reduction(+ : sum)
      for (index_t j = 0; j < width; ++j) sum += row[j];
      loss[r] -= every * sum;
    }
  });
}

/// bar (rows): of the losses -> xbar (rows, width).
template <class T, class Id, class Space = default_space>
void cross_entropy_transpose(index_t rows, index_t width, const cross_entropy_terms& terms,
                             const T* bar, const T* x, const T* lse, const Id* target, T* xbar) {
  const dimesh::detail::writes_memory kernel;
  const T on = static_cast<T>(1 - terms.smoothing), z = static_cast<T>(terms.z_weight);
  const T every = static_cast<T>(terms.smoothing / static_cast<double>(terms.classes));
  if constexpr (!detail::runs_on_host<Space>)
    if (!detail::moves_to_host<Space>()) {
      const detail::cross_entropy_slope<T, Id> slope{width, terms, on,  z,      every,
                                                     bar,   x,     lse, target, xbar};
      return detail::each_for_itself<Space>(rows * slope.quarter(), slope);
    }
  in_host_ranges<Space>(rows, [=](index_t first, index_t last) {
    const dimesh::detail::writes_memory loop;
    for (index_t r = first; r < last; ++r) {
      const T* const row = x + r * width;
      T* const to = xbar + r * width;
      const auto t = static_cast<index_t>(target[r]);
      if (t < 0 || t >= terms.classes) {  // logits that nobody asks for may be no numbers
        std::fill_n(to, width, T(0));
        continue;
      }
      const T g = bar[r], shift = lse[r];
      const T share = g * (T(1) + T(2) * z * shift), spread = g * every;
#pragma omp simd simdlen(detail::whole_lanes<T>)
      for (index_t j = 0; j < width; ++j) to[j] = share * dimesh::exp(row[j] - shift) - spread;
      if (t >= terms.first && t < terms.first + width) to[t - terms.first] -= g * on;
    }
  });
}

}  // namespace dimesh::local
