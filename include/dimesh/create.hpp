// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where do tensors come from? Each maker is given a grid and the extents that the type leaves open,
// in any order, and fills what it makes as fill.hpp does. All local.
//
//   zeros<tensor<float, L, pixel, hidden>>(g)         uniform<X>(g, random_key{1}, -1, 1)
//   generate<X>(g, f, length{7})                      -> element (i, j) is f(i, j)
//   make<network<L>>(g)                               -> a struct of tensors, not yet filled
//   make<network<shaped<L>>>(mesh_sizes<pod>{})       -> the same without data
//   make<model<L, K>>(grids(g, h))                    -> tensors on two meshes
//   make<network<L>>(g, {{"layers", 3}})              -> its vector `layers` has 3 elements
#pragma once

#include <initializer_list>
#include <string_view>

#include "dimesh/core/drawn_fault.hpp"
#include "dimesh/fill.hpp"
#include "dimesh/interop/from_array.hpp"
#include "dimesh/reflect/grids.hpp"
#include "dimesh/reflect/made_at_once.hpp"
#include "dimesh/reflect/walk.hpp"
#include "dimesh/shaped.hpp"

namespace dimesh {

namespace detail {
struct clear_each {
  template <class X> constexpr void operator()(const auto&, X& x) const {
    if constexpr (!is_shaped<X>)
      if (!core_of(x).is_shape) dimesh::clear(x);
  }
};

/// A tensor, a grid of its mesh, and then as many numbers and keys as `Count` says, and extents.
template <int Count, class X, class... A> inline constexpr bool fills = false;
template <class X, class M, class... E>
inline constexpr bool fills<0, X, grid<M>, E...> = (Extents<E> && ...);
/// (What elements are is asked later.)
template <class N, class T>
inline constexpr bool draws_from = std::is_arithmetic_v<N> || std::is_convertible_v<N, T>;
template <class X, class M, class Lo, class Hi, class... E>
inline constexpr bool fills<2, X, grid<M>, random_key, Lo, Hi, E...> =
    draws_from<Lo, computed<value_of<X>>> && draws_from<Hi, computed<value_of<X>>> &&
    (Extents<E> && ...);
/// A number with a fraction, of which a tensor of a struct would keep none.
template <class T, class Leaves> struct cut_in_fault;
template <class T, class... X>
struct cut_in_fault<T, list<X...>> : first_of<cut_fault<T, value_of<X>>...> {};
template <class X, class... A> inline constexpr bool generates = false;
template <class X, class M, class F, class... E>
inline constexpr bool generates<X, grid<M>, F, E...> =
    (std::is_class_v<F> || std::is_pointer_v<F> || std::is_function_v<F>) && (Extents<E> && ...);
template <class X, class... A> constexpr bool may_generate() {
  if constexpr (Operand<X> && generates<X, A...>)
    return std::is_same_v<type_at<0, list<A...>>, grid<typename X::mesh_type>>;
  else
    return false;
}
template <class X, class F, class... From>
X generated(const grid<typename X::mesh_type>& g, const F& f, const From&... extents) {
  X x(g, extents...);
  dimesh::fill_by(x, f);
  return x;
}
template <int Count, class X, class... A> constexpr bool may_fill() {
  if constexpr (!Operand<X>)
    return false;
  else if constexpr (!fills<Count, X, A...>)
    return false;
  else
    return std::is_same_v<type_at<0, list<A...>>, grid<typename X::mesh_type>>;
}
template <class X, class Lo, class Hi, class... From>
X uniform_on(const grid<typename X::mesh_type>& g, random_key key, const Lo& lo, const Hi& hi,
             const From&... extents) {
  using T = computed<value_of<X>>;
  X x(g, extents...);
  dimesh::fill_uniform(x, key, static_cast<T>(lo), static_cast<T>(hi));
  return x;
}
template <class X, class Mean, class Deviation, class... From>
X normal_on(const grid<typename X::mesh_type>& g, random_key key, const Mean& mean,
            const Deviation& stddev, const From&... extents) {
  using T = computed<value_of<X>>;
  X x(g, extents...);
  dimesh::fill_normal(x, key, static_cast<T>(mean), static_cast<T>(stddev));
  return x;
}
template <class S, class Where, class... From>
constexpr S make_on(const Where& where, const From&... extents) {
  if constexpr (sizeof...(From) == 0 && is_made_at_once<S, Where>())
    return made_at_once<S>(where);
  else
    return build_tensors<S>([&](const auto&, auto t) {
      using X = typename decltype(t)::type;
      return X(where_of<typename X::mesh_type>(where), extents...);
    });
}
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
template <class S, class... A> [[nodiscard]] constexpr auto make(const A&... grid_and_extents) {
  if constexpr (std::is_class_v<S>) (void)sizeof(S);  // what is wrong with it is said from here
  if constexpr (!detail::makes<S, A...>) {
    static_assert(
        ok<detail::maker_fault<S, A...>>,
        "make: a tensor or a struct of them stands in the angle brackets, the grid and open "
        "extents in the parentheses: make<X>(grid, length{7})");
    return detail::nothing_made<S>();
  } else {
    static_assert(!detail::has_vectors<S>,
                  "make: the struct has vectors; say how many elements they have, by their names: "
                  "make<S>(g, {{\"layers\", n}})");
    using fault = detail::where_fault_of<S, detail::type_at<0, detail::list<A...>>>;
    static_assert(ok<only<fault, mesh_without_grid>>,
                  "make: a tensor lives on a mesh of which there is no grid; name it, too: "
                  "make<S>(grids(g, h))");
    if constexpr (detail::has_vectors<S> || !ok<fault>)
      return S{};
    else
      return detail::make_on<S>(grid_and_extents...);
  }
}

/// The same of a struct with vectors, which have as many elements as `lengths` says of the members
/// of that name. Throws dimesh::error where it says nothing of one.
template <class S, class Where, Extents... From>
[[nodiscard]] constexpr S make(const Where& where, std::initializer_list<elements> lengths,
                               const From&... extents) {
  return build_tensors<S>(
      [&](const auto&, auto t) {
        using X = typename decltype(t)::type;
        return X(detail::where_of<typename X::mesh_type>(where), extents...);
      },
      [&](std::string_view name) { return detail::length_among("make", lengths, name); });
}
namespace detail {
template <class S, class Where, class T, class... From>
constexpr S constant_on(const Where& where, T value, const From&... extents) {
  S s = dimesh::make<S>(where, extents...);
  for_each_tensor(
      [&](const auto&, auto& x) {
        using X = std::remove_cvref_t<decltype(x)>;
        if constexpr (!is_shaped<X>) dimesh::fill(x, as_element<value_of<X>>("constant", value));
      },
      s);
  return s;
}
template <class S, class... A> inline constexpr bool makes_constant = false;
template <class S, class Where, class T, class... E>
inline constexpr bool makes_constant<S, Where, T, E...> =
    std::is_arithmetic_v<T> && makes<S, Where, E...>;
}  // namespace detail
/// The same, all elements equal to a number: constant<S>(grid, number, extents...). Throws
/// dimesh::error where elements are whole, and the number is none of them.
template <class S, class... A>
[[nodiscard]] constexpr auto constant(const A&... grid_number_and_extents) {
  if constexpr (std::is_class_v<S>) (void)sizeof(S);
  if constexpr (!detail::makes_constant<S, A...>) {
    static_assert(ok<detail::maker_fault<S, A...>>,
                  "constant: a tensor or a struct of them stands in the angle brackets; the grid, "
                  "a number and open extents in the parentheses: constant<X>(grid, 1)");
    return detail::nothing_made<S>();
  } else {
    using number = detail::type_at<1, detail::list<A...>>;
    static_assert(
        ok<typename detail::cut_in_fault<number, typename detail::leaves<S>::type>::type>,
        "constant: the elements are whole numbers, and a fraction would be cut; round it, or let "
        "the tensor have fractions");
    return detail::constant_on<S>(grid_number_and_extents...);
  }
}
/// The same, all elements 0.
template <class S, class... A> [[nodiscard]] constexpr auto zeros(const A&... grid_and_extents) {
  if constexpr (std::is_class_v<S>) (void)sizeof(S);
  if constexpr (!detail::makes<S, A...>) {
    static_assert(ok<detail::maker_fault<S, A...>>,
                  "zeros: a tensor or a struct of them stands in the angle brackets, the grid and "
                  "open extents in the parentheses: zeros<X>(grid, length{7})");
    return detail::nothing_made<S>();
  } else {
    S s = make<S>(grid_and_extents...);
    for_each_tensor(detail::clear_each{}, s);
    return s;
  }
}

/// The same of a struct with vectors, as long as make is told.
template <class S, class Where, Extents... From>
[[nodiscard]] constexpr S zeros(const Where& where, std::initializer_list<elements> lengths,
                                const From&... extents) {
  S s = make<S>(where, lengths, extents...);
  for_each_tensor(detail::clear_each{}, s);
  return s;
}

/// A tensor whose element (i...) is f(i...): global indices, in the order of the dims.
template <class X, class... A> [[nodiscard]] auto generate(const A&... grid_function_and_extents) {
  if constexpr (std::is_class_v<X>) (void)sizeof(X);
  if constexpr (detail::may_generate<X, A...>()) {
    return detail::generated<X>(grid_function_and_extents...);
  } else {
    static_assert(ok<detail::maker_fault<X, A...>>,
                  "generate: a tensor stands in the angle brackets; the grid, a function of an "
                  "element's indices and open extents in the parentheses: generate<X>(grid, f)");
    return detail::nothing_made<X>();
  }
}
/// A tensor of random numbers, uniform in [lo, hi): uniform<X>(grid, key, lo, hi, extents...).
template <class X, class... A> [[nodiscard]] auto uniform(const A&... grid_key_and_ends) {
  if constexpr (std::is_class_v<X>) (void)sizeof(X);
  if constexpr (detail::may_fill<2, X, A...>()) {
    using fault = detail::drawn_fault<value_of<X>, detail::drawn::reals>;
    static_assert(ok<only<fault, fraction_cut>>,
                  "uniform: the numbers drawn are fractions, and the tensor's elements whole; draw "
                  "floats and round them: cast<std::int32_t>(floor(uniform<X>(grid, key, 0, 10)))");
    detail::assert_drawn<only<fault, element_is_complex, elements_differ>>();
    if constexpr (ok<fault>)
      return detail::uniform_on<X>(grid_key_and_ends...);
    else
      return detail::nothing_made<X>();
  } else {
    static_assert(
        ok<detail::filler_fault<X, A...>>,
        "uniform: a tensor stands in the angle brackets; the grid, a key, the two ends and "
        "open extents in the parentheses: uniform<X>(grid, random_key{1}, -1, 1)");
    return detail::nothing_made<X>();
  }
}
/// A tensor of normal random numbers: normal<X>(grid, key, mean, deviation, extents...).
template <class X, class... A> [[nodiscard]] auto normal(const A&... grid_key_and_moments) {
  if constexpr (std::is_class_v<X>) (void)sizeof(X);
  if constexpr (detail::may_fill<2, X, A...>()) {
    using fault = detail::drawn_fault<value_of<X>, detail::drawn::reals>;
    detail::assert_drawn<fault>();
    if constexpr (ok<fault>)
      return detail::normal_on<X>(grid_key_and_moments...);
    else
      return detail::nothing_made<X>();
  } else {
    static_assert(ok<detail::filler_fault<X, A...>>,
                  "normal: a tensor stands in the angle brackets; the grid, a key, mean, deviation "
                  "and open extents in the parentheses: normal<X>(grid, random_key{1}, 0, 0.1)");
    return detail::nothing_made<X>();
  }
}
namespace detail {
/// A copy gets elements of its own; blocks and layout, which only the run may know, stay.
struct renew_elements {
  template <class X> constexpr void operator()(const auto&, X& y) const {
    tensor_core& core = core_of(y);
    if (core.is_shape) {
      core.live = live_bytes(core.count, core.bytes());
    } else {
      require_grid("empty_like", core);
      core.memory = core.fresh_memory();
    }
    core.once = 0;
  }
};
}  // namespace detail
/// A tensor, or a struct of them, of the same types, layouts, extents and grid; its elements not
/// yet filled.
template <class S>
  requires(!stands_for_tensor<S>)
[[nodiscard]] constexpr S empty_like(const S& other) {
  S s(other);
  for_each_tensor(detail::renew_elements{}, s);
  return s;
}
/// The same, all elements 0. (Of recorded tensors: op/zeros_like.hpp.)
template <class S>
  requires(!stands_for_tensor<S> && !detail::is_tracked<S>)
[[nodiscard]] constexpr S zeros_like(const S& other) {
  S s = dimesh::empty_like(other);
  for_each_tensor(detail::clear_each{}, s);
  return s;
}

}  // namespace dimesh
