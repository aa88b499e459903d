// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a function of an element's indices fill a block, and may it? By one kernel for each
// function and rank; what the function is asked and gives is known from its type.
//
//   fill_elements(x, f)     -> element (i, j) is f(i, j)
//   indexed_fault<...>      -> function_not_callable_with<long, long>, fraction_cut<double, int>
#pragma once

#include <Kokkos_Core.hpp>
#include <utility>

#include "dimesh/core/user_function.hpp"
#include "dimesh/memory/memory.hpp"
#include "dimesh/tensor.hpp"

namespace dimesh::detail {

/// Element (i...) gets f(i...). out: (length[0], ..., length[R-1]). Flat: one element a call;
/// otherwise one row of the last dim.
template <bool Flat, int R, class T, class F> struct generate_kernel {
  T* out;
  F f;
  index_t length[R + 1];  // of the block; one place more, for R = 0
  index_t offset[R + 1];  // global index of the block's first element

  template <std::size_t... K>
  KOKKOS_INLINE_FUNCTION T value(const index_t* at, std::index_sequence<K...>) const {
    (void)at;
    return static_cast<T>(f(at[K]...));
  }
  KOKKOS_INLINE_FUNCTION void operator()(index_t n) const {
    constexpr int outer = Flat || R == 0 ? R : R - 1;
    index_t at[R + 1] = {}, rest = n;
    for (int d = outer - 1; d >= 0; --d) {
      at[d] = offset[d] + rest % length[d];
      rest /= length[d];
    }
    if constexpr (outer == R) {
      out[n] = value(at, std::make_index_sequence<R>{});
    } else {
      T* row = out + n * length[outer];
      for (index_t j = 0; j < length[outer]; ++j) {
        at[outer] = offset[outer] + j;
        row[j] = value(at, std::make_index_sequence<R>{});
      }
    }
  }
};

/// Element (i...) becomes f(i...), on a rank that holds the value.
template <class F, class X> void fill_elements(X& x, const F& f) {
  own_memory(x, false);
  x.set_once(0);
  using space = Kokkos::DefaultExecutionSpace;
  constexpr int rank = spec_of<X>::rank;
  constexpr bool flat = !Kokkos::SpaceAccessibility<Kokkos::HostSpace, memory_space>::accessible;
  generate_kernel<flat, rank, value_of<X>, F> kernel{x.data(), f, {}, {}};
  index_t calls = 1;
  for (int d = 0; d < rank; ++d) {
    kernel.length[d] = x.block(d).length;
    kernel.offset[d] = x.block(d).offset;
    if (flat || d < rank - 1) calls *= kernel.length[d];
  }
  Kokkos::parallel_for("dimesh::fill_by",
                       Kokkos::RangePolicy<space, Kokkos::IndexType<index_t>>(0, calls), kernel);
  if constexpr (flat) space().fence();
}

template <class> using index_of_dim = const index_t&;
// Without arguments, f() and what stands in for it would be two equal choices.
template <class F>
  requires calls<const F&>
auto answer_of_indices(list<>) -> decltype(std::declval<const F&>()());
template <class F>
  requires(!calls<const F&>)
not_called answer_of_indices(list<>);
/// What f gives for an element's indices.
template <class F, class... D>
  requires(sizeof...(D) > 0)
auto answer_of_indices(list<D...>) -> decltype(ask<F>()(std::declval<index_of_dim<D>>()...));
template <class T, class R>
using cut_fault = std::conditional_t<std::is_floating_point_v<T> && std::is_integral_v<R>,
                                     fraction_cut<T, R>, no_fault>;

/// What is wrong with elements T from a function that gives R.
template <class R, class T, class F, class Dims> struct indexed_fault {
  using type = std::conditional_t<std::is_constructible_v<T, R>, cut_fault<std::decay_t<R>, T>,
                                  function_gives_no_number<R>>;
};
template <class T, class F, class... D>
struct indexed_fault<not_called, T, F, list<D...>> : no_call<F, index_of_dim<D>...> {};

}  // namespace dimesh::detail
