// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a device reduce arrays over loops that only the run knows? In parts: one thread joins a
// part of what one element of the result stands for, then the parts are joined in their order.
//
//   reduce_parts<Space, plus>(l, f, y, x);   // no atomics: the same bits every time
#pragma once

#include "dimesh/detail/bundle.hpp"
#include "dimesh/detail/kernel_range.hpp"
#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/halves.hpp"
#include "dimesh/local/loops.hpp"
#include "dimesh/local/map_over.hpp"
#include "dimesh/local/pieces.hpp"
#include "dimesh/local/reduce.hpp"
#include "dimesh/memory/storage.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace dimesh::local::detail {

/// The sum, or extreme, of part p of what element e of the result stands for: what a device does.
/// The first `kept` groups are those that the result has, the others have the terms. Neighbours
/// read side by side: parts of neighbouring elements, or, `along` the one group of terms, every
/// parts-th term of one element.
template <class Op, class F, class T, class... X> struct reduce_part {
  static constexpr int arrays = 1 + sizeof...(X);
  loops<arrays> l;
  int kept;
  index_t size, terms, parts;
  bool along;
  F f;
  T* y;
  T* results;  // (parts, size); null where one part is all
  dimesh::detail::bundle<const X*...> x;

  KOKKOS_FUNCTION void operator()(index_t place) const {
    const dimesh::detail::writes_memory kernel;
    const division of = divided(place, along ? parts : size);
    const index_t e = along ? of.whole : of.rest, p = along ? of.rest : of.whole;
    index_t at[arrays] = {};
    move(at, e, kept - 1, 0);
    const index_t y_at = at[0];
    T total = Op::template identity<T>();
    if (along) {
      for (int k = 0; k < arrays; ++k) at[k] += p * l.stride[k][kept];
      join_run(total, at, (terms - p + parts - 1) / parts, parts);
    } else {
      const index_t end = terms * (p + 1) / parts, inner = l.extent[l.groups - 1];
      for (index_t r = terms * p / parts, n; r < end; r += n) {
        index_t here[arrays];
        for (int k = 0; k < arrays; ++k) here[k] = at[k];
        move(here, r, l.groups - 1, kept);
        n = inner - divided(r, inner).rest;
        if (n > end - r) n = end - r;
        join_run(total, here, n, 1);
      }
    }
    (results == nullptr ? y[y_at] : results[p * size + e]) = total;
  }

 private:
  /// n terms from here on along the last group, by so many of its elements.
  KOKKOS_FUNCTION void join_run(T& total, index_t* at, index_t n, index_t by) const {
    const dimesh::detail::writes_arrays host;
    for (index_t i = 0; i < n; ++i) {
      total = Op::join(total, term(at, std::index_sequence_for<X...>{}));
      for (int k = 1; k < arrays; ++k) at[k] += by * l.stride[k][l.groups - 1];
    }
  }
  KOKKOS_FUNCTION void move(index_t* at, index_t e, int last, int first) const {
    const dimesh::detail::writes_arrays host;
    for (int g = last; g >= first; --g) {
      const division of = divided(e, l.extent[g]);
      e = of.whole;
      for (int k = 0; k < arrays; ++k) at[k] += of.rest * l.stride[k][g];
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
  const dimesh::detail::writes_memory kernel;
  using Part = reduce_part<Op, F, T, X...>;
  Part part{{}, 0, 1, 1, 1, false, f, y, nullptr, dimesh::detail::bundle<const X*...>(x...)};
  part.kept = kept_first(l, part.l);
  for (int g = 0; g < l.groups; ++g) (g < part.kept ? part.size : part.terms) *= part.l.extent[g];
  if (part.size == 0) return;
  if (part.kept == l.groups) {
    const map_elements<F, T, X...> terms{part.l, f, y, part.x};
    return each_for_itself<Space>(terms.threads(), terms);
  }
  // Enough parts to fill a device, long enough to be worth a thread.
  constexpr index_t threads = index_t{1} << 18, shortest = 16, most = 65536;
  const bool rounds = std::is_same_v<Op, plus> && !std::is_integral_v<T>;
  const index_t least = rounds ? part.terms / longest_sum : 1;
  part.parts = std::clamp<index_t>(
      std::max(std::min(threads / part.size, part.terms / shortest), least), 1, most);
  // (Products of every so-manieth term might leave the type where that of all does not.)
  part.along = !std::is_same_v<Op, times> && part.kept + 1 == l.groups && part.parts > 1 &&
               part.l.stride[1][part.kept] == 1 &&
               (part.kept == 0 || part.l.stride[1][part.kept - 1] != 1);
  if (part.parts == 1) return each_for_itself<Space>(part.size, part);
  const auto room = dimesh::detail::storage::acquire(
      static_cast<std::size_t>(part.parts * part.size) * sizeof(T));
  part.results = static_cast<T*>(room.data());
  each_for_itself<Space>(part.size * part.parts, part);
  loops<2> rest;  // the parts of an element are the terms of the next reduction
  rest.groups = part.kept + 1;
  index_t step = 1;
  for (int g = part.kept - 1; g >= 0; --g) {
    rest.extent[g] = part.l.extent[g];
    rest.stride[0][g] = part.l.stride[0][g];
    rest.stride[1][g] = step;
    step *= part.l.extent[g];
  }
  rest.extent[part.kept] = part.parts;
  rest.stride[0][part.kept] = 0;
  rest.stride[1][part.kept] = part.size;
  reduce_parts<Space, Op>(rest, itself{}, y, static_cast<const T*>(part.results));
}

}  // namespace dimesh::local::detail
