// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How is a filter drawn over an array? Element o of the result meets elements stride o + dilation t
// - before of the array, for every tap t of the filter. Of array, filter and result any one is
// computed from the other two: the convolution and its two transposes are the same sum of products.
// It is done as matrix products of the arrays where they lie, one for each tap (for each row of
// taps, where their products sum to one element); no window is copied. oneDNN does it where it is
// there and, by the shapes, faster (backend_onednn_shape.hpp).
//
//   window_loop v{28, 26, 3};             // 28 elements, 26 results, 3 taps
//   convolve(c, a, b, y, elements of y)   // y from an array a and a filter b, say
#pragma once

#include <algorithm>
#include <type_traits>

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/error.hpp"
#include "dimesh/local/contract.hpp"
#include "dimesh/local/convolution.hpp"
#ifdef DIMESH_WITH_ONEDNN
#include "dimesh/local/backend_onednn_convolution.hpp"
#endif

namespace dimesh::local {

namespace detail {

/// Walks the taps of the windows, and adds the products of each.
template <class T> class convolver {
 public:
  explicit convolver(const convolution& v) : v_(v) {
    // A loop that all three have, stored innermost in all: no matrix product fills registers there.
    for (int i = 0; i < v.rest.outer; ++i)
      if (v.rest.extent[i] > 1 && v.rest.a_outer[i] == 1 && v.rest.b_outer[i] == 1 &&
          v.rest.c_outer[i] == 1)
        lane_ = i;
  }
  /// Nothing where a loop has no turns: an array without elements need not have an address.
  void operator()(const T* a, const T* b, T* c) const {
    const auto has_none = [](const auto& extents, int n) {
      return std::find(extents, extents + n, 0) != extents + n;
    };
    bool none = has_none(v_.rest.extent, v_.rest.outer);
    for (int w = 0; w < v_.windows; ++w) none = none || has_none(v_.window[w].extent, 3);
    if (!none) walk(0, v_.rest, a, b, c);
  }

 private:
  void walk(int w, const contraction& x, const T* a, const T* b, T* c) const {
    if (w == v_.windows) return multiply(x, a, b, c);
    const window_loop& d = v_.window[w];
    if (w + 1 < v_.windows || lane_ >= 0 || v_.role[2] == window_role::array)
      one_tap_each(w, d, x, a, b, c);
    else
      rows_of_taps(w, d, x, a, b, c);
  }
  /// Results that need the same elements of a tap, tap by tap.
  void one_tap_each(int w, const window_loop& d, const contraction& x, const T* a, const T* b,
                    T* c) const {
    for (index_t t = 0; t < d.taps(); ++t) {
      const window_range o = results_of(d, t);
      if (o.count() == 0) continue;
      const index_t at[3] = {d.place(o.begin, t), t, o.begin}, by[3] = {d.stride, 0, 1};
      contraction y = x;
      add_loop(y, d, o.count(), by);
      walk(w + 1, y, a + at_of(0, d, at), b + at_of(1, d, at), c + at_of(2, d, at));
    }
  }
  /// Results that have the same taps, all of these in one product.
  void rows_of_taps(int w, const window_loop& d, const contraction& x, const T* a, const T* b,
                    T* c) const {
    for (index_t o = 0, end = 0; o < d.results(); o = end) {
      const window_range taps = taps_of(d, o);
      for (end = o + 1; end < d.results() && taps_of(d, end) == taps;) ++end;
      if (taps.count() == 0) continue;
      const index_t at[3] = {d.place(o, taps.begin), taps.begin, o};
      const index_t by[3] = {d.stride, 0, 1}, along[3] = {d.dilation, 1, 0};
      contraction y = x;
      add_loop(y, d, end - o, by);
      add_loop(y, d, taps.count(), along);
      walk(w + 1, y, a + at_of(0, d, at), b + at_of(1, d, at), c + at_of(2, d, at));
    }
  }
  /// The place in operand k (2: c) of coordinates by role.
  index_t at_of(int k, const window_loop& d, const index_t* by_role) const {
    const auto r = static_cast<int>(v_.role[k]);
    return by_role[r] * d.step[r];
  }
  void add_loop(contraction& x, const window_loop& d, index_t n, const index_t* by_role) const {
    const int i = x.outer++;
    x.extent[i] = n;
    x.a_outer[i] = at_of(0, d, by_role);
    x.b_outer[i] = at_of(1, d, by_role);
    x.c_outer[i] = at_of(2, d, by_role);
  }
  void multiply(const contraction& x, const T* a, const T* b, T* c) const {
    if (lane_ < 0) return contract<T, Kokkos::DefaultHostExecutionSpace>(x, a, b, c, true);
    contraction rows = x;
    const index_t n = rows.extent[lane_];
    rows.extent[lane_] = 1;
    for_each_product(rows, a, b, c, true,
                     [&](const T* pa, const T* pb, T* pc, bool) { add_products(n, pa, pb, pc); });
  }
  static void add_products(index_t n, const T* a, const T* b, T* c) {
    const dimesh::detail::writes_memory kernel;
#pragma omp simd
    for (index_t i = 0; i < n; ++i) c[i] += a[i] * b[i];
  }

  const convolution& v_;
  int lane_ = -1;
};

}  // namespace detail

/// Throws dimesh::error where the loops are more than a contraction holds: the rest, one for each
/// window, and one more, for the taps of the last.
inline void require_loops(const convolution& v) {
  if (v.rest.outer + v.windows + 1 > contraction::max_outer)
    throw error(
        "convolve: dims of array, filter and result, each counted once, are more than 16; "
        "merge some that stand side by side");
}

namespace detail {
/// Computes c, if oneDNN is there and faster.
template <class T>
bool convolved_by_library([[maybe_unused]] const convolution& v, [[maybe_unused]] const T* a,
                          [[maybe_unused]] const T* b, [[maybe_unused]] T* c) {
#ifdef DIMESH_WITH_ONEDNN
  if constexpr (std::is_same_v<T, float>) return onednn::convolve(v, a, b, c);
#endif
  return false;
}
}  // namespace detail

/// Computes c, which has so many elements. Arrays must not overlap. On the host. Throws
/// dimesh::error where there are more loops than a contraction holds.
template <class T>
void convolve(const convolution& v, const T* a, const T* b, T* c, index_t count) {
  const dimesh::detail::writes_memory kernel;
  require_loops(v);
  if (count > 0 && detail::convolved_by_library(v, a, b, c)) return;
  std::fill_n(c, count, T(0));
  if (count > 0) detail::convolver<T>{v}(a, b, c);
}
namespace detail {
/// The loop over images, which the filter has no part in, with the largest step; -1: there is none.
inline int loop_of_images(const convolution& v) {
  int at = -1;
  for (int i = 0; i < v.rest.outer; ++i) {
    const index_t step[] = {v.rest.a_outer[i], v.rest.b_outer[i], v.rest.c_outer[i]};
    bool of_images = v.rest.extent[i] > 1;
    for (int k = 0; k < 3; ++k)
      of_images = of_images && (step[k] == 0) == (v.role[k] == window_role::filter);
    if (of_images && (at < 0 || step[0] + step[1] > v.rest.a_outer[at] + v.rest.b_outer[at]))
      at = i;
  }
  return at;
}
/// library(v, a, b, c) -> has it added to c, which it may take for zeros? Where not, products of
/// taps do. Parts of several images, which have gaps between them, go to it one by one.
template <class T, class Library>
void add_part(const convolution& v, const T* a, const T* b, T* c, const Library& library) {
  require_loops(v);
  if (library(v, a, b, c)) return;
  const int images = loop_of_images(v);
  convolution one = v;
  if (images >= 0) one.rest.extent[images] = 1;
  if (images < 0 || !library(one, a, b, c)) return convolver<T>{v}(a, b, c);
  for (index_t k = 1; k < v.rest.extent[images]; ++k) {
    a += v.rest.a_outer[images], b += v.rest.b_outer[images], c += v.rest.c_outer[images];
    if (!library(one, a, b, c)) convolver<T>{one}(a, b, c);
  }
}
}  // namespace detail

/// Computes a part of an array, whose elements are zero.
template <class T> void convolve_into_zeros(const convolution& v, const T* a, const T* b, T* c) {
  const dimesh::detail::writes_memory kernel;
  detail::add_part(v, a, b, c, detail::convolved_by_library<T>);
}
/// Adds a filter's gradient over some of the results to c, which has so many elements, as has
/// `room`.
template <class T>
void convolve_more(const convolution& v, const T* a, const T* b, T* c, index_t count, T* room) {
  const dimesh::detail::writes_memory kernel;
  detail::add_part(v, a, b, c, [=](const convolution& some, const T* x, const T* y, T* sum) {
    const dimesh::detail::writes_memory sums;
    if (!detail::convolved_by_library(some, x, y, room)) return false;
    for (index_t i = 0; i < count; ++i) sum[i] += room[i];
    return true;
  });
}

}  // namespace dimesh::local
