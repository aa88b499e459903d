// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which elements does a kernel visit, and how does each array move along? A nest gives the
// extents, outermost first; an operand gives an array and its step in each group of the nest.
//
//   h (256, 1024) + b (1024):   nest<2>{{256, 1024}}
//     operand<const float, step::strided, step::unit>{h, {1024, 1}}
//     operand<const float, step::zero, step::unit>{b, {0, 1}}
//
// A group is a run of adjacent dims along which every operand moves alike, merged into one.
#pragma once

#include "dimesh/detail/config.hpp"  // index_t, dynamic
#include "dimesh/element/bfloat16.hpp"

#include <Kokkos_Macros.hpp>

#include <array>
#include <type_traits>

namespace dimesh::local {

/// How an operand moves along a group: not at all, by one element, by a run-time stride.
enum class step : unsigned char { zero, unit, strided };

/// Extents up to this one are worth a loop of their own.
constexpr index_t inner_extent(index_t n) { return 0 <= n && n <= 64 ? n : dynamic; }

/// A row-major iteration space of G groups. Inner is the last extent where it is static and short:
/// nest<2, 10>{{256, 10}}. nest<0>{} is a single element.
template <int G, index_t Inner = dynamic> struct nest {
  std::array<index_t, G> extent;

  static constexpr int groups = G;

  /// The length of a row: an integral_constant where it is static.
  KOKKOS_FORCEINLINE_FUNCTION constexpr auto row() const {
    if constexpr (G == 0)
      return std::integral_constant<index_t, 1>{};
    else if constexpr (Inner != dynamic)
      return std::integral_constant<index_t, Inner>{};
    else
      return extent[G - 1];
  }
  constexpr index_t size() const {
    index_t n = 1;
    for (std::size_t g = 0; g < G; ++g) n *= extent[g];
    return n;
  }
};

/// An array that moves by step S[g], or stride[g] elements, along group g. T is const for inputs.
/// A transposed array is <unit, strided>: naming the unit step is what gets its loops tiled.
template <class T, step... S> struct operand {
  T* data;
  std::array<index_t, sizeof...(S)> stride;

  using element = T;
  using value_type = std::remove_const_t<T>;
  static constexpr int groups = sizeof...(S);

  static constexpr step kind(int g) {
    constexpr step all[] = {S..., step::unit};  // the last one stands in where there is no group
    return all[g < 0 ? groups : g];
  }
  static constexpr step inner = kind(groups - 1);

  static constexpr bool lacks(int g) { return kind(g) == step::zero; }
  static constexpr int holds() { return ((S != step::zero ? 1 : 0) + ... + 0); }
  static constexpr bool lacks_any() { return ((S == step::zero) || ... || false); }
  static constexpr bool lacks_outer() { return lacks_any_before(groups - 1); }

  /// The stride along group g, a constant where its kind says so.
  template <int D> KOKKOS_FORCEINLINE_FUNCTION constexpr index_t along() const {
    if constexpr (D < 0 || kind(D) == step::zero)
      return 0;
    else if constexpr (kind(D) == step::unit)
      return 1;
    else
      return stride[D];
  }
  /// The same operand, i steps further along group D.
  template <int D> KOKKOS_FORCEINLINE_FUNCTION constexpr operand shifted(index_t i) const {
    operand moved = *this;
    moved.data += i * along<D>();
    return moved;
  }

 private:
  static constexpr bool lacks_any_before(int end) {
    for (int g = 0; g < end; ++g) {
      if (lacks(g)) return true;
    }
    return false;
  }
};

/// One row of an operand, indexed by position. An input that does not move is read once.
template <class T, step S> struct lane {
  T* data;
  index_t stride;
  KOKKOS_FORCEINLINE_FUNCTION T& operator[](index_t i) const {
    if constexpr (S == step::unit)
      return data[i];
    else if constexpr (S == step::zero)
      return data[0];
    else
      return data[i * stride];
  }
};
template <class T> struct lane<const T, step::zero> {
  T value;
  KOKKOS_FORCEINLINE_FUNCTION const T& operator[](index_t) const { return value; }
};

/// An input of a type that only stores: read as what is computed with.
template <class T, step S> struct widening_lane {
  const T* data;
  index_t stride;
  KOKKOS_FORCEINLINE_FUNCTION computed<T> operator[](index_t i) const {
    return data[S == step::unit ? i : i * stride];
  }
};

template <class T, step... S> KOKKOS_FORCEINLINE_FUNCTION auto lane_of(const operand<T, S...>& x) {
  using Operand = operand<T, S...>;
  using Value = typename Operand::value_type;
  if constexpr (is_storage_only<Value> && Operand::inner == step::zero && std::is_const_v<T>) {
    return lane<const computed<Value>, step::zero>{*x.data};
  } else if constexpr (is_storage_only<Value> && std::is_const_v<T>) {
    return widening_lane<Value, Operand::inner>{x.data, x.template along<Operand::groups - 1>()};
  } else if constexpr (Operand::inner == step::zero && std::is_const_v<T>) {
    return lane<T, step::zero>{*x.data};
  } else {
    return lane<T, Operand::inner>{x.data, x.template along<Operand::groups - 1>()};
  }
}

template <class X> inline constexpr bool is_operand = false;
template <class T, step... S> inline constexpr bool is_operand<operand<T, S...>> = true;

template <class X> concept Operand = is_operand<std::remove_cvref_t<X>>;

}  // namespace dimesh::local
