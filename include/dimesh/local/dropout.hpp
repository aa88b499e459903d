// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How is an array thinned out at random without keeping the mask? Random bits are a function of a
// key and the element's global index, drawn four elements at a time in vector code, and drawn again
// when the backward pass needs the same mask.
//
//   dropout_run(dropout_mask(key, 0.1), 123, n, x, y)   // elements 123 .. 123 + n of the whole
#pragma once

#include <algorithm>

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/element/bfloat16.hpp"
#include "dimesh/local/map.hpp"
#include "dimesh/local/pieces.hpp"
#include "dimesh/random.hpp"

namespace dimesh::local {

/// Which elements stay, and what they are multiplied by.
struct dropout_mask {
  random_key key;
  double rate;
  std::uint32_t threshold;  // an element stays if its bits are at least this

  dropout_mask(random_key k, double r)
      : key(k), rate(r), threshold(static_cast<std::uint32_t>(std::min(r * 0x1p32, 0x1p32 - 1))) {}

  /// (At rate 1 even the element whose bits are all set goes: not 0 times infinity.)
  bool keeps_none() const { return rate >= 1; }
  template <class T> T scale() const { return rate < 1 ? static_cast<T>(1 / (1 - rate)) : T(0); }
};

namespace detail {
inline constexpr index_t bits_at_once = 128;

/// bits[0 .. 4 * groups): those of elements 4 * group ...
inline void draw_bits(random_key key, index_t group, index_t groups, std::uint32_t* bits) {
  const dimesh::detail::writes_memory kernel;
#pragma omp simd
  for (index_t g = 0; g < groups; ++g) {
    const random_words w = key.at(group + g);
    bits[4 * g] = w.word[0];
    bits[4 * g + 1] = w.word[1];
    bits[4 * g + 2] = w.word[2];
    bits[4 * g + 3] = w.word[3];
  }
}

/// What stays of elements of which none does.
struct no_element {
  template <class T> KOKKOS_FUNCTION void operator()(T& y) const { dimesh::store(y, T(0)); }
};
/// One element for itself: what a device does.
template <class T> struct dropped_element {
  using S = computed<T>;
  random_key key;
  std::uint32_t threshold;
  S scale;
  index_t begin;
  const T* x;
  T* y;

  KOKKOS_FUNCTION void operator()(index_t i) const {
    const random_words w = key.at((begin + i) / 4);
    dimesh::store(y[i], w.word[(begin + i) % 4] >= threshold ? x[i] * scale : S(0));
  }
};
}  // namespace detail

/// y[i] = x[i] * scale where element begin + i stays, else 0.
template <class T, class Space = default_space>
void dropout_run(const dropout_mask& mask, index_t begin, index_t n, const T* x, T* y) {
  const dimesh::detail::writes_memory kernel;
  alignas(64) std::uint32_t bits[detail::bits_at_once];
  using S = computed<T>;
  if (mask.keeps_none()) return for_each<Space>(n, detail::no_element{}, y);
  const S scale = mask.template scale<S>();
  const std::uint32_t threshold = mask.threshold;
  if constexpr (!detail::runs_on_host<Space>)
    if (!detail::moves_to_host<Space>())
      return detail::each_for_itself<Space>(
          n, detail::dropped_element<T>{mask.key, threshold, scale, begin, x, y});
  while (n > 0) {
    const index_t skip = begin % 4;
    const index_t count = std::min(n, detail::bits_at_once - skip);
    detail::draw_bits(mask.key, begin / 4, (skip + count + 3) / 4, bits);
    const std::uint32_t* const b = bits + skip;
#pragma omp simd
    for (index_t i = 0; i < count; ++i)
      dimesh::store(y[i], b[i] >= threshold ? x[i] * scale : S(0));
    begin += count, n -= count, x += count, y += count;
  }
}

}  // namespace dimesh::local
