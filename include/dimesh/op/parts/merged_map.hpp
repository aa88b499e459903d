// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which elements of one rank's block are which of another's, when neighbouring dims are read as
// others, of as many elements together, and ranks split any of them? Blocks are boxes of two
// row-major arrays with the same elements; each is a list of runs, and what two lists share goes
// from one rank to the other.
//
//   merged_map m(x, 2, y, 1, d);   // dims d, d + 1 of x are dim d of y
//   m.each(owner, wanting, [](const line_run& r) { ... })
#pragma once

#include "dimesh/op/parts/line_moves.hpp"

namespace dimesh::detail {

/// A box of a row-major array, as runs in the order of its elements.
struct box_runs {
  index_t length = 1, count = 1;  // of each run; how many there are
  constexpr explicit box_runs(const box& b, const index_t* extent) : whole_(b) {
    bool inside = true;
    for (int d = b.rank - 1; d >= 0; --d) {
      extent_[d] = extent[d];
      (inside ? length : count) *= b.length[d];
      inside_[d] = inside;
      inside = inside && b.length[d] == extent[d];
    }
  }
  /// Where run i begins in the whole array. (In the box: at i length.)
  constexpr index_t begin(index_t i) const {
    index_t at[max_dims]{};
    for (int d = whole_.rank - 1; d >= 0; --d) {
      at[d] = whole_.begin[d];
      if (inside_[d]) continue;
      at[d] += i % whole_.length[d];
      i /= whole_.length[d];
    }
    index_t n = 0;
    for (int d = 0; d < whole_.rank; ++d) n = n * extent_[d] + at[d];
    return n;
  }
  constexpr index_t size() const { return length * count; }

 private:
  box whole_;
  index_t extent_[max_dims]{};
  bool inside_[max_dims]{};
};

/// Neighbouring dims of one tensor as those of another, cut over the same axes.
struct merged_map {
  placement from_where, to_where;
  table from, to;
  unsigned talk;
  int first, olds, news;  // where the dims stand, and how many these are

  constexpr merged_map(const tensor_core& x, int old_dims, const tensor_core& y, int new_dims,
                       int d)
      : from_where(placement_of(x)),
        to_where(placement_of(y)),
        from(x.layout()),
        to(y.layout()),
        talk(talking(axes_of(x, d, old_dims), x.sizes())),
        first(d),
        olds(old_dims),
        news(new_dims) {}
  static constexpr unsigned axes_of(const tensor_core& x, int d, int count) {
    unsigned axes = 0;
    for (int i = d; i < d + count; ++i) axes |= x.layout().axes_of(i);
    return axes;
  }
  constexpr index_t me() const {
    index_t r = 0;
    for (int a = 0; a < from.axes; ++a)
      if (talk >> a & 1u)
        r = r * from_where.sizes[a] + (from_where.coords != nullptr ? from_where.coords[a] : 0);
    return r;
  }
  template <class F> constexpr void each(index_t owner, index_t wanting, F&& f) const {
    const box_runs has = runs(from_where, from, owner, olds),
                   wants = runs(to_where, to, wanting, news);
    if (has.size() == 0 || wants.size() == 0) return;
    for (index_t i = 0, k = 0; i < has.count && k < wants.count;) {
      const index_t a = has.begin(i), b = wants.begin(k);
      const index_t begin = std::max(a, b), end = std::min(a + has.length, b + wants.length);
      if (begin < end)
        f(line_run{0, i * has.length + begin - a, 1, k * wants.length + begin - b, 1, end - begin});
      ++(a + has.length <= b + wants.length ? i : k);
    }
  }

 private:
  constexpr box_runs runs(const placement& where, const table& t, index_t r, int count) const {
    const box all = where.peers(t, r, talk);
    box some;
    some.rank = count;
    for (int i = 0; i < count; ++i)
      some.begin[i] = all.begin[first + i], some.length[i] = all.length[first + i];
    return box_runs(some, where.extent + first);
  }
};

}  // namespace dimesh::detail
