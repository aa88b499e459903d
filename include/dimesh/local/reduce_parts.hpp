// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a device reduce arrays over loops that only the run knows? In parts: one thread joins a
// part of what one element of the result stands for, then the parts are joined in their order.
//
//   reduce_parts<Space, plus>(l, f, y, x);   // no atomics: the same bits every time
#pragma once

#include "dimesh/detail/bundle.hpp"
#include "dimesh/detail/kernel_range.hpp"
#include "dimesh/local/loops.hpp"
#include "dimesh/local/reduce.hpp"
#include "dimesh/memory/closed.hpp"
#include "dimesh/memory/storage.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace dimesh::local::detail {

/// The sum, or extreme, of part p of what element e of the result stands for: what a device does.
/// The first `kept` groups are those that the result has.
template <class Op, class F, class T, class... X> struct reduce_part {
  static constexpr int arrays = 1 + sizeof...(X);
  loops<arrays> l;
  int kept;
  index_t size, terms, parts;
  F f;
  T* y;
  T* results;  // (parts, size); null where one part is all
  dimesh::detail::bundle<const X*...> x;

  KOKKOS_FUNCTION void operator()(index_t place) const {
    const index_t e = place % size, p = place / size;
    index_t at[arrays] = {};
    move(at, e, kept - 1, 0);
    T total = Op::template identity<T>();
    for (index_t r = terms * p / parts; r < terms * (p + 1) / parts; ++r) {
      index_t here[arrays];
      for (int k = 0; k < arrays; ++k) here[k] = at[k];
      move(here, r, l.groups - 1, kept);
      total = Op::join(total, term(here, std::index_sequence_for<X...>{}));
    }
    (results == nullptr ? y[at[0]] : results[place]) = total;
  }
  /// Joins the parts of element e in their order.
  struct whole {
    reduce_part of;
    KOKKOS_FUNCTION void operator()(index_t e) const {
      index_t at[arrays] = {};
      of.move(at, e, of.kept - 1, 0);
      T total = of.results[e];
      for (index_t p = 1; p < of.parts; ++p) total = Op::join(total, of.results[p * of.size + e]);
      of.y[at[0]] = total;
    }
  };

 private:
  KOKKOS_FUNCTION void move(index_t* at, index_t e, int last, int first) const {
    for (int g = last; g >= first; --g) {
      const index_t i = e % l.extent[g];
      e /= l.extent[g];
      for (int k = 0; k < arrays; ++k) at[k] += i * l.stride[k][g];
    }
  }
  template <std::size_t... K>
  KOKKOS_FUNCTION T term(const index_t* at, std::index_sequence<K...>) const {
    return static_cast<T>(f(static_cast<computed<X>>(dimesh::detail::item<K>(x)[at[K + 1]])...));
  }
};

/// The groups that array 0 has, in their order, then the others; returns how many it has.
template <int N> int kept_first(const loops<N>& l, loops<N>& to) {
  to.groups = l.groups;
  int at = 0, kept = 0;
  for (const bool has : {true, false}) {
    for (int g = 0; g < l.groups; ++g) {
      if ((l.stride[0][g] != 0) != has) continue;
      to.extent[at] = l.extent[g];
      for (int k = 0; k < N; ++k) to.stride[k][at] = l.stride[k][g];
      ++at;
    }
    if (has) kept = at;
  }
  return kept;
}

/// Reduces on a device: without atomics, so with the same bits every time.
template <class Space, class Op, class F, class T, class... X>
void reduce_parts(const loops<1 + static_cast<int>(sizeof...(X))>& l, const F& f, T* y,
                  const X*... x) {
  const dimesh::detail::opened memory;
  using Part = reduce_part<Op, F, T, X...>;
  Part part{{}, 0, 1, 1, 1, f, y, nullptr, dimesh::detail::bundle<const X*...>(x...)};
  part.kept = kept_first(l, part.l);
  for (int g = 0; g < l.groups; ++g) (g < part.kept ? part.size : part.terms) *= part.l.extent[g];
  if (part.size == 0) return;
  // Enough parts to fill a device, long enough to be worth a thread.
  part.parts = std::clamp<index_t>(std::min(65536 / part.size, part.terms / 64), 1, 65536);
  dimesh::detail::storage room;
  if (part.parts > 1) {
    room = dimesh::detail::storage::acquire(static_cast<std::size_t>(part.parts * part.size) *
                                            sizeof(T));
    part.results = static_cast<T*>(room.data());
  }
  using Policy = dimesh::detail::kernel_range<Space>;
  Kokkos::parallel_for(Policy(0, part.size * part.parts), part);
  if (part.parts > 1) Kokkos::parallel_for(Policy(0, part.size), typename Part::whole{part});
}

}  // namespace dimesh::local::detail
