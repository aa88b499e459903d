// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How large is the part of a tensor that one rank holds, and where does it begin? Worked out once,
// when the tensor is made, for its extents and the rank's coordinates, by functions that serve
// tensors of all types.
//
//   work_out_blocks(spec_facts<S>, extents, sizes, coords, blocks)   // throws where it comes out
//                                                                    // odd
//   block_view{&table, blocks, rank}.stride(0)  -> elements between neighbours along dim 0
#pragma once

#include "dimesh/core/facts.hpp"
#include "dimesh/detail/compiled.hpp"
#include "dimesh/detail/words.hpp"
#include "dimesh/layout/cut_list.hpp"

namespace dimesh::detail {

/// Says which dim has no extent, or cannot be cut evenly.
[[noreturn]] void refuse_extent(const tensor_facts& f, int d, index_t n, const index_t* sizes);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void refuse_extent(const tensor_facts& f, int d, index_t n,
                                         const index_t* sizes) {
  words w;
  const std::string_view name = f.dim[d]->name;
  w << "tensor: dim '" << name << "' has ";
  if (n < 0) {
    if (n == dynamic)
      w << "no extent";
    else
      w << n << " elements";
    w << "; give it " << name << "{n} with n >= 0";
  } else {
    w << n << " elements, which ";
    for (int level = 0, a = 0; (a = f.layout.axis_at(d, level)) >= 0; ++level)
      w << (level > 0 ? " x axis '" : "axis '") << f.axis_name(a) << "' of size " << sizes[a];
    w << " does not divide; choose another extent or split uneven<" << name << ">";
  }
  w.raise();
}
#endif

/// The tensor is to live at a coordinate that its axis does not have.
[[noreturn]] void refuse_place(const tensor_facts& f, const index_t* sizes);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void refuse_place(const tensor_facts& f, const index_t* sizes) {
  int a = 0;
  while (f.layout.axis[a].what != use::placed || f.layout.axis[a].at < sizes[a]) ++a;
  (words() << "tensor: the layout places it at coordinate " << index_t{f.layout.axis[a].at}
           << " of axis '" << f.axis_name(a) << "', whose coordinates are 0.." << sizes[a] - 1
           << "; name one of these, or give the axis more ranks")
      .raise();
}
#endif
/// The axes along which the rank at some coordinates (-1: any) is not where a tensor lives. Throws
/// where an axis has no such place.
constexpr unsigned away_at(const tensor_facts& f, const index_t* sizes, const index_t* coords) {
  for (int a = 0; a < f.layout.axes; ++a)
    if (f.layout.axis[a].what == use::placed && f.layout.axis[a].at >= sizes[a])
      refuse_place(f, sizes);
  return f.layout.away_from(coords);
}

/// The blocks of all dims at some coordinates. Out of line: every tensor that is made comes by.
DIMESH_OUTLINE constexpr void work_out_blocks(const tensor_facts& f, const index_t* extents,
                                              const index_t* sizes, const index_t* coords,
                                              block* blocks, const cut_record* cuts = nullptr) {
  const table& t = f.layout;
  for (int d = 0; d < f.rank; ++d) {
    if (extents[d] < 0) refuse_extent(f, d, extents[d], sizes);
    blocks[d] = {0, extents[d]};
  }
  for (int a = 0; a < t.axes; ++a) {
    const axis_use u = t.axis[a];
    if (u.what != use::split || u.level != 0) continue;  // the major axis stands for all of its dim
    const int d = u.dim;
    if (!t.uneven[d] && extents[d] % ranks_over(t, d, sizes) != 0)
      refuse_extent(f, d, extents[d], sizes);
    blocks[d] = block_under(t, d, extents[d], sizes, coords, {cuts, f.dim});
  }
}

/// The bytes of a block. Throws dimesh::error where there are more than can be counted, as where
/// nobody has set an extent: what is left of such a product would be memory for some elements.
index_t counted_bytes(const tensor_facts& f, const block* blocks);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline index_t counted_bytes(const tensor_facts& f, const block* blocks) {
  index_t n = f.element;
  bool beyond = false, empty = false;
  const auto length = [&](int d) { return blocks[d].length + f.layout.halo[d].both(); };
  for (int d = 0; d < f.rank; ++d) {
    beyond |= __builtin_mul_overflow(n, length(d), &n);
    empty |= length(d) == 0;
  }
  if (empty || !beyond) [[likely]]
    return empty ? 0 : n;
  words w;
  w << "tensor: a block of ";
  for (int d = 0; d < f.rank; ++d) w << (d > 0 ? " x " : "") << length(d);
  w << " elements along";
  for (int d = 0; d < f.rank; ++d) w << (d > 0 ? ", '" : " '") << f.dim[d]->name << "'";
  w << " has more bytes than can be counted; give smaller extents";
  w.raise();
}
#endif

/// Elements between neighbours along dim d of a row-major block.
DIMESH_OUTLINE constexpr index_t stride_along(const table& t, const block* blocks, int d,
                                              int rank) {
  index_t stride = 1;
  for (int i = d + 1; i < rank; ++i) stride *= blocks[i].length + t.halo[i].both();
  return stride;
}

/// A tensor's blocks, for functions that serve tensors of all types.
struct block_view {
  const table* t;
  const block* blocks;
  int rank;

  constexpr index_t local(int d) const { return blocks[d].length + t->halo[d].both(); }
  constexpr index_t stride(int d) const { return stride_along(*t, blocks, d, rank); }
};

}  // namespace dimesh::detail
