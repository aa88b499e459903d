// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do the elements of a tensor get values? From a constant, a function of the global index,
// random numbers keyed by it, or an array on the host. All local: every rank fills its own block,
// and a program gets the same tensor under every layout.
//
//   fill(x, 1);  fill_by(x, f);     // element (i, j) is 1, is f(i, j)
//   fill_normal(x, random_key{1}, 0, 0.1);
//
// Under a partial layout the first rank along the partial axes gets the value, the others zeros.
// Copies that share the tensor's memory keep their values: see clone.hpp.
#pragma once

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "dimesh/core/drawn_fault.hpp"
#include "dimesh/core/fill_elements.hpp"
#ifdef DIMESH_CHECKED
#include "dimesh/core/kept_replicas.hpp"
#include "dimesh/detail/key_uses.hpp"
#endif
#include "dimesh/core/number_as_element.hpp"
#include "dimesh/detail/number_given.hpp"
#include "dimesh/memory/memory.hpp"
#include "dimesh/random.hpp"
#include "dimesh/tensor.hpp"

namespace dimesh {

namespace detail {

/// Given as an lvalue that can be written.
template <class X> concept Fillable = Tensor<X> && !is_tracked<X> && !std::is_const_v<X>;

/// Of a random number's element: its place in the row-major order of the whole tensor.
template <int R, class Draw> struct keyed {
  Draw draw;
  index_t extent[R + 1];  // global

  template <class... I> KOKKOS_INLINE_FUNCTION auto operator()(I... i) const {
    const index_t at[] = {i..., 0};
    index_t n = 0;
    for (int d = 0; d < R; ++d) n = n * extent[d] + at[d];
    return draw(n);
  }
};
/// Ends of numbers that are rounded to elements afterwards.
template <class T> struct number_range {
  T least = -std::numeric_limits<T>::infinity(), most = std::numeric_limits<T>::infinity();
};
/// The element next to one, above or below it.
template <class E> computed<E> next_element(E e, bool above) {
  using T = computed<E>;
  const T at = static_cast<T>(e);
  if constexpr (std::is_floating_point_v<E>) {
    return std::nextafter(at, above ? number_range<T>().most : number_range<T>().least);
  } else {  // two bytes: a sign and a size
    if (at == 0) return static_cast<T>(E::from_bits(above ? 0x0001 : 0x8001));
    const int step = (at > 0) == above ? 1 : -1;
    return static_cast<T>(E::from_bits(static_cast<std::uint16_t>(e.bits() + step)));
  }
}
/// The first and the last element in [lo, hi], or in [lo, hi): what lies between them stays there
/// when it is rounded. No ends where there is no element, or where elements are not ordered.
template <class E, class T> number_range<T> elements_within(T lo, T hi, bool closed) {
  if constexpr (!std::is_floating_point_v<computed<E>>) {
    return {};
  } else {
    number_range<T> r{static_cast<T>(static_cast<E>(lo)), static_cast<T>(static_cast<E>(hi))};
    if (r.least < lo) r.least = static_cast<T>(next_element(static_cast<E>(lo), true));
    if (r.most > hi || (!closed && r.most == hi))
      r.most = static_cast<T>(next_element(static_cast<E>(hi), false));
    return r.least <= r.most ? r : number_range<T>{};
  }
}

/// In [lo, hi), the end of which rounding would reach.
template <class T> struct draw_uniform {
  random_key key;
  T lo, width;
  number_range<T> range;
  KOKKOS_INLINE_FUNCTION T operator()(index_t n) const {
    const T v = lo + width * uniform_at<T>(key, n);
    return v < range.least ? range.least : v > range.most ? range.most : v;
  }
};
template <class T> struct draw_normal {
  random_key key;
  T mean, stddev;
  KOKKOS_INLINE_FUNCTION T operator()(index_t n) const {
    return mean + stddev * normal_at<T>(key, n);
  }
};

/// What keeps a tensor from being filled: a halo, or a maximum yet to be found.
template <class X> struct fill_fault {
  using type = no_fault;  // of layouts that are values the run asks (holds_value)
};
template <class X>
  requires(!is_probe<X>)
struct fill_fault<X> {
  using S = spec_of<X>;
  static constexpr auto find() {
    constexpr int dim = S::table.first_haloed(), axis = S::table.first_partial(false);
    if constexpr (dim >= 0)
      return tag<dim_has_halo<type_at<dim, typename S::dims>>>{};
    else if constexpr (axis >= 0)
      return tag<partial_operand<type_at<axis, typename S::mesh::axes>>>{};
    else
      return tag<no_fault>{};
  }
  using type = typename decltype(find())::type;
};

}  // namespace detail

/// Sets every stored element to 0, under any layout. Throws dimesh::error, as all that fills does,
/// where the tensor was moved from or never made, or costs are being counted.
template <detail::Fillable X> void clear(X& x) {
  detail::clear_core<value_of<X>>(detail::core_of(x));
}

/// Sets every element to a value. Throws dimesh::error where both are whole, and it is no element.
template <detail::Fillable X, class V>
  requires std::is_convertible_v<V, computed<value_of<X>>>
void fill(X& x, const V& number) {
  using fault = typename detail::fill_fault<X>::type;
  static_assert(ok<detail::cut_fault<V, value_of<X>>>,
                "fill: the elements are whole numbers, and a fraction would be cut; round it, or "
                "let the tensor have fractions");
  static_assert(
      ok<only<fault, dim_has_halo>>,
      "fill: blocks of this dim carry a halo; fill a tensor without it, then halo_exchange");
  static_assert(
      ok<only<fault, partial_operand>>,
      "fill: the layout is that of a maximum yet to be found; fill a tensor of another layout");
  using T = value_of<X>;
  if constexpr (detail::both_whole<T, V>)
    detail::fill_core(detail::core_of(x), detail::as_element<T>("fill", number));
  else
    detail::fill_core(detail::core_of(x), static_cast<T>(static_cast<computed<T>>(number)));
}

/// Where a number is wanted there is something else.
template <detail::Fillable X, class V>
  requires(!std::is_convertible_v<V, computed<value_of<X>>>)
void fill(X&, const V&) {
  static_assert(ok<std::conditional_t<is_poison<V>, no_fault, wrong_arguments<V>>>,
                "fill: one number fills all elements; of a function of their indices write "
                "fill_by(x, f), of an array fill_from(x, a), of another tensor x = y");
}

/// Sets element (i...) to f(i...): global indices, in the order of the dims. On a device, a named
/// function object with KOKKOS_FUNCTION and a KOKKOS_LAMBDA are called there; plain functions and
/// other lambdas (of which nvcc alone tells) by the host, whose elements are then copied.
template <class F, detail::Fillable X> void fill_by(X& x, const F& f) {
  using fault = typename detail::fill_fault<X>::type;
  static_assert(
      ok<only<fault, dim_has_halo>>,
      "fill_by: blocks of this dim carry a halo; fill a tensor without it, then halo_exchange");
  static_assert(
      ok<only<fault, partial_operand>>,
      "fill_by: the layout is that of a maximum yet to be found; fill a tensor of another layout");
  using called = decltype(detail::answer_of_indices<F>(typename spec_of<X>::dims{}));
  using given =
      typename detail::indexed_fault<called, value_of<X>, F, typename spec_of<X>::dims>::type;
  static_assert(ok<only<given, function_not_callable_with>>,
                "fill_by: the function cannot be called with the indices of an element; give it an "
                "index_t for each dim, in their order");
  static_assert(ok<only<given, function_not_const, parameter_not_const>>,
                "fill_by: the function changes itself or its arguments; take indices by value, and "
                "let operator() be const");
  static_assert(ok<only<given, function_gives_no_number>>,
                "fill_by: the function returns nothing that an element can be made of; return the "
                "element");
  static_assert(ok<only<given, fraction_cut>>,
                "fill_by: the elements are whole numbers, and the function's fractions would be "
                "cut; round them, or let the tensor have fractions");
  if constexpr (ok<given>) {
    detail::fill_elements<spec_of<X>::rank, value_of<X>>(detail::core_of(x), f);
  }
}

namespace detail {
template <class X, class Draw> void fill_keyed(X& x, const Draw& draw) {
  constexpr int rank = spec_of<X>::rank;
  keyed<rank, Draw> f{draw, {}};
  for (int d = 0; d < rank; ++d) f.extent[d] = core_of(x).extent(d);
  dimesh::fill_by(x, f);
#ifdef DIMESH_CHECKED
  const random_words bits = draw.key.at(0);
  key_uses::here().add(std::uint64_t{bits.word[0]} | std::uint64_t{bits.word[1]} << 32,
                       core_of(x).facts, core_of(x).memory.data(), dims_words(core_of(x)));
#endif
}
}  // namespace detail

/// Sets the elements to random numbers: uniform in [lo, hi), rounded to elements in there; lo where
/// both are one. Throws dimesh::error unless lo <= hi, and both are finite.
template <detail::Fillable X>
void fill_uniform(X& x, random_key key, computed<value_of<X>> lo, computed<value_of<X>> hi) {
  using fault = detail::drawn_fault<value_of<X>, detail::drawn::reals>;
  detail::assert_drawn<fault>();
  if constexpr (ok<fault>) {
    const auto first = static_cast<double>(lo), end = static_cast<double>(hi);
    detail::require_finite("fill_uniform", "first end", first);
    detail::require_finite("fill_uniform", "second end", end);
    detail::require_ordered("fill_uniform", "ends", first, end);
    detail::fill_keyed(x,
                       detail::draw_uniform<computed<value_of<X>>>{
                           key, lo, hi - lo, detail::elements_within<value_of<X>>(lo, hi, false)});
  }
}
/// Sets the elements to random numbers: normal with this mean and standard deviation. Throws
/// dimesh::error where the deviation is negative, or one of them not finite.
template <detail::Fillable X>
void fill_normal(X& x, random_key key, computed<value_of<X>> mean, computed<value_of<X>> stddev) {
  using fault = detail::drawn_fault<value_of<X>, detail::drawn::reals>;
  detail::assert_drawn<fault>();
  if constexpr (ok<fault>) {
    detail::require_finite("fill_normal", "mean", static_cast<double>(mean));
    detail::require_not_negative("fill_normal", "standard deviation", static_cast<double>(stddev));
    detail::fill_keyed(x, detail::draw_normal<computed<value_of<X>>>{key, mean, stddev});
  }
}

namespace detail {
/// What is said of something that cannot be filled; nothing of poison.
template <class X> constexpr void refuse_fill() {
  static_assert(ok<std::conditional_t<is_tracked<X>, value_is_recorded<X>, no_fault>>,
                "fill: the tensor is recorded, and what is written into it has no gradient; make a "
                "tensor of its own (zeros_like, map), or compute the value");
  static_assert(ok<std::conditional_t<is_tracked<X> || is_poison<X>, no_fault, not_a_tensor<X>>>,
                "fill: a tensor comes first, one that can be written, and then what fills it: "
                "fill(x, 1), fill_by(x, f)");
}
}  // namespace detail

template <class X, class... With>
  requires(!detail::Fillable<std::remove_reference_t<X>>)
void fill(X&&, const With&...) {
  detail::refuse_fill<std::remove_reference_t<X>>();
}
template <class X, class... With>
  requires(!detail::Fillable<std::remove_reference_t<X>>)
void fill_by(X&&, const With&...) {
  detail::refuse_fill<std::remove_reference_t<X>>();
}
template <class X, class... With>
  requires(!detail::Fillable<std::remove_reference_t<X>>)
void fill_uniform(X&&, const With&...) {
  detail::refuse_fill<std::remove_reference_t<X>>();
}
template <class X, class... With>
  requires(!detail::Fillable<std::remove_reference_t<X>>)
void fill_normal(X&&, const With&...) {
  detail::refuse_fill<std::remove_reference_t<X>>();
}
template <class X>
  requires(!detail::Fillable<std::remove_reference_t<X>>)
void clear(X&&) {
  detail::refuse_fill<std::remove_reference_t<X>>();
}

}  // namespace dimesh
