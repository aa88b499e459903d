// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does the window of a filter move over a dim, and what is around that? Windows by the names of
// dims, for convolutions; those of pools are in op/pooling.hpp.
//
//   window<height, tall, high>{.stride = 2, .around = padding::same}
//     -> result o of `high` sees elements 2 o - before + t of height, for t in `tall`
#pragma once

#include "dimesh/layout.hpp"

namespace dimesh {

/// Elements that are taken to be zero (of maxima: lowest) before the first and after the last one.
struct padding {
  index_t before = 0, after = 0;
  bool is_same = false;  // as many as give ceil(extent / stride) results, the odd one behind

  static const padding valid, same;
};
/// None.
inline constexpr padding padding::valid{};
/// As many as give ceil(extent / stride) results; of an odd number, the one more stands behind.
inline constexpr padding padding::same{0, 0, true};

/// A window over dim From with a tap for each element of dim Tap of the filter; results lie along
/// To, which may be From where the extent stays. Result o sees elements stride o + dilation t -
/// before.
template <Dim From, Dim Tap, Dim To = From> struct window {
  index_t stride = 1, dilation = 1;
  padding around = padding::valid;
  index_t extent = dynamic;  // of To, in a transposed convolution whose stride leaves it open

  using from = From;
  using tap = Tap;
  using to = To;
};

}  // namespace dimesh
