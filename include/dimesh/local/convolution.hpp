// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is a local convolution? Loops over dims that are in no window, and windows, told by extents,
// element strides and parts alone. Element o of the result meets elements stride o + dilation t -
// before of the array, for every tap t of the filter.
//
//   window_loop v{28, 26, 3};   // 28 elements, 26 results, 3 taps
//   results_of(v, 0)            -> the results to which the first tap contributes
#pragma once

#include <algorithm>

#include "dimesh/local/contraction.hpp"

namespace dimesh::local {

/// The parts that tensors play in a convolution: the array, the filter, and what comes of them.
enum class window_role : unsigned char { array, filter, result };

/// One dim of a window: extents and element strides in array, filter and result (by window_role),
/// and how they meet.
struct window_loop {
  index_t extent[3] = {};
  index_t stride = 1, dilation = 1, before = 0;
  index_t step[3] = {};

  constexpr index_t array() const { return extent[0]; }
  constexpr index_t taps() const { return extent[1]; }
  constexpr index_t results() const { return extent[2]; }
  /// Where the first tap of result o falls: outside the array perhaps.
  constexpr index_t place(index_t o, index_t tap) const {
    return stride * o + dilation * tap - before;
  }
};

/// From begin on, before end.
struct window_range {
  index_t begin, end;
  constexpr index_t count() const { return end > begin ? end - begin : 0; }
  constexpr bool operator==(const window_range&) const = default;
};
/// The k in [0, n) with 0 <= first + step k < extent; step > 0.
constexpr window_range inside(index_t first, index_t step, index_t n, index_t extent) {
  const index_t begin = first >= 0 ? 0 : (-first + step - 1) / step;
  const index_t end = first >= extent ? 0 : std::min(n, (extent - 1 - first) / step + 1);
  return {begin, end};
}
/// The results to which a tap contributes an element of the array, and the taps of a result.
constexpr window_range results_of(const window_loop& v, index_t tap) {
  return inside(v.place(0, tap), v.stride, v.results(), v.array());
}
constexpr window_range taps_of(const window_loop& v, index_t o) {
  return inside(v.place(o, 0), v.dilation, v.taps(), v.array());
}
/// How many pairs of a result and a tap fall on the array.
constexpr index_t pairs_of(const window_loop& v) {
  index_t n = 0;
  for (index_t t = 0; t < v.taps(); ++t) n += results_of(v, t).count();
  return n;
}

/// A convolution c = a * b: loops over the dims that are in no window, and the windows. `role` says
/// what a, b and c are.
struct convolution {
  static constexpr int max_windows = 4;
  contraction rest;
  int windows = 0;
  window_loop window[max_windows];
  window_role role[3] = {window_role::array, window_role::filter, window_role::result};
};

}  // namespace dimesh::local
