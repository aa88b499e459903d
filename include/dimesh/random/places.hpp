// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whose number is the k-th element of a block? That of its place in the row-major order of the
// whole tensor. Elements are drawn some at a time: each goes through the same vector code, wherever
// it stands in a block, so that no layout changes a bit.
//
//   block_places where(core);   where.of(64, 32, at)   -> the global places of elements 64 .. 95
//   for_each_tile(draw_kernel<double, float, Draw>{out, draw, where, size})
#pragma once

#include <limits>

#include "dimesh/core/tensor_core.hpp"
#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/element/bfloat16.hpp"
#include "dimesh/local/pieces.hpp"
#include "dimesh/memory/memory.hpp"

namespace dimesh::detail {

/// How many elements are drawn at a time: on the host a multiple of what vectors hold.
inline constexpr int drawn_at_once = on_host ? 32 : 1;

/// A block without halos in its tensor.
struct block_places {
  int rank = 0;
  index_t length[max_dims]{}, offset[max_dims]{}, step[max_dims]{};  // step: of the whole tensor

  explicit block_places(const tensor_core& x) : rank(x.rank()) {
    index_t n = 1;
    for (int d = rank - 1; d >= 0; --d) {
      length[d] = x.local(d), offset[d] = x.own(d).offset, step[d] = n;
      n *= x.extent(d);
    }
  }
  /// The global places of elements first .. first + count of the block.
  KOKKOS_INLINE_FUNCTION void of(index_t first, index_t count, index_t* at) const {
    const writes_arrays host;
    if (rank == 0) at[0] = 0;
    for (index_t done = 0; rank > 0 && done < count;) {
      index_t rest = first + done, place = 0;
      const index_t ahead = length[rank - 1] - rest % length[rank - 1];  // in this row
      for (int d = rank - 1; d >= 0; --d) {
        place += (offset[d] + rest % length[d]) * step[d];
        rest /= length[d];
      }
      const index_t n = ahead < count - done ? ahead : count - done;
      for (index_t j = 0; j < n; ++j) at[done + j] = place + j;
      done += n;
    }
  }
};

/// out (size) = what is drawn for the elements of a block, numbers V.
template <class V, class T, class Draw> struct draw_kernel {
  T* out;
  Draw draw;
  block_places where;
  index_t size;

  KOKKOS_INLINE_FUNCTION void operator()(index_t tile) const {
    const writes_memory kernel;
    const index_t first = tile * drawn_at_once, left = size - first;
    const index_t count = left < drawn_at_once ? left : index_t{drawn_at_once};
    index_t at[drawn_at_once];
    V drawn[drawn_at_once];
    where.of(first, count, at);
    for (index_t j = count; j < drawn_at_once; ++j) at[j] = at[0];
    draw(at, drawn);
    for (index_t j = 0; j < count; ++j) dimesh::store(out[first + j], drawn[j]);
  }
};
template <class V, class T, class Draw> void for_each_tile(const draw_kernel<V, T, Draw>& kernel) {
  const index_t tiles = (kernel.size + drawn_at_once - 1) / drawn_at_once;
  local::for_each_index<local::default_space>(tiles, kernel);
  if constexpr (!hosts_only) Kokkos::fence();
}

/// Does T hold all whole numbers from 0 to n?
template <class T> constexpr bool holds_exactly(index_t n) {
  using traits = element_traits<T>;
  if constexpr (traits::is_integer)
    return static_cast<std::uint64_t>(n) <=
           static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  else if constexpr (traits::kind == element_kind::boolean)
    return n <= 1;
  constexpr int digits = traits::kind == element_kind::bfloat16 ? 8
                         : traits::kind == element_kind::half   ? 11
                         : sizeof(T) == (traits::is_complex ? 8 : 4)
                             ? std::numeric_limits<float>::digits
                             : std::numeric_limits<double>::digits;
  return n <= index_t{1} << digits;
}

}  // namespace dimesh::detail
