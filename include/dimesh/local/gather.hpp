// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are elements along one dim picked by number, a number for each result, and added up where
// they came from? And how do whole places of it change theirs?
//
//   gather_along({4, 10, 3, 8}, x, ids, y)       // y[o, k, j] = x[o, ids[o, k, j], j]
//   scatter_along({4, 10, 3, 8}, y, ids, x)      // x[o, ids[o, k, j], j] += y[o, k, j], from 0
//   count_along({4, 10, 3, 8}, ids, n)           // n[o, ids[o, k, j], j] += 1, from 0
//   move_places({4, 10, 3, 3, 8}, from, nullptr, x, y)     // y[o, k, j] = x[o, from[k], j]
//
// A number that is no place of x reads 0 and is added nowhere; x may hold some places only.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/pieces.hpp"

namespace dimesh::local {

/// Arrays (outer, from, inner), picked from, and (outer, to, inner), of what was picked. Numbers
/// first .. first + from are the places of the one picked from.
struct picked_lines {
  index_t outer, from, to, inner, first = 0;
};

/// Arrays (outer, from, inner) and (outer, to, inner), of whose places so many are moved.
struct moved_places {
  index_t outer, count, from, to, inner;
};

namespace detail {

template <class T, class I> struct gather_work {
  picked_lines l;
  const T* x;
  const I* ids;
  T* y;

  KOKKOS_FUNCTION void operator()(index_t begin, index_t end) const {  // of outer * to
    const dimesh::detail::writes_memory kernel;
    for (index_t row = begin, stop; row < end; row = stop) {
      const index_t o = row / l.to, next = (o + 1) * l.to;
      stop = next < end ? next : end;
      const T* const from = x + o * l.from * l.inner;
      // Places of 32 bits are gathered twice as many at once, and multiplied faster.
      constexpr index_t most = std::numeric_limits<std::int32_t>::max();
      if (l.inner == 1)
        elements(from, row, stop);
      else if (sizeof(I) <= 4 && l.from * l.inner <= most && l.first + l.from <= most)
        rows<std::uint32_t>(from, row, stop);
      else
        rows<std::uint64_t>(from, row, stop);
    }
  }

 private:
  /// Results [begin, stop), all from one line. Not gathered several at once: where a line and its
  /// results lie pages apart, that takes three times as long.
  KOKKOS_FORCEINLINE_FUNCTION void elements(const T* from, index_t begin, index_t stop) const {
    const auto all = static_cast<std::uint64_t>(l.from);  // beyond it are negative numbers, too
    const auto first = static_cast<std::uint64_t>(l.first);
    const I* const at = ids + begin;
    T* const to = y + begin;
    for (index_t i = 0; i < stop - begin; ++i) {
      const auto k = static_cast<std::uint64_t>(at[i]) - first;
      to[i] = k < all ? from[k] : T(0);
    }
  }
  template <class Word>
  KOKKOS_FORCEINLINE_FUNCTION void rows(const T* from, index_t row, index_t stop) const {
    using place = std::make_signed_t<Word>;
    const auto all = static_cast<Word>(l.from), apart = static_cast<Word>(l.inner);
    const auto first = static_cast<Word>(l.first);
    for (; row < stop; ++row) {
      const I* const at = ids + row * l.inner;
      T* const to = y + row * l.inner;
#pragma omp simd
      for (index_t j = 0; j < l.inner; ++j) {
        const auto k = static_cast<Word>(static_cast<Word>(at[j]) - first);
        to[j] = k < all ? from[static_cast<place>(k * apart + static_cast<Word>(j))] : T(0);
      }
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
    const index_t inner = l.inner;
    const auto all = static_cast<std::uint64_t>(l.from),
               first = static_cast<std::uint64_t>(l.first);
    Sum* const to = x + o * l.from * inner;
    for (index_t i = 0; i < l.from * inner; ++i) to[i] = Sum(0);
    const I* at = ids + o * l.to * inner;
    const T* rows = y + o * l.to * inner;
    for (index_t k = 0; k < l.to; ++k, at += inner, rows += inner)
      for (index_t j = 0; j < inner; ++j) {
        const auto place = static_cast<std::uint64_t>(at[j]) - first;
        if (place < all) to[static_cast<index_t>(place) * inner + j] += rows[j];
      }
  }
};

template <class I> struct count_work {
  picked_lines l;
  const I* ids;
  index_t* x;

  KOKKOS_FUNCTION void operator()(index_t o) const {
    const dimesh::detail::writes_memory kernel;
    const index_t inner = l.inner;
    const auto all = static_cast<std::uint64_t>(l.from),
               first = static_cast<std::uint64_t>(l.first);
    index_t* const to = x + o * l.from * inner;
    for (index_t i = 0; i < l.from * inner; ++i) to[i] = 0;
    const I* at = ids + o * l.to * inner;
    if (inner == 1) {
      for (index_t k = 0; k < l.to; ++k) {
        const auto place = static_cast<std::uint64_t>(at[k]) - first;
        if (place < all) ++to[place];
      }
      return;
    }
    for (index_t k = 0; k < l.to; ++k, at += inner)
      for (index_t j = 0; j < inner; ++j) {
        const auto place = static_cast<std::uint64_t>(at[j]) - first;
        if (place < all) ++to[static_cast<index_t>(place) * inner + j];
      }
  }
};

KOKKOS_FORCEINLINE_FUNCTION index_t place_of(const index_t* numbers, index_t k) {
  return numbers == nullptr ? k : numbers[k];
}
template <class T> struct moved_work {
  moved_places l;
  const index_t *from, *to;
  const T* x;
  T* y;

  KOKKOS_FUNCTION void operator()(index_t begin, index_t end) const {  // of outer * count
    const dimesh::detail::writes_memory kernel;
    for (index_t row = begin, stop; row < end; row = stop) {
      const index_t o = row / l.count, first = o * l.count, next = first + l.count;
      stop = next < end ? next : end;
      for (index_t k = row - first; k < stop - first; ++k) {
        const T* const source = x + (o * l.from + place_of(from, k)) * l.inner;
        T* const target = y + (o * l.to + place_of(to, k)) * l.inner;
#pragma omp simd
        for (index_t j = 0; j < l.inner; ++j) target[j] = source[j];
      }
    }
  }
};
/// One element of it: what a device does.
template <class T> struct moved_element {
  moved_places l;
  const index_t *from, *to;
  const T* x;
  T* y;

  KOKKOS_FUNCTION void operator()(index_t e) const {
    const division of = divided(e, l.inner), at = divided(of.whole, l.count);
    y[(at.whole * l.to + place_of(to, at.rest)) * l.inner + of.rest] =
        x[(at.whole * l.from + place_of(from, at.rest)) * l.inner + of.rest];
  }
};

}  // namespace detail

/// x (outer, from, inner), ids (outer, to, inner) -> y (outer, to, inner).
template <class Space = default_space, class T, class I>
void gather_along(const picked_lines& l, const T* x, const I* ids, T* y) {
  in_ranges<Space>(l.outer * l.to, detail::gather_work<T, I>{l, x, ids, y});
}
/// y and ids (outer, to, inner) -> x (outer, from, inner), which is overwritten.
template <class Space = default_space, class T, class I, class Sum>
void scatter_along(const picked_lines& l, const T* y, const I* ids, Sum* x) {
  for_each_index<Space>(l.outer, detail::scatter_work<T, I, Sum>{l, y, ids, x});
}
/// ids (outer, to, inner) -> x (outer, from, inner): how often each place is among them.
template <class Space = default_space, class I>
void count_along(const picked_lines& l, const I* ids, index_t* x) {
  for_each_index<Space>(l.outer, detail::count_work<I>{l, ids, x});
}
/// x (outer, from, inner) -> y (outer, to, inner), whose place to[k] is place from[k] of x for k <
/// count, and whose others are left alone. Without `from`, or `to`, it is place k. No place of y
/// is met twice.
template <class Space = default_space, class T>
void move_places(const moved_places& l, const index_t* from, const index_t* to, const T* x, T* y) {
  if constexpr (!detail::runs_on_host<Space>)
    if (!detail::moves_to_host<Space>())
      return detail::each_for_itself<Space>(l.outer * l.count * l.inner,
                                            detail::moved_element<T>{l, from, to, x, y});
  in_ranges<Space>(l.outer * l.count, detail::moved_work<T>{l, from, to, x, y});
}

}  // namespace dimesh::local
