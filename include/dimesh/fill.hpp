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
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>

#include "dimesh/core/fill_elements.hpp"
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
template <class T> struct draw_uniform {
  random_key key;
  T lo, width;
  KOKKOS_INLINE_FUNCTION T operator()(index_t n) const {
    return lo + width * uniform_at<T>(key, n);
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
  using type = no_fault;  // of layouts that are values: they are made without (facts_now)
};
template <class X>
  requires(!is_probe<X>)
struct fill_fault<X> {
  using S = spec_of<X>;
  static constexpr auto find() {
    constexpr int dim = [] {
      for (int d = 0; d < S::rank; ++d)
        if (S::table.halo[d] > 0) return d;
      return -1;
    }();
    constexpr int axis = S::table.first_partial(false);
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

/// Sets every stored element to 0, under any layout.
template <detail::Fillable X> void clear(X& x) {
  detail::clear_core<value_of<X>>(detail::core_of(x));
}

/// Sets every element to a value.
template <detail::Fillable X, class V>
  requires std::is_convertible_v<V, computed<value_of<X>>>
void fill(X& x, const V& number) {
  using fault = typename detail::fill_fault<X>::type;
  static_assert(ok<detail::cut_fault<V, value_of<X>>>,
                "fill: the elements are whole numbers, and a fraction would be cut; round it, or "
                "let the tensor have fractions");
  const computed<value_of<X>> value = static_cast<computed<value_of<X>>>(number);
  static_assert(
      ok<only<fault, dim_has_halo>>,
      "fill: blocks of this dim carry a halo; fill a tensor without it, then halo_exchange");
  static_assert(
      ok<only<fault, partial_operand>>,
      "fill: the layout is that of a maximum yet to be found; fill a tensor of another layout");
  detail::fill_core(detail::core_of(x), static_cast<value_of<X>>(value));
}

/// Sets element (i...) to f(i...): global indices, in the order of the dims. On a device, f is a
/// named function object with KOKKOS_FUNCTION.
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
}
}  // namespace detail

/// Sets the elements to random numbers: uniform in [lo, hi).
template <detail::Fillable X>
void fill_uniform(X& x, random_key key, computed<value_of<X>> lo, computed<value_of<X>> hi) {
  detail::fill_keyed(x, detail::draw_uniform<computed<value_of<X>>>{key, lo, hi - lo});
}
/// Sets the elements to random numbers: normal with this mean and standard deviation.
template <detail::Fillable X>
void fill_normal(X& x, random_key key, computed<value_of<X>> mean, computed<value_of<X>> stddev) {
  detail::fill_keyed(x, detail::draw_normal<computed<value_of<X>>>{key, mean, stddev});
}

/// Copies this rank's block from an array on the host, row-major in the order of the dims.
/// Throws dimesh::error unless it has as many elements as the block.
template <detail::Fillable X> void fill_block(X& x, std::span<const value_of<X>> from) {
  if (static_cast<index_t>(from.size()) != x.local_size())
    throw error("fill_block: the block has " + std::to_string(x.local_size()) +
                " elements, the array " + std::to_string(from.size()) + " (rank " +
                std::to_string(x.grid().rank()) + ")");
  detail::own_memory(x, false);
  const detail::opened memory;  // of a host: there the mirror is the block
  const auto host = Kokkos::create_mirror_view(x.view());
  if (!from.empty()) std::memcpy(host.data(), from.data(), from.size_bytes());
  Kokkos::deep_copy(x.view(), host);
}

/// Copies this rank's part of an array on the host that holds the whole tensor, row-major in the
/// order of the dims. Throws dimesh::error unless it has as many elements as the tensor.
template <detail::Fillable X> void fill_from(X& x, std::span<const value_of<X>> whole) {
  using fault = typename detail::fill_fault<X>::type;
  static_assert(
      ok<only<fault, dim_has_halo>>,
      "fill_from: blocks of this dim carry a halo; fill a tensor without it, then halo_exchange");
  static_assert(ok<only<fault, partial_operand>>,
                "fill_from: the layout is that of a maximum yet to be found; fill a tensor of "
                "another layout");
  if (static_cast<index_t>(whole.size()) != x.shape().size())
    throw error("fill_from: the tensor has " + std::to_string(x.shape().size()) +
                " elements, the array " + std::to_string(whole.size()));
  if (!detail::holds_value(detail::core_of(x))) return dimesh::clear(x);
  detail::begin_to_fill(detail::core_of(x));
  constexpr int rank = spec_of<X>::rank;
  const detail::opened memory;  // of a host: there the mirror is the block
  const auto host = Kokkos::create_mirror_view(x.view());
  const index_t row = rank == 0 ? 1 : x.block(rank - 1).length;
  const auto extents = x.shape().extents();
  for (index_t n = 0; row > 0 && n < x.local_size() / row; ++n) {
    // where row n of the block begins in the whole: offsets and places of the outer dims
    index_t from = rank == 0 ? 0 : x.block(rank - 1).offset, rest = n, stride = 1;
    for (int d = rank - 2; d >= 0; --d) {
      stride *= extents[static_cast<std::size_t>(d + 1)];
      from += (x.block(d).offset + rest % x.block(d).length) * stride;
      rest /= x.block(d).length;
    }
    std::memcpy(host.data() + n * row, whole.data() + from,
                static_cast<std::size_t>(row) * sizeof(value_of<X>));
  }
  Kokkos::deep_copy(x.view(), host);
}

/// The same, of numbers written out: fill_from(x, {1, 2, 3, 4}).
template <detail::Fillable X> void fill_from(X& x, std::initializer_list<value_of<X>> whole) {
  dimesh::fill_from(x, std::span<const value_of<X>>(whole.begin(), whole.size()));
}

namespace detail {
/// An array, but none of X's elements.
template <class A, class X>
concept OtherArray = requires(const A& a) { std::span(a); } &&
                     !std::is_convertible_v<const A&, std::span<const value_of<X>>>;
template <class X, class A>
using other_elements =
    elements_differ<value_of<X>,
                    typename decltype(std::span(std::declval<const A&>()))::value_type>;
}  // namespace detail

template <detail::Fillable X, detail::OtherArray<X> A> void fill_from(X&, const A&) {
  static_assert(ok<detail::other_elements<X, A>>,
                "fill_from: the array has other elements than the tensor; copy it into a vector of "
                "the tensor's, or let the tensor have the array's");
}
template <detail::Fillable X, detail::OtherArray<X> A> void fill_block(X&, const A&) {
  static_assert(ok<detail::other_elements<X, A>>,
                "fill_block: the array has other elements than the tensor; copy it into a vector "
                "of the tensor's, or let the tensor have the array's");
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
template <class X, class... With>
  requires(!detail::Fillable<std::remove_reference_t<X>>)
void fill_block(X&&, const With&...) {
  detail::refuse_fill<std::remove_reference_t<X>>();
}
template <class X, class... With>
  requires(!detail::Fillable<std::remove_reference_t<X>>)
void fill_from(X&&, const With&...) {
  detail::refuse_fill<std::remove_reference_t<X>>();
}
template <class X>
  requires(!detail::Fillable<std::remove_reference_t<X>>)
void clear(X&&) {
  detail::refuse_fill<std::remove_reference_t<X>>();
}

}  // namespace dimesh
