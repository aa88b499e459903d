// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does an inner loop read and write? One row of each array, by position: elements side by
// side, or one that stands for all. Which it is, a kernel knows while compiling.
//
//   lane_of(row<const float, step::unit>{h})[i]   -> h[i]
//   lane_of(row<const float, step::zero>{b})[i]   -> *b, read once
#pragma once

#include "dimesh/detail/config.hpp"  // index_t
#include "dimesh/element/bfloat16.hpp"

#include <Kokkos_Macros.hpp>

#include <type_traits>

namespace dimesh::local {

/// How an array moves along a loop: not at all, by one element, by a run-time stride.
enum class step : unsigned char { zero, unit, strided };

/// Where a row begins, and how it goes on. T is const for inputs.
template <class T, step S> struct row {
  static_assert(S != step::strided, "dimesh: elements of a row stand side by side");
  T* data;

  using element = T;
  using value_type = std::remove_const_t<T>;
  static constexpr step kind = S;

  /// The same row from its i-th element on.
  KOKKOS_FORCEINLINE_FUNCTION constexpr row from(index_t i) const {
    return {S == step::unit ? data + i : data};
  }
};
template <class T> using row_of = row<T, step::unit>;
template <class T> using value_of_row = row<T, step::zero>;

/// One row, indexed by position. An input that does not move is read once.
template <class T, step S> struct lane {
  T* data;
  KOKKOS_FORCEINLINE_FUNCTION T& operator[](index_t i) const {
    return data[S == step::unit ? i : 0];
  }
};
template <class T> struct lane<const T, step::zero> {
  T value;
  KOKKOS_FORCEINLINE_FUNCTION const T& operator[](index_t) const { return value; }
};

/// An input of a type that only stores: read as what is computed with.
template <class T> struct widening_lane {
  const T* data;
  KOKKOS_FORCEINLINE_FUNCTION computed<T> operator[](index_t i) const { return data[i]; }
};

template <class T, step S> KOKKOS_FORCEINLINE_FUNCTION auto lane_of(const row<T, S>& x) {
  using Value = std::remove_const_t<T>;
  if constexpr (is_storage_only<Value> && S == step::zero && std::is_const_v<T>)
    return lane<const computed<Value>, step::zero>{*x.data};
  else if constexpr (is_storage_only<Value> && std::is_const_v<T>)
    return widening_lane<Value>{x.data};
  else if constexpr (S == step::zero && std::is_const_v<T>)
    return lane<T, step::zero>{*x.data};
  else
    return lane<T, S>{x.data};
}

}  // namespace dimesh::local
