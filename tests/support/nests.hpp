// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays with any steps in any nest, read element by element: what tests of local/ compare with.
//
//   sample<float, step::unit, step::strided> x({7, 5});   // a transposed array of 7 x 5
//   x(at)  -> its element at a position of the nest        x.in() -> operand<const float, ...>
#pragma once

#include "dimesh/local/nest.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

namespace dimesh_test {

using dimesh::index_t;
using dimesh::local::step;

inline constexpr step zero = step::zero, unit = step::unit, strided = step::strided;

/// Elements that repeat late: multiples of 1/8 in (-4, 4), so that short sums are exact.
inline double element(index_t k) { return static_cast<double>((k * 37 + 11) % 61 - 30) / 8; }

/// Strides with gaps between rows; the gaps hold a value that no kernel may touch.
template <class T, step... S> struct sample {
  static constexpr int groups = sizeof...(S);
  using extents = std::array<index_t, groups>;
  extents extent, stride;
  std::vector<T> data;

  explicit sample(const extents& e) : extent(e), stride{} {
    constexpr step kinds[] = {S..., unit};
    index_t next = 1;
    for (int g = 0; g < groups; ++g) {
      if (kinds[g] == unit) stride[g] = 1, next = std::max<index_t>(e[g], 1) + 3;
    }
    if (next == 1 && groups > 0) next = 2;
    for (int g = groups - 1; g >= 0; --g) {
      if (kinds[g] != strided) continue;
      stride[g] = next;
      next = next * std::max<index_t>(e[g], 1) + 1;
    }
    data.resize(static_cast<std::size_t>(next) + 4);
    for (std::size_t k = 0; k < data.size(); ++k)
      data[k] = static_cast<T>(element(static_cast<index_t>(k)));
  }

  T& operator()(const extents& at) {
    index_t k = 0;
    for (int g = 0; g < groups; ++g) k += at[g] * stride[g];
    return data[static_cast<std::size_t>(k)];
  }
  dimesh::local::operand<const T, S...> in() const { return {data.data(), stride}; }
  dimesh::local::operand<T, S...> out() { return {data.data(), stride}; }
};

/// visit(at) for every position of a row-major nest.
template <std::size_t G> void each(const std::array<index_t, G>& extent, const auto& visit) {
  index_t size = 1;
  for (const index_t n : extent) size *= n;
  for (index_t e = 0; e < size; ++e) {
    std::array<index_t, G> at{};
    index_t rest = e;
    for (int g = static_cast<int>(G) - 1; g >= 0; --g) {
      at[g] = rest % extent[g];
      rest /= extent[g];
    }
    visit(at);
  }
}

}  // namespace dimesh_test
