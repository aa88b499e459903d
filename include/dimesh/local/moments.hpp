// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are elements normalised by moments that many rows share, as batch and group norms do? Blocks
// are read in the order in which they lie, once for each step; means, gains and sums stand wherever
// loops say, and are kept in registers along rows that do not move them.
//
//   row_loops<3> l{2, {4, 49}, {{1, 0}, {1, 0}, {1, 0}}};      // x (4, 49); a channel a row
//   normalize_by(l, x, mean, rest, scale, gain, bias, y)
//                                                y = (x - mean - rest) scale gain + bias
//   moment_sums(l, ybar, x, mean, sum, along)    sum = sums of ybar, along = of ybar (x - mean)
//   normalize_pulled(l, ybar, x, p, gain, xbar)       xbar = p.scale gain ybar - p.drift
//                                                            - (x - mean) p.slope
#pragma once

#include <algorithm>
#include <type_traits>

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/halves.hpp"
#include "dimesh/local/loops.hpp"

namespace dimesh::local {

namespace detail {

/// A step that the kernel is compiled for.
template <index_t Step> using fixed_step = std::integral_constant<index_t, Step>;

/// Calls f(steps...) as constants where both are 0 or 1.
template <class F> void with_steps(index_t a, index_t b, const F& f) {
  if (a == 0 && b == 0) return f(fixed_step<0>{}, fixed_step<0>{});
  if (a == 1 && b == 1) return f(fixed_step<1>{}, fixed_step<1>{});
  if (a == 0 && b == 1) return f(fixed_step<0>{}, fixed_step<1>{});
  if (a == 1 && b == 0) return f(fixed_step<1>{}, fixed_step<0>{});
  f(a, b);
}

/// Calls row(at, element, n) for rows along the innermost loop, in row-major order: at[k] is where
/// array k is, `element` how many came before.
template <int N, class Row> void for_rows(const loops<N>& l, const Row& row) {
  const index_t all = l.size(), last = l.groups - 1;
  const index_t n = l.groups == 0 ? 1 : l.extent[last];
  index_t at[N] = {}, i[max_dims] = {};
  for (index_t element = 0; element < all; element += n) {
    row(at, element, n);
    for (index_t g = last - 1; g >= 0; --g) {
      for (int k = 0; k < N; ++k) at[k] += l.stride[k][g];
      if (++i[g] < l.extent[g]) break;
      for (int k = 0; k < N; ++k) at[k] -= i[g] * l.stride[k][g];
      i[g] = 0;
    }
  }
}
template <int N> index_t inner_step(const loops<N>& l, int k) {
  return l.groups == 0 ? 0 : l.stride[k][l.groups - 1];
}

}  // namespace detail

/// y = (x - mean - rest) scale gain + bias, where rest is what the mean lacks for being rounded;
/// arrays of l: mean, rest and scale, gain, bias. gain, bias may be null. x, y are contiguous.
template <class T>
void normalize_by(const loops<3>& l, const T* x, const T* mean, const T* rest, const T* scale,
                  const T* gain, const T* bias, T* y) {
  const T one = 1, zero = 0;
  const T *const gains = gain != nullptr ? gain : &one, *const added = bias ? bias : &zero;
  const index_t db = detail::inner_step(l, 2);
  detail::with_steps(detail::inner_step(l, 0), detail::inner_step(l, 1), [&](auto dm, auto dg) {
    detail::for_rows(l, [&](const index_t* at, index_t element, index_t n) {
      const dimesh::detail::writes_memory kernel;
      const T *const v = x + element, *const m = mean + at[0], *const r = rest + at[0];
      const T *const s = scale + at[0], *const g = gains + at[1], *const b = added + at[2];
      T* const to = y + element;
      if (db == dg) {
#pragma omp simd
        for (index_t i = 0; i < n; ++i)
          to[i] = ((v[i] - m[i * dm]) - r[i * dm]) * s[i * dm] * g[i * dg] + b[i * dg];
      } else {
        for (index_t i = 0; i < n; ++i)
          to[i] = ((v[i] - m[i * dm]) - r[i * dm]) * s[i * dm] * g[i * dg] + b[i * db];
      }
    });
  });
}

namespace detail {

/// moment_sums of few elements.
template <class T>
void moment_sums_in_turn(const loops<2>& l, const T* ybar, const T* x, const T* mean, T* sum,
                         T* along, index_t results) {
  const dimesh::detail::writes_memory kernel;
  std::fill_n(sum, results, T(0));
  std::fill_n(along, results, T(0));
  const index_t ds = inner_step(l, 0), dm = inner_step(l, 1);
  for_rows(l, [&](const index_t* at, index_t element, index_t n) {
    const dimesh::detail::writes_memory loop;
    const T *const b = ybar + element, *const v = x + element, *const m = mean + at[1];
    T *const s = sum + at[0], *const a = along + at[0];
    if (ds == 0) {  // one result a row, whose mean is one
      const T middle = *m;
      T all = 0, aslant = 0;
#pragma omp simd reduction(+ : all, aslant)
      for (index_t i = 0; i < n; ++i) all += b[i], aslant += b[i] * (v[i] - middle);
      *s += all, *a += aslant;
    } else if (ds == 1 && dm == 1) {
#pragma omp simd
      for (index_t i = 0; i < n; ++i) s[i] += b[i], a[i] += b[i] * (v[i] - m[i]);
    } else {
      for (index_t i = 0; i < n; ++i) s[i * ds] += b[i], a[i * ds] += b[i] * (v[i] - m[i * dm]);
    }
  });
}

}  // namespace detail

/// sum = sums of ybar, along = sums of ybar (x - mean), over what `sum` lacks; arrays of l: the
/// sums, mean. Those n are set to 0 first. Many outer elements are added up in halves.
template <class T>
void moment_sums(const loops<2>& l, const T* ybar, const T* x, const T* mean, T* sum, T* along,
                 index_t results) {
  const dimesh::detail::writes_memory kernel;
  int g = 0;  // ybar and x have no strides: a part must be one piece of them
  while (g < l.groups && l.extent[g] == 1) ++g;
  if (g != detail::halved_group(l.groups, l.extent, l.stride[0]))
    return detail::moment_sums_in_turn(l, ybar, x, mean, sum, along, results);
  loops<2> part = l;
  const index_t n = l.extent[g], half = n / 2, before = l.size() / n * half;
  part.extent[g] = half;
  moment_sums(part, ybar, x, mean, sum, along, results);
  const auto room =
      dimesh::detail::storage::acquire(2 * static_cast<std::size_t>(results) * sizeof(T));
  T *const more = static_cast<T*>(room.data()), *const more_along = more + results;
  part.extent[g] = n - half;
  moment_sums(part, ybar + before, x + before, mean + half * l.stride[1][g], more, more_along,
              results);
#pragma omp simd
  for (index_t i = 0; i < results; ++i) sum[i] += more[i], along[i] += more_along[i];
}

/// Of each moment.
template <class T> struct pulled_moments {
  const T *mean, *scale, *drift, *slope;
};

/// xbar = scale gain ybar - drift - (x - mean) slope; arrays of l: the moments, gain, which may be
/// null.
template <class T>
void normalize_pulled(const loops<2>& l, const T* ybar, const T* x, const pulled_moments<T>& p,
                      const T* gain, T* xbar) {
  const T one = 1;
  const T* const gains = gain != nullptr ? gain : &one;
  detail::with_steps(detail::inner_step(l, 0), detail::inner_step(l, 1), [&](auto dm, auto dg) {
    detail::for_rows(l, [&](const index_t* at, index_t element, index_t n) {
      const dimesh::detail::writes_memory kernel;
      const T *const b = ybar + element, *const v = x + element, *const g = gains + at[1];
      const T *const m = p.mean + at[0], *const s = p.scale + at[0];
      const T *const d = p.drift + at[0], *const c = p.slope + at[0];
      T* const to = xbar + element;
#pragma omp simd
      for (index_t i = 0; i < n; ++i)
        to[i] = s[i * dm] * g[i * dg] * b[i] - d[i * dm] - (v[i] - m[i * dm]) * c[i * dm];
    });
  });
}

}  // namespace dimesh::local
