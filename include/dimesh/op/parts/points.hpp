// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are the points of a block visited, whose neighbours matter? Rows of them, in row-major order;
// on threads in pieces that write to different elements; on a device each element for itself.
//
//   for_each_row<Space>(point_box(y), dims that the result has, rows)
//     -> rows(coordinates, m, from, to)   // m rows, of each the points [from, to)
#pragma once

#include "dimesh/core/tensor_core.hpp"
#include "dimesh/detail/kernel_range.hpp"
#include "dimesh/local/pieces.hpp"

namespace dimesh::detail {

/// A box of points; without dims, one point.
struct point_box {
  int rank;
  index_t begin[max_dims + 1]{}, end[max_dims + 1]{};

  /// Those of which a rank owns an element of x.
  explicit point_box(const tensor_core& x) : rank(x.rank()) {
    end[0] = 1;
    for (int d = 0; d < rank; ++d) end[d] = x.own(d).length;
  }
  KOKKOS_FORCEINLINE_FUNCTION index_t extent(int d) const { return end[d] - begin[d]; }
  KOKKOS_FORCEINLINE_FUNCTION int last() const { return rank > 0 ? rank - 1 : 0; }
};

/// rows(coordinates, m, from, to) for all m rows along the last dims but one, in row-major order.
template <class Rows> void walk_rows(const point_box& box, const Rows& rows) {
  const int last = box.last(), second = last > 0 ? last - 1 : 0;
  index_t at[max_dims + 1];
  for (int d = 0; d <= last; ++d) {
    if (box.extent(d) <= 0) return;
    at[d] = box.begin[d];
  }
  for (;;) {
    rows(at, last > 0 ? box.extent(second) : 1, box.begin[last], box.end[last]);
    int d = second - 1;
    for (; d >= 0 && ++at[d] == box.end[d]; --d) at[d] = box.begin[d];
    if (d < 0) return;
  }
}

/// One element of what is written, for itself: what a device does. It visits the points that share
/// the element one after another, so that the sums are the same every time.
template <class Rows> struct each_kept {
  Rows rows;
  point_box box;
  unsigned kept;
  index_t shared;  // points to an element

  KOKKOS_FUNCTION void operator()(index_t e) const {
    index_t at[max_dims + 1] = {};
    for (index_t s = 0; s < shared; ++s) {
      index_t own = e, other = s;
      for (int d = box.last(); d >= 0; --d) {
        index_t& rest = kept >> d & 1u ? own : other;
        at[d] = box.begin[d] + rest % box.extent(d);
        rest /= box.extent(d);
      }
      rows(at, 1, at[box.last()], at[box.last()] + 1);
    }
  }
};

/// rows(coordinates, m, from, to) for all points, on the processor of a space. kept: the dims along
/// which the array moves that the rows write to; no two pieces write to one element.
template <class Space, class Rows>
void for_each_row(const point_box& box, unsigned kept, const Rows& rows) {
  using namespace local::detail;
  if constexpr (runs_as_call<Space>) {
    walk_rows(box, rows);
  } else if constexpr (runs_on_host<Space>) {
    int cut = -1;
    for (int d = 0; d < box.rank; ++d)
      if ((kept >> d & 1u) != 0 && (cut < 0 || box.extent(d) > box.extent(cut))) cut = d;
    const index_t n = cut < 0 ? 1 : box.extent(cut), count = std::min(n, pieces<Space>::most());
    launch<Space>(count, [&](index_t p) {
      point_box part = box;
      if (cut >= 0) {
        part.begin[cut] = box.begin[cut] + n * p / count;
        part.end[cut] = box.begin[cut] + n * (p + 1) / count;
      }
      walk_rows(part, rows);
    });
  } else {
    if (moves_to_host<Space>()) return for_each_row<local::host_space>(box, kept, rows);
    index_t size = 1, shared = 1;
    for (int d = 0; d < box.rank; ++d) (kept >> d & 1u ? size : shared) *= box.extent(d);
    Kokkos::parallel_for(kernel_range<Space>(0, size), each_kept<Rows>{rows, box, kept, shared});
  }
}

}  // namespace dimesh::detail
