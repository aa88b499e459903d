// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a tensor get the elements of an array on the host? Of one that holds all of it, on every
// rank, or of one that holds each rank's block; row-major in the order of the dims. All local.
//
//   from_array<X>(g, std::span(image), pixel{784})    from_array<X>(g, {1, 2, 3, 4})
//   from_blocks<X>(g, block)                          fill_from(x, image)    fill_block(x, block)
#pragma once

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dimesh/fill.hpp"

namespace dimesh {

namespace detail {
template <class A, class X>
concept ArrayOf = std::is_convertible_v<const A&, std::span<const value_of<X>>>;
/// A vector of bool, as to_rank gives of a mask: its elements are bits, and no array.
template <class A, class X>
concept BitsOf = std::is_same_v<value_of<X>, bool> && std::is_base_of_v<std::vector<bool>, A>;
/// The array of them.
struct unpacked_bits {
  std::unique_ptr<bool[]> all;
  std::size_t count;

  explicit unpacked_bits(const std::vector<bool>& bits)
      : all(std::make_unique<bool[]>(bits.size())), count(bits.size()) {
    std::copy(bits.begin(), bits.end(), all.get());
  }
  operator std::span<const bool>() const { return {all.get(), count}; }  // NOLINT
};

/// What an array has for elements, or else what was given.
template <class A> struct elements_of_array {
  using type = A;
};
template <class A>
  requires requires(const A& a) { *a.data(); }
struct elements_of_array<A> {
  using type = std::remove_cvref_t<decltype(*std::declval<const A&>().data())>;
};
/// Why A is no array of a tensor's elements.
template <class A, class X> struct array_fault {
  using E = typename elements_of_array<A>::type;
  using type = std::conditional_t<std::is_same_v<E, A> || std::is_same_v<E, value_of<X>>,
                                  wrong_arguments<A>, elements_differ<value_of<X>, E>>;
};
template <class X, class A> constexpr void assert_array() {
  using fault = typename array_fault<A, X>::type;
  static_assert(ok<only<fault, elements_differ>>,
                "from an array: the tensor's elements are of another type than the array's; "
                "convert them: std::vector<float>(a.begin(), a.end())");
  static_assert(ok<only<fault, wrong_arguments>>,
                "from an array: a grid or a tensor stands first, then an array on the host with "
                "the tensor's type of elements (vector, array, span): from_array<X>(grid, a)");
}
}  // namespace detail

/// Copies this rank's block from an array on the host, row-major in the order of the dims.
/// Throws dimesh::error unless it has as many elements as the block.
template <detail::Fillable X> void fill_block(X& x, std::span<const value_of<X>> from) {
  if (static_cast<index_t>(from.size()) != x.local_size())
    throw error("fill_block: the block has " + std::to_string(x.local_size()) +
                " elements, the array " + std::to_string(from.size()) + " (rank " +
                std::to_string(x.grid().rank()) + ")");
  detail::begin_to_fill(detail::core_of(x));
  const detail::opened memory;  // of a host: there the mirror is the block
  detail::is_settled(detail::host_reaches<detail::memory_of<typename X::mesh_type>>);
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
  detail::is_settled(detail::host_reaches<detail::memory_of<typename X::mesh_type>>);
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
/// The same, of numbers written out: fill_from(x, {1, 2, 3, 4}).
template <detail::Fillable X>
  requires(!std::is_same_v<value_of<X>, bool>)  // {pointer, count} would be two of them
void fill_from(X& x, std::initializer_list<value_of<X>> whole) {
  dimesh::fill_from(x, std::span<const value_of<X>>(whole.begin(), whole.size()));
}
template <detail::Fillable X, class A>
  requires(!detail::ArrayOf<A, X>)
void fill_block(X& x, const A& a) {
  if constexpr (detail::BitsOf<A, X>)
    dimesh::fill_block(x, std::span<const bool>(detail::unpacked_bits(a)));
  else
    detail::assert_array<X, A>();
}
template <detail::Fillable X, class A>
  requires(!detail::ArrayOf<A, X>)
void fill_from(X& x, const A& a) {
  if constexpr (detail::BitsOf<A, X>)
    dimesh::fill_from(x, std::span<const bool>(detail::unpacked_bits(a)));
  else
    detail::assert_array<X, A>();
}

/// A tensor from an array on the host that holds all of it, on every rank; see fill_from.
template <Operand X, Extents... From>
[[nodiscard]] X from_array(const grid<typename X::mesh_type>& g, std::span<const value_of<X>> whole,
                           const From&... extents) {
  X x(g, extents...);
  dimesh::fill_from(x, whole);
  return x;
}
template <Operand X, Extents... From>
  requires(!std::is_same_v<value_of<X>, bool>)
[[nodiscard]] X from_array(const grid<typename X::mesh_type>& g,
                           std::initializer_list<value_of<X>> whole, const From&... extents) {
  return dimesh::from_array<X>(g, std::span<const value_of<X>>(whole.begin(), whole.size()),
                               extents...);
}
template <Operand X, class A, Extents... From>
  requires(!detail::ArrayOf<A, X>)
[[nodiscard]] X from_array(const grid<typename X::mesh_type>& g, const A& a,
                           const From&... extents) {
  if constexpr (detail::BitsOf<A, X>) {
    return dimesh::from_array<X>(g, std::span<const bool>(detail::unpacked_bits(a)), extents...);
  } else {
    detail::assert_array<X, A>();
    return X{};
  }
}
/// A tensor from arrays on the host that hold each rank's block; see fill_block.
template <Operand X, Extents... From>
[[nodiscard]] X from_blocks(const grid<typename X::mesh_type>& g,
                            std::span<const value_of<X>> block, const From&... extents) {
  X x(g, extents...);
  dimesh::fill_block(x, block);
  return x;
}
template <Operand X, class A, Extents... From>
  requires(!detail::ArrayOf<A, X>)
[[nodiscard]] X from_blocks(const grid<typename X::mesh_type>& g, const A& a,
                            const From&... extents) {
  if constexpr (detail::BitsOf<A, X>) {
    return dimesh::from_blocks<X>(g, std::span<const bool>(detail::unpacked_bits(a)), extents...);
  } else {
    detail::assert_array<X, A>();
    return X{};
  }
}

}  // namespace dimesh
