// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are elements along one dim picked by number, a number for each result, and added up where
// they came from? And in which order do they stand by size?
//
//   gather_along({4, 10, 3, 8}, x, ids, y)       // y[o, k, j] = x[o, ids[o, k, j], j]
//   scatter_along({4, 10, 3, 8}, y, ids, x)      // x[o, ids[o, k, j], j] += y[o, k, j], from 0
//   order_along({4, 10, 3, 8}, x, false, ids)    // ids: places of the 3 smallest of 10, in order
//
// A number that is no place reads 0 and is added nowhere. NaN counts as greater than all numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/pieces.hpp"

namespace dimesh::local {

/// Arrays (outer, from, inner), picked from, and (outer, to, inner), of what was picked.
struct picked_lines {
  index_t outer, from, to, inner;
};

namespace detail {

template <class T, class I> struct gather_work {
  picked_lines l;
  const T* x;
  const I* ids;
  T* y;

  KOKKOS_FUNCTION void operator()(index_t row) const {  // of outer * to
    const dimesh::detail::writes_memory kernel;
    const T* const from = x + row / l.to * l.from * l.inner;
    const I* const at = ids + row * l.inner;
    T* const to = y + row * l.inner;
    const auto all = static_cast<std::uint64_t>(l.from);  // beyond it are negative numbers, too
#pragma omp simd
    for (index_t j = 0; j < l.inner; ++j) {
      const auto k = static_cast<index_t>(at[j]);
      to[j] = static_cast<std::uint64_t>(k) < all ? from[k * l.inner + j] : T(0);
    }
  }
};

template <class T, class I, class Sum> struct scatter_work {
  picked_lines l;
  const T* y;
  const I* ids;
  Sum* x;

  KOKKOS_FUNCTION void operator()(index_t o) const {
    const dimesh::detail::writes_memory kernel;
    Sum* const to = x + o * l.from * l.inner;
    for (index_t i = 0; i < l.from * l.inner; ++i) to[i] = Sum(0);
    const I* at = ids + o * l.to * l.inner;
    const T* rows = y + o * l.to * l.inner;
    for (index_t k = 0; k < l.to; ++k, at += l.inner, rows += l.inner)
      for (index_t j = 0; j < l.inner; ++j) {
        const auto place = static_cast<index_t>(at[j]);
        if (place >= 0 && place < l.from) to[place * l.inner + j] += rows[j];
      }
  }
};

/// An element and where it stood. The place makes every order a stable one.
template <class T, class I> struct placed_element {
  T value;
  I at;
};
template <bool Descending> struct before {
  template <class T, class I>
  bool operator()(const placed_element<T, I>& a, const placed_element<T, I>& b) const {
    const bool less = Descending ? greater(a.value, b.value) : greater(b.value, a.value);
    const bool more = Descending ? greater(b.value, a.value) : greater(a.value, b.value);
    return less || (!more && a.at < b.at);
  }

  /// Does a stand before b, wherever b came first?
  template <class T> static bool strictly(const T& a, const T& b) {
    return Descending ? greater(a, b) : greater(b, a);
  }

 private:
  template <class T> static bool greater(const T& a, const T& b) {
    return a > b || ((a != a) & (b == b));
  }
};

/// The first `to` places in order, of all lines.
template <bool Descending, class T, class I> struct order_work {
  picked_lines l;
  const T* x;
  I* ids;

  void operator()(index_t begin, index_t end) const {  // of outer * inner
    const dimesh::detail::writes_memory kernel;
    const before<Descending> sooner;
    std::vector<placed_element<T, I>> line(static_cast<std::size_t>(l.to));
    for (index_t i = begin; i < end; ++i) {
      const index_t o = i / l.inner, j = i % l.inner;
      const T* const from = x + o * l.from * l.inner + j;
      for (index_t k = 0; k < l.to; ++k)
        line[static_cast<std::size_t>(k)] = {from[k * l.inner], static_cast<I>(k)};
      if (l.to < l.from && l.to > 0) {  // a heap of the first so far, their last on top
        std::make_heap(line.begin(), line.end(), sooner);
        for (index_t k = l.to; k < l.from; ++k) {
          const T v = from[k * l.inner];
          if (!before<Descending>::strictly(v, line.front().value)) continue;
          std::pop_heap(line.begin(), line.end(), sooner);
          line.back() = {v, static_cast<I>(k)};
          std::push_heap(line.begin(), line.end(), sooner);
        }
      }
      std::sort(line.begin(), line.end(), sooner);
      I* const to = ids + o * l.to * l.inner + j;
      for (index_t k = 0; k < l.to; ++k) to[k * l.inner] = line[static_cast<std::size_t>(k)].at;
    }
  }
};

/// The place of the element before which n others come, from the greatest, of all lines.
template <class T, class I> struct nth_work {
  picked_lines l;
  const T* x;
  index_t n;
  I* ids;

  void operator()(index_t begin, index_t end) const {  // of outer * inner
    const dimesh::detail::writes_memory kernel;
    std::vector<placed_element<T, I>> line(static_cast<std::size_t>(l.from));
    for (index_t i = begin; i < end; ++i) {
      const T* const from = x + i / l.inner * l.from * l.inner + i % l.inner;
      for (index_t k = 0; k < l.from; ++k)
        line[static_cast<std::size_t>(k)] = {from[k * l.inner], static_cast<I>(k)};
      const auto nth = line.begin() + n;
      std::nth_element(line.begin(), nth, line.end(), before<true>{});
      ids[i] = nth->at;
    }
  }
};

}  // namespace detail

/// x (outer, from, inner), ids (outer, to, inner) -> y (outer, to, inner).
template <class Space = default_space, class T, class I>
void gather_along(const picked_lines& l, const T* x, const I* ids, T* y) {
  for_each_index<Space>(l.outer * l.to, detail::gather_work<T, I>{l, x, ids, y});
}
/// y and ids (outer, to, inner) -> x (outer, from, inner), which is overwritten.
template <class Space = default_space, class T, class I, class Sum>
void scatter_along(const picked_lines& l, const T* y, const I* ids, Sum* x) {
  for_each_index<Space>(l.outer, detail::scatter_work<T, I, Sum>{l, y, ids, x});
}
/// x (outer, from, inner) -> ids (outer, to, inner), to <= from: the places of the smallest
/// elements, or the greatest, in order; of equals the first place first. On the host.
template <class Space = default_space, class T, class I>
void order_along(const picked_lines& l, const T* x, bool descending, I* ids) {
  if (descending)
    in_ranges<Space>(l.outer * l.inner, detail::order_work<true, T, I>{l, x, ids});
  else
    in_ranges<Space>(l.outer * l.inner, detail::order_work<false, T, I>{l, x, ids});
}

/// x (outer, from, inner) -> ids (outer, inner): the places of the elements before which n < from
/// others come, counting from the greatest; of equals the first place first. On the host.
template <class Space = default_space, class T, class I>
void nth_along(const picked_lines& l, const T* x, index_t n, I* ids) {
  in_ranges<Space>(l.outer * l.inner, detail::nth_work<T, I>{l, x, n, ids});
}

}  // namespace dimesh::local
