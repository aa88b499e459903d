// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are the elements in windows joined, without a filter? Tap by tap: every result that a tap
// serves is joined with its element, in rows that lie alike in both arrays.
//
//   for_each_meeting(p, row)   // row(x, y, n, x step, y step): n elements of each, from there on;
//                              // of one result, taps come in row-major order
//   pool_max(p, x, y)          pool_places(p, x, at)          // where the first greatest one is
//   pool_sum<false>(p, x, y)   divide_by_counts(p, y, y)      // means
#pragma once

#include <vector>

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/convolution.hpp"
#include "dimesh/local/reduce.hpp"

namespace dimesh::local {

/// Loops over dims in no window, in both arrays, and windows (of taps only the number counts).
struct pooling {
  int rest = 0;
  index_t extent[max_dims] = {}, x_step[max_dims] = {}, y_step[max_dims] = {};
  int windows = 0;
  window_loop window[convolution::max_windows];
};

namespace detail {

/// Walks all elements in step; f is called with rows of them.
template <class F> class pooling_walk {
 public:
  pooling_walk(const pooling& p, const F& f) : p_(p), f_(f), lane_(p.rest) {
    for (int i = 0; i < p.rest; ++i)
      if (p.x_step[i] == 1 && p.y_step[i] == 1 && p.extent[i] > 1) lane_ = i;
  }
  void operator()() { rest(0, 0, 0); }

 private:
  void rest(int i, index_t x, index_t y) {
    if (i == p_.rest) return taps(0, x, y);
    if (i == lane_) return rest(i + 1, x, y);
    for (index_t k = 0; k < p_.extent[i]; ++k)
      rest(i + 1, x + k * p_.x_step[i], y + k * p_.y_step[i]);
  }
  void taps(int w, index_t x, index_t y) {
    if (w == p_.windows) return places(0, x, y);
    const window_loop& v = p_.window[w];
    for (index_t t = 0; t < v.taps(); ++t) {
      const window_range r = results_of(v, t);
      results_[w] = r.count();
      if (r.count() > 0) taps(w + 1, x + v.place(r.begin, t) * v.step[0], y + r.begin * v.step[2]);
    }
  }
  void places(int w, index_t x, index_t y) {
    if (w == p_.windows) return f_(x, y, p_.extent[lane_], index_t{1}, index_t{1});
    const window_loop& v = p_.window[w];
    const index_t x_step = v.stride * v.step[0], y_step = v.step[2];
    if (lane_ == p_.rest && w + 1 == p_.windows) return f_(x, y, results_[w], x_step, y_step);
    for (index_t k = 0; k < results_[w]; ++k) places(w + 1, x + k * x_step, y + k * y_step);
  }

  const pooling& p_;
  const F& f_;
  int lane_;  // of the other loops, or behind them: the last window
  index_t results_[convolution::max_windows] = {};
};

}  // namespace detail

template <class F> void for_each_meeting(const pooling& p, const F& row) {
  detail::pooling_walk<F>(p, row)();
}

/// y = the greatest element of each window; the lowest value over none. NaN is the greatest.
template <class T> void pool_max(const pooling& p, const T* x, T* y, index_t results) {
  const dimesh::detail::writes_memory kernel;
  std::fill_n(y, results, greatest::identity<T>());
  for_each_meeting(p, [=](index_t i, index_t o, index_t n, index_t di, index_t dy) {
    const dimesh::detail::writes_memory loop;
    const T* const from = x + i;
    T* const to = y + o;
    if (di == 1 && dy == 1) {
#pragma omp simd
      for (index_t k = 0; k < n; ++k) to[k] = greatest::join(to[k], from[k]);
    } else {
      for (index_t k = 0; k < n; ++k) to[k * dy] = greatest::join(to[k * dy], from[k * di]);
    }
  });
}

/// at = where in x the greatest element of each window is: the first of equals, -1 over none.
template <class T> void pool_places(const pooling& p, const T* x, index_t* at, index_t results) {
  const dimesh::detail::writes_memory kernel;
  std::fill_n(at, results, index_t{-1});
  for_each_meeting(p, [=](index_t i, index_t o, index_t n, index_t di, index_t dy) {
    const dimesh::detail::writes_memory loop;
    for (index_t k = 0; k < n; ++k, i += di, o += dy) {
      const T v = x[i];
      if (at[o] < 0 || v > x[at[o]] || (v != v && x[at[o]] == x[at[o]])) at[o] = i;
    }
  });
}

/// y[o] = the sum over each window of x; back: x[i] = the sum over all windows with i of y.
template <bool Back, class T>
void pool_sum(const pooling& p, const T* from, T* to, index_t elements_of_to) {
  const dimesh::detail::writes_memory kernel;
  std::fill_n(to, elements_of_to, T(0));
  for_each_meeting(p, [=](index_t i, index_t o, index_t n, index_t di, index_t dy) {
    const dimesh::detail::writes_memory loop;
    const T* const f = from + (Back ? o : i);
    T* const t = to + (Back ? i : o);
    const index_t df = Back ? dy : di, dt = Back ? di : dy;
    if (df == 1 && dt == 1) {
#pragma omp simd
      for (index_t k = 0; k < n; ++k) t[k] += f[k];
    } else {
      for (index_t k = 0; k < n; ++k) t[k * dt] += f[k * df];
    }
  });
}

namespace detail {

/// Results in rows, with how many elements are in the windows of a row.
template <class T> struct counted_results {
  const pooling& p;
  std::vector<index_t> (&count)[convolution::max_windows];
  const T* x;
  T* y;

  void rest(int i, index_t o) const {
    if (i == p.rest) return along(0, o, 1);
    for (index_t k = 0; k < p.extent[i]; ++k) rest(i + 1, o + k * p.y_step[i]);
  }
  void along(int w, index_t o, index_t so_far) const {
    const dimesh::detail::writes_memory kernel;
    if (w == p.windows) {
      y[o] = so_far == 0 ? T(0) : x[o] / static_cast<T>(so_far);
      return;
    }
    for (const index_t n : count[w]) {
      along(w + 1, o, so_far * n);
      o += p.window[w].step[2];
    }
  }
};

}  // namespace detail

/// y[o] = x[o] / (elements in the window of o), 0 over none. Both lie as results do; may be one.
template <class T> void divide_by_counts(const pooling& p, const T* x, T* y) {
  const dimesh::detail::writes_memory kernel;
  std::vector<index_t> count[convolution::max_windows];
  for (int w = 0; w < p.windows; ++w)
    for (index_t o = 0; o < p.window[w].results(); ++o)
      count[w].push_back(taps_of(p.window[w], o).count());
  detail::counted_results<T>{p, count, x, y}.rest(0, 0);
}

}  // namespace dimesh::local
