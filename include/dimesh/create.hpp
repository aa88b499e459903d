// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where do tensors come from? Each maker is given a grid and the extents that the type leaves open,
// in any order, and fills what it makes as fill.hpp does. All local.
//
//   zeros<tensor<float, L, pixel, hidden>>(g)         uniform<X>(g, random_key{1}, -1, 1)
//   generate<X>(g, f, length{7})                      -> element (i, j) is f(i, j)
//   make<network<L>>(g)                               -> a struct of tensors, not yet filled
//   make<network<shaped<L>>>(mesh_sizes<pod>{})       -> the same without data
//   make<network<L>>(g, {{"layers", 3}})              -> its vector `layers` has 3 elements
#pragma once

#include <initializer_list>
#include <string_view>

#include "dimesh/fill.hpp"
#include "dimesh/reflect/walk.hpp"
#include "dimesh/shaped.hpp"

namespace dimesh {

namespace detail {
struct clear_each {
  template <class X> constexpr void operator()(const auto&, X& x) const {
    if constexpr (!is_shaped<X>) dimesh::clear(x);
  }
};
}  // namespace detail

/// How many elements a vector of a struct has, by the member's name.
struct elements {
  std::string_view name;
  index_t count;
};

namespace detail {
/// The length of the vector of a name. Throws dimesh::error, in the name of `call`, where nothing
/// is said of it.
inline std::size_t length_among(std::string_view call, std::initializer_list<elements> all,
                                std::string_view name) {
  for (const elements& e : all)
    if (e.name == name && e.count >= 0) return static_cast<std::size_t>(e.count);
  (words() << call << ": how many elements has the vector '" << name << "'? pass {{\"" << name
           << "\", n}} behind the grid, n >= 0")
      .raise();
}
}  // namespace detail

/// A tensor, or a struct of tensors, on a grid (shapes: on mesh_sizes), not yet filled. Extents
/// that the types leave open come from `extents`: dims with a value and shapes, in any order.
template <class S, class Where, Extents... From>
constexpr S make(const Where& where, const From&... extents) {
  static_assert(!detail::has_vectors<S>,
                "make: the struct has vectors; say how many elements they have, by their names: "
                "make<S>(g, {{\"layers\", n}})");
  if constexpr (detail::has_vectors<S>)
    return S{};
  else
    return build_tensors<S>(
        [&](const auto&, auto t) { return typename decltype(t)::type(where, extents...); });
}

/// The same of a struct with vectors, which have as many elements as `lengths` says of the members
/// of that name. Throws dimesh::error where it says nothing of one.
template <class S, class Where, Extents... From>
constexpr S make(const Where& where, std::initializer_list<elements> lengths,
                 const From&... extents) {
  return build_tensors<S>(
      [&](const auto&, auto t) { return typename decltype(t)::type(where, extents...); },
      [&](std::string_view name) { return detail::length_among("make", lengths, name); });
}

/// The same, all elements equal to `value`.
template <class S, class Where, class T, Extents... From>
  requires std::is_arithmetic_v<T>
constexpr S constant(const Where& where, T value, const From&... extents) {
  S s = make<S>(where, extents...);
  for_each_tensor(
      [&](const auto&, auto& x) {
        using X = std::remove_cvref_t<decltype(x)>;
        if constexpr (!detail::is_shaped<X>) dimesh::fill(x, static_cast<value_of<X>>(value));
      },
      s);
  return s;
}
/// The same, all elements 0.
template <class S, class Where, Extents... From>
constexpr S zeros(const Where& where, const From&... extents) {
  S s = make<S>(where, extents...);
  for_each_tensor(detail::clear_each{}, s);
  return s;
}

/// The same of a struct with vectors, as long as make is told.
template <class S, class Where, Extents... From>
constexpr S zeros(const Where& where, std::initializer_list<elements> lengths,
                  const From&... extents) {
  S s = make<S>(where, lengths, extents...);
  for_each_tensor(detail::clear_each{}, s);
  return s;
}

/// A tensor whose element (i...) is f(i...): global indices, in the order of the dims.
template <Operand X, class F, Extents... From>
X generate(const grid<typename X::mesh_type>& g, const F& f, const From&... extents) {
  X x(g, extents...);
  dimesh::fill_by(x, f);
  return x;
}
/// A tensor of random numbers, uniform in [lo, hi).
template <Operand X, Extents... From>
X uniform(const grid<typename X::mesh_type>& g, random_key key, computed<value_of<X>> lo,
          computed<value_of<X>> hi, const From&... extents) {
  X x(g, extents...);
  dimesh::fill_uniform(x, key, lo, hi);
  return x;
}
/// A tensor of normal random numbers.
template <Operand X, Extents... From>
X normal(const grid<typename X::mesh_type>& g, random_key key, computed<value_of<X>> mean,
         computed<value_of<X>> stddev, const From&... extents) {
  X x(g, extents...);
  dimesh::fill_normal(x, key, mean, stddev);
  return x;
}
/// A tensor from an array on the host that holds all of it, on every rank; see fill_from.
template <Operand X, Extents... From>
X from_array(const grid<typename X::mesh_type>& g, std::span<const value_of<X>> whole,
             const From&... extents) {
  X x(g, extents...);
  dimesh::fill_from(x, whole);
  return x;
}
/// A tensor from arrays on the host that hold each rank's block; see fill_block.
template <Operand X, Extents... From>
X from_blocks(const grid<typename X::mesh_type>& g, std::span<const value_of<X>> block,
              const From&... extents) {
  X x(g, extents...);
  dimesh::fill_block(x, block);
  return x;
}

/// A tensor, or a struct of them, of the same types, extents and grid; its elements not yet filled.
template <class S> constexpr S empty_like(const S& other) {
  S s(other);
  for_each_tensor(
      [](const auto&, auto& y, const auto& x) {
        using X = std::remove_cvref_t<decltype(x)>;
        if constexpr (detail::is_shaped<X>)
          y = X(x.sizes(), x.shape(), x.tally());
        else
          y = X(x.grid(), x.shape());
      },
      s, other);
  return s;
}
/// The same, all elements 0.
template <class S> constexpr S zeros_like(const S& other) {
  S s = dimesh::empty_like(other);
  for_each_tensor(detail::clear_each{}, s);
  return s;
}

}  // namespace dimesh
