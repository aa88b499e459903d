// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who sends what to whom, when a matrix goes from its tensor's blocks to a block-cyclic array, or
// back? All ranks know both. What a process keeps of a block is a box of its local array, since it
// keeps elements in order; in the block it lies in runs, equally far apart but for the first and
// the last. So a part is packed as it lies in the array, and the tensor's side walks the runs.
//
//   move_dealt<true, T>(everyone, m, block, array)    // an array's elements to the tensor
//   move_dealt<false, T>(everyone, m, block, array)   // and back
//
// Of the tensor's copies along an axis, that with a rank's own coordinates there sends it what it
// lacks. On the host, where ScaLAPACK's arrays are.
#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include "dimesh/collective/all_to_all.hpp"
#include "dimesh/core/tensor_core.hpp"
#include "dimesh/layout/box.hpp"
#include "dimesh/layout/cyclic.hpp"
#include "dimesh/local/copy.hpp"

namespace dimesh::detail {

/// An array over a process grid: its columns are the tensor's first dim, its rows the second.
struct dealt_array {
  cyclic dim[2];
  index_t extent[2]{};
  index_t lead = 1;  // LLD_ of this rank
  std::vector<int> process;  // of each rank: row + rows * column, or -1

  bool has(index_t r) const { return process[static_cast<std::size_t>(r)] >= 0; }
  /// The row, or column, in which a rank stands that has a part of the array.
  index_t seat(index_t r, int d) const {
    const int p = process[static_cast<std::size_t>(r)];
    const auto rows = static_cast<int>(dim[1].processes);
    return d == 0 ? p / rows : p % rows;
  }
};

/// A box of a local array: columns, rows.
struct local_part {
  index_t at[2]{}, length[2]{};
  index_t size() const { return length[0] * length[1]; }
};

/// The array, the tensor's blocks, and what they have in common.
struct dealt_matrix {
  dealt_array array;
  table layout;
  placement where;

  dealt_matrix(dealt_array a, const tensor_core& x) : array(std::move(a)), layout(x.layout()) {
    where.rank = 2;
    for (int d = 0; d < 2; ++d) where.extent[d] = x.extent(d);
    where.sizes = x.sizes();
    where.coords = x.grid->coords();
    where.cuts = {x.cuts.first(), x.facts->dim};
  }
  peer coords_of(index_t r) const { return {r, (1u << layout.axes) - 1, where.sizes, nullptr}; }
  box block_of(index_t r) const {
    return box_at(layout, 2, where.extent, where.sizes, coords_of(r).coords, where.cuts);
  }
  /// What rank r keeps in its local array of a block.
  local_part kept(index_t r, const box& b) const {
    local_part p;
    for (int d = 0; d < 2 && array.has(r); ++d) {
      const index_t process = array.seat(r, d);
      p.at[d] = array.dim[d].before(b.begin[d], process);
      p.length[d] = array.dim[d].before(b.begin[d] + b.length[d], process) - p.at[d];
    }
    return p;
  }
  local_part kept(index_t r) const { return kept(r, where.whole()); }
  /// Do two ranks have the same coordinates along all axes that split neither dim?
  bool same_copy(index_t r, index_t s) const {
    const peer a = coords_of(r), b = coords_of(s);
    for (int d = 0; d < layout.axes; ++d)
      if (layout.axis[d].what != use::split && a.coords[d] != b.coords[d]) return false;
    return true;
  }
  /// Does any rank lack anything, of its block or of its part of the array?
  bool moves(bool to_tensor, int ranks) const {
    for (index_t r = 0; r < ranks; ++r) {
      const box b = block_of(r);
      if ((to_tensor ? b.size() : kept(r).size()) > kept(r, b).size()) return true;
    }
    return false;
  }
  /// As many elements as no rank packs. To a tensor: a part for each copy.
  index_t most(bool to_tensor) const {
    unsigned copying = 0;
    for (int a = 0; a < layout.axes; ++a)
      if (layout.axis[a].what != use::split) copying |= 1u << a;
    const index_t block = where.most(layout);
    const index_t part = array.dim[0].most(array.extent[0]) * array.dim[1].most(array.extent[1]) *
                         (to_tensor ? group_size(copying, where.sizes) : 1);
    return block > part ? block : part;
  }
};

/// Copies what rank r keeps between a block of the tensor and `lines`, where it lies as in r's
/// array: columns one after another, `lead` elements apart.
template <bool ToTensor, class T>
void move_runs(const dealt_array& a, index_t r, const local_part& part, const box& whole,
               std::conditional_t<ToTensor, T, const T>* block,
               std::conditional_t<ToTensor, const T, T>* lines, index_t lead) {
  if (part.size() == 0) return;
  const index_t width = whole.length[1];
  const cyclic &columns = a.dim[0], &rows = a.dim[1];
  const index_t in_block[] = {columns.step() * width, width, rows.step(), 1};
  const index_t in_lines[] = {columns.block * lead, lead, rows.block, 1};
  const auto end = [&part](int d) { return part.at[d] + part.length[d]; };
  columns.each_run(part.at[0], end(0), [&](const cyclic::runs& c) {
    const index_t column = columns.global(c.local, a.seat(r, 0)) - whole.begin[0];
    rows.each_run(part.at[1], end(1), [&](const cyclic::runs& w) {
      const index_t extent[] = {c.count, c.length, w.count, w.length};
      auto* const here =
          block + column * width + rows.global(w.local, a.seat(r, 1)) - whole.begin[1];
      auto* const there = lines + (c.local - part.at[0]) * lead + w.local - part.at[1];
      if constexpr (ToTensor)
        local::copy_box<T>(4, extent, there, in_lines, here, in_block);
      else
        local::copy_box<T>(4, extent, here, in_block, there, in_lines);
    });
  });
}

/// The parts of one side, by rank, and where they lie in a message's buffer.
struct dealt_side {
  std::vector<local_part> part;
  std::vector<collective::run> runs;
  index_t elements = 0;

  void add(const local_part& p) {
    part.push_back(p);
    runs.push_back({elements, p.size()});
    elements += p.size();
  }
};

/// Moves a matrix between this rank's block of a tensor and its local array, memory of the host.
/// Collective: one all-to-all, where any rank lacks anything.
template <bool ToTensor, class T>
void move_dealt(const communicator& everyone, const dealt_matrix& m,
                std::conditional_t<ToTensor, T, const T>* block,
                std::conditional_t<ToTensor, const T, T>* array,
                index_t limit = collective::most_per_call<T>) {
  const of_host memory;
  const index_t me = everyone.rank(), lead = m.array.lead;
  const box mine = m.block_of(me);
  const local_part stays = m.kept(me, mine);
  const auto in_array = [&](const local_part& p) { return array + p.at[0] * lead + p.at[1]; };
  if (stays.size() > 0)
    move_runs<ToTensor, T>(m.array, me, stays, mine, block, in_array(stays), lead);
  if (!m.moves(ToTensor, everyone.size())) return;
  dealt_side of_array, of_block;
  for (index_t r = 0; r < everyone.size(); ++r) {
    const bool meets = r != me && (ToTensor || m.same_copy(r, me));
    of_array.add(meets ? m.kept(me, m.block_of(r)) : local_part{});
    of_block.add(meets ? m.kept(r, mine) : local_part{});
  }
  const auto room = [](const dealt_side& s) {
    return storage::acquire(static_cast<std::size_t>(s.elements) * sizeof(T));
  };
  const storage lines = room(of_array), runs = room(of_block);
  T *const at_array = static_cast<T*>(lines.data()), *const at_block = static_cast<T*>(runs.data());
  const index_t apart[] = {lead, 1};
  const auto each = [](const dealt_side& s, const auto& f) {
    for (std::size_t r = 0; r < s.part.size(); ++r)
      if (s.runs[r].count > 0) f(static_cast<index_t>(r), s.part[r], s.runs[r].at);
  };
  const auto walk_block = [&](index_t r, const local_part& p, index_t at) {
    move_runs<ToTensor, T>(m.array, r, p, mine, block, at_block + at, p.length[1]);
  };
  if constexpr (ToTensor) {
    each(of_array, [&](index_t, const local_part& p, index_t at) {
      local::pack<T>(2, p.length, in_array(p), apart, at_array + at);
    });
    collective::all_to_all_v(everyone, static_cast<const T*>(at_array), of_array.runs.data(),
                             at_block, of_block.runs.data(), m.most(ToTensor), limit);
    each(of_block, walk_block);
  } else {
    each(of_block, walk_block);
    collective::all_to_all_v(everyone, static_cast<const T*>(at_block), of_block.runs.data(),
                             at_array, of_array.runs.data(), m.most(ToTensor), limit);
    each(of_array, [&](index_t, const local_part& p, index_t at) {
      local::unpack<T>(2, p.length, at_array + at, in_array(p), apart);
    });
  }
}

}  // namespace dimesh::detail
