// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a kernel that wants whole lines get at those that lie beside one another in memory, each
// an element in every row? Several at a time: a cache line that is fetched serves all of them.
//
//   const columns_at_once columns({4, 10, 3, 8}, sizeof(float));
//   columns.read(x, i, columns.count(i, end), staged, f);     // lines of 10, one after another
//   columns.write(staged, i, columns.count(i, end), y);       // of 3, to where they lie in y
#pragma once

#include <algorithm>
#include <cstddef>

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/gather.hpp"

namespace dimesh::local::detail {

/// So many lines of arrays (outer, from, inner) and (outer, to, inner) at a time as fit a
/// second-level cache, staged as elements of so many bytes. Where lines lie together: one.
struct columns_at_once {
  picked_lines l;
  index_t width, apart;  // staged lines lie so far apart: not where they share sets of a cache

  columns_at_once(const picked_lines& lines, std::size_t element) : l(lines) {
    constexpr index_t room = 1 << 18, cache_line = 64;
    const auto size = static_cast<index_t>(element);
    const index_t fit = room / (std::max(l.from, index_t{1}) * size);
    width = std::min(l.inner, std::clamp(fit, index_t{4}, index_t{16}));
    apart = l.from + cache_line / std::min(size, cache_line);
  }
  std::size_t elements() const { return static_cast<std::size_t>(width * apart); }
  /// How many of lines [i, end) lie beside line i.
  index_t count(index_t i, index_t end) const {
    return std::min({width, end - i, l.inner - i % l.inner});
  }
  /// staged[c * apart + k] = f(element k of line i + c, k)
  template <class T, class E, class F>
  void read(const T* x, index_t i, index_t n, E* staged, const F& f) const {
    const dimesh::detail::writes_memory kernel;
    const T* const from = x + i / l.inner * l.from * l.inner + i % l.inner;
    if (l.inner == 1) {
#pragma omp simd
      for (index_t k = 0; k < l.from; ++k) staged[k] = f(from[k], k);
      return;
    }
    for (index_t k = 0; k < l.from; ++k)
      for (index_t c = 0; c < n; ++c) staged[c * apart + k] = f(from[k * l.inner + c], k);
  }
  /// Element k of line i + c of y = staged[c * apart + k], of `to` elements.
  template <class E> void write(const E* staged, index_t i, index_t n, E* y) const {
    const dimesh::detail::writes_memory kernel;
    E* const to = y + i / l.inner * l.to * l.inner + i % l.inner;
    if (l.inner == 1) return static_cast<void>(std::copy_n(staged, l.to, to));
    for (index_t k = 0; k < l.to; ++k)
      for (index_t c = 0; c < n; ++c) to[k * l.inner + c] = staged[c * apart + k];
  }
};

}  // namespace dimesh::local::detail
