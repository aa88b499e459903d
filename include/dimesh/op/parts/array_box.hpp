// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where does a part of an array lie, and how does it get to its place in another one? A box: its
// first element, extents and strides; and a pair of boxes that is moved again and again.
//
//   array_box all = stored_array(x);                    // (4, 8)
//   const moved_box m(all.part(0, 1, 2), all.dense());  // its rows 1 and 2, one after another
//   m.move<false>(x.data<float>(), buffer);
#pragma once

#include "dimesh/core/tensor_core.hpp"
#include "dimesh/local/copy.hpp"

namespace dimesh::detail {

/// A box in a larger array.
struct array_box {
  index_t first = 0;  // the place of its first element
  int rank = 0;
  index_t extent[max_dims]{}, stride[max_dims]{};

  index_t size() const { return across(-1); }
  /// Elements at one place of dim d.
  index_t across(int d) const {
    index_t n = 1;
    for (int e = 0; e < rank; ++e) n *= e == d ? 1 : extent[e];
    return n;
  }
  /// Without the halos of dim d.
  array_box within(int d, const halo_widths& w) const {
    return part(d, w.before, extent[d] - w.both());
  }
  /// Places from `begin` on, `count` of them, of dim d.
  array_box part(int d, index_t begin, index_t count) const {
    array_box b = *this;
    b.first += begin * stride[d];
    b.extent[d] = count;
    return b;
  }
  /// As many elements one after another, from place `at` on.
  array_box dense(index_t at = 0) const {
    array_box b = *this;
    b.first = at;
    local::row_major_strides(rank, b.extent, b.stride);
    return b;
  }
};

/// All that a rank stores of a tensor.
inline array_box stored_array(const tensor_core& x) {
  array_box b;
  b.rank = x.rank();
  for (int d = 0; d < b.rank; ++d) b.extent[d] = x.local(d);
  return b.dense();
}

/// y[to] = x[from], boxes of the same extents.
template <class T> void copy_part(const T* x, const array_box& from, T* y, const array_box& to) {
  local::copy_box(from.rank, from.extent, x + from.first, from.stride, y + to.first, to.stride);
}

/// A box that moves again and again: where it begins in either array, and how it goes.
struct moved_box {
  index_t from, to;
  local::box_move how;

  moved_box(const array_box& x, const array_box& y)
      : from(x.first), to(y.first), how(x.rank, x.extent, x.stride, y.stride) {}
  /// Elements one after another, in either array?
  bool is_run() const { return how.rank == 1 && how.from[0] == 1 && how.to[0] == 1; }
  /// From x to y, or is added there.
  template <bool Add, class T> void move(const T* x, T* y) const {
    if constexpr (Add)
      local::add_box(how, x + from, y + to);
    else
      local::copy_box(how, x + from, y + to);
  }
  /// From its place in y to that in x.
  template <class T> void move_back(const T* y, T* x) const {
    local::copy_box(how.rank, how.extent, y + to, how.to, x + from, how.from);
  }
};

}  // namespace dimesh::detail
