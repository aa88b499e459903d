// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do sums need that must not lose digits, and what do gradients of extremes? Compensated sums;
// means and squared deviations in one pass over memory; and where the extremes stand. Over loops
// that only the run knows: array 0 has the results, and does not move along what is joined.
//
//   loops<2> l{2, {256, 1024}, {{1, 0}, {1024, 1}}};
//   compensated_sum(l, x, y, 256);    deviations(l, x, base, mean, squares, 256);
//   extreme_places<greatest>(l, x, at, 256);
//
// Always in the same order.
#pragma once

#include <algorithm>
#include <vector>

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/halves.hpp"
#include "dimesh/local/loops.hpp"
#include "dimesh/local/reduce.hpp"

namespace dimesh::local {

namespace detail {

/// Calls row(results, elements, n, step of results, step of elements, how many elements each of
/// these results has met before) for rows along the innermost loop, in row-major order.
template <class Row> class joined_rows {
 public:
  joined_rows(const loops<2>& l, const Row& row) : l_(l), row_(row) {
    for (int g = l.groups - 1; g >= 0; --g) {
      met_[g] = so_far_;
      if (l.stride[0][g] == 0) so_far_ *= l.extent[g];
    }
  }
  void operator()() {
    if (l_.groups == 0) return row_(0, 0, 1, 0, 0, 0);
    if (l_.size() > 0) walk(0, 0, 0, 0);
  }

 private:
  void walk(int g, index_t y, index_t x, index_t before) {
    const index_t dy = l_.stride[0][g], dx = l_.stride[1][g];
    if (g == l_.groups - 1) return row_(y, x, l_.extent[g], dy, dx, before);
    for (index_t i = 0; i < l_.extent[g]; ++i)
      walk(g + 1, y + i * dy, x + i * dx, dy == 0 ? before + i * met_[g] : before);
  }

  const loops<2>& l_;
  const Row& row_;
  index_t met_[max_dims] = {}, so_far_ = 1;
};
template <class Row> void for_joined_rows(const loops<2>& l, const Row& row) {
  const dimesh::detail::writes_memory kernel;
  joined_rows<Row>(l, row)();
}

/// s + v, and what that loses in c (Neumaier 1974).
template <class T> KOKKOS_FORCEINLINE_FUNCTION void add_compensated(T& s, T& c, T v) {
  const T t = s + v;
  c += (s < T(0) ? -s : s) >= (v < T(0) ? -v : v) ? (s - t) + v : (v - t) + s;
  s = t;
}

/// How far the mean of n elements that lie `step` apart, in cache, is from `base`, and the sum of
/// their squared deviations from it. Sums of elements far from zero would lose digits, and so would
/// a mean that is rounded as they are: both are of how far elements are from one of them.
template <class T> struct spread {
  T mean, squares;

  static spread of(const T* x, index_t n, index_t step, T base) {
    const dimesh::detail::writes_memory kernel;
    T sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
    for (index_t i = 0; i < n; ++i) sum += x[i * step] - base;
    const T m = sum / static_cast<T>(n);
#pragma omp simd reduction(+ : squares)
    for (index_t i = 0; i < n; ++i) {
      const T apart = (x[i * step] - base) - m;
      squares += apart * apart;
    }
    return {m, squares};
  }
};

}  // namespace detail

/// y = sums of x, whose error does not grow with their length: eps |sum| + O(n eps^2) sum |x|.
template <class T> void compensated_sum(const loops<2>& l, const T* x, T* y, index_t results) {
  const dimesh::detail::writes_memory kernel;
  std::vector<T> lost(static_cast<std::size_t>(results), T(0));
  std::fill_n(y, results, T(0));
  T* const c = lost.data();
  detail::for_joined_rows(l, [=](index_t o, index_t e, index_t n, index_t dy, index_t dx, index_t) {
    const dimesh::detail::writes_memory loop;
    for (index_t i = 0; i < n; ++i)
      detail::add_compensated(y[o + i * dy], c[o + i * dy], x[e + i * dx]);
  });
  // Where the sum is infinite or NaN, so is what was lost, and would make it NaN.
  for (index_t o = 0; o < results; ++o) y[o] = c[o] - c[o] == T(0) ? y[o] + c[o] : y[o];
}

namespace detail {

/// The same loops over n of group g.
template <int N> loops<N> with_extent(loops<N> l, int g, index_t n) {
  l.extent[g] = n;
  return l;
}

/// mean = how far the mean of x is from base, squares = sums of squared deviations from the mean:
/// blocks in cache, joined by their counts, or element by element (Welford 1962) where results lie
/// side by side.
template <class T>
void deviations_in_turn(const loops<2>& l, const T* x, const T* base, T* mean, T* squares,
                        index_t results) {
  const dimesh::detail::writes_memory kernel;
  constexpr index_t block = 512;
  for (T* const y : {mean, squares}) std::fill_n(y, results, T(0));
  for_joined_rows(l, [=](index_t o, index_t e, index_t n, index_t dy, index_t dx, index_t before) {
    const dimesh::detail::writes_memory loop;
    const T* const v = x + e;
    if (dy != 0) {
      const T share = T(1) / static_cast<T>(before + 1);
      T *const m = mean + o, *const s = squares + o;
      const T* const b = base + o;
      for (index_t i = 0; i < n; ++i) {
        const T at = v[i * dx] - b[i * dy];
        const T from = at - m[i * dy], to = m[i * dy] + from * share;
        s[i * dy] += from * (at - to);
        m[i * dy] = to;
      }
      return;
    }
    for (index_t i = 0; i < n; i += block) {
      const index_t k = std::min(block, n - i), had = before + i;
      const auto next = spread<T>::of(v + i * dx, k, dx, base[o]);
      const T apart = next.mean - mean[o], share = static_cast<T>(k) / static_cast<T>(had + k);
      mean[o] += apart * share;
      squares[o] += next.squares + apart * apart * static_cast<T>(had) * share;
    }
  });
}

/// The same; of many elements, of two halves of them, which are joined by their counts (Chan, Golub
/// and LeVeque 1979).
template <class T>
void deviations_in_halves(const loops<2>& l, const T* x, const T* base, T* mean, T* squares,
                          index_t results) {
  const dimesh::detail::writes_memory kernel;
  const int g = halved_group(l.groups, l.extent, l.stride[0]);
  if (g < 0) return deviations_in_turn(l, x, base, mean, squares, results);
  const index_t n = l.extent[g], half = n / 2;
  deviations_in_halves(with_extent(l, g, half), x, base, mean, squares, results);
  const auto room =
      dimesh::detail::storage::acquire(2 * static_cast<std::size_t>(results) * sizeof(T));
  T *const m = static_cast<T*>(room.data()), *const s = m + results;
  deviations_in_halves(with_extent(l, g, n - half), x + half * l.stride[1][g], base, m, s, results);
  index_t each = 1;  // terms of a result for each element of the group
  for (int k = 0; k < l.groups; ++k) each *= k != g && l.stride[0][k] == 0 ? l.extent[k] : 1;
  const T share = static_cast<T>(n - half) / static_cast<T>(n), had = static_cast<T>(each * half);
  for (index_t i = 0; i < results; ++i) {
    const T apart = m[i] - mean[i];
    mean[i] += apart * share;
    squares[i] += s[i] + apart * apart * had * share;
  }
}

}  // namespace detail

/// base = the first element that each result joins (0 of none), mean = how far the mean is from it,
/// squares = sums of squared deviations from the mean. One pass over memory; rounding grows with
/// the logarithm of the number of elements.
template <class T>
void deviations(const loops<2>& l, const T* x, T* base, T* mean, T* squares, index_t results) {
  const dimesh::detail::writes_memory kernel;
  std::fill_n(base, results, T(0));
  if (l.size() > 0) {
    loops<2> first = l;
    for (int g = 0; g < l.groups; ++g) first.extent[g] = l.stride[0][g] == 0 ? 1 : l.extent[g];
    detail::for_joined_rows(first,
                            [=](index_t o, index_t e, index_t n, index_t dy, index_t dx, index_t) {
                              const dimesh::detail::writes_memory loop;
                              for (index_t i = 0; i < n; ++i) base[o + i * dy] = x[e + i * dx];
                            });
  }
  detail::deviations_in_halves(l, x, base, mean, squares, results);
}

/// at = where in x the extreme of each result stands: the first of equals, the first NaN if there
/// is one, -1 where there are no elements.
template <class Join, class T>
void extreme_places(const loops<2>& l, const T* x, index_t* at, index_t results) {
  const dimesh::detail::writes_memory kernel;
  std::fill_n(at, results, index_t{-1});
  detail::for_joined_rows(l, [=](index_t o, index_t e, index_t n, index_t dy, index_t dx, index_t) {
    const dimesh::detail::writes_memory loop;
    for (index_t i = 0; i < n; ++i, o += dy, e += dx) {
      const T v = x[e];
      if (at[o] < 0) {
        at[o] = e;
        continue;
      }
      const T best = x[at[o]];
      const bool better = std::is_same_v<Join, greatest> ? v > best : v < best;
      if (better || (v != v && best == best)) at[o] = e;
    }
  });
}

}  // namespace dimesh::local
