// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do a program's own kernels reach a tensor's block? As a Kokkos::View with one dimension for
// each dim, row-major in their order; halos are part of it.
//
//   view_of(x)                                     -> View<float**, LayoutRight>: x(i, j) of the
//                                                     block; of a const x View<const float**>
//   copy_to(v, x)                                  // a View of any strides gets the block
//   X x = from_view<X>(g, v, length{7});           // and the block is copied from one
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "dimesh/core/addends.hpp"
#include "dimesh/memory/memory.hpp"
#include "dimesh/tensor.hpp"

namespace dimesh {

namespace detail {

template <class T, int R> struct stars {
  using type = typename stars<T, R - 1>::type*;
};
template <class T> struct stars<T, 0> {
  using type = T;
};
template <class T, int R, class Memory>
using block_view_type = Kokkos::View<typename stars<T, R>::type, Kokkos::LayoutRight, Memory,
                                     Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

inline constexpr int max_view_rank = 8;  // of Kokkos
template <class T, int R, class Memory = memory_space>
auto block_view_at(T* data, const tensor_core& x) {
  constexpr bool fits = R <= max_view_rank;
  static_assert(fits, "view_of: Kokkos' Views have up to 8 dimensions; use data() and stride(d)");
  if constexpr (!fits) {
    return block_view_type<T, 0, Memory>(data);
  } else {
    constexpr auto none = KOKKOS_IMPL_CTOR_DEFAULT_ARG;
    std::size_t n[max_view_rank] = {none, none, none, none, none, none, none, none};
    for (int d = 0; d < R; ++d) n[d] = static_cast<std::size_t>(x.local(d));
    return block_view_type<T, R, Memory>(data, n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7]);
  }
}

/// Throws dimesh::error, in the name of `call`, where a View is not as long as a block.
inline void require_extent(std::string_view call, const tensor_core& x, int d, index_t n) {
  if (n == x.local(d)) return;
  (words() << call << ": the View has " << n << " elements along dim '" << x.facts->dim[d]->name
           << "', this rank's block of the tensor " << x.local(d))
      .raise();
}
template <class X, class V> void require_extents(std::string_view call, const X& x, const V& v) {
  for (int d = 0; d < X::rank; ++d)
    require_extent(call, core_of(x), d, static_cast<index_t>(v.extent(static_cast<unsigned>(d))));
}

/// The order of the dims in which elements with these strides are contiguous and row-major, as
/// names; empty if there is none.
inline std::string row_major_order(const tensor_core& x, const index_t* stride) {
  int order[max_dims] = {};
  const int rank = x.rank();
  for (int d = 0; d < rank; ++d) order[d] = d;
  // The stride of a dim of one element says nothing.
  const auto apart_along = [&](int d) { return x.local(d) > 1 ? stride[d] : x.stride(d); };
  std::sort(order, order + rank, [&](int a, int b) {
    return std::pair(-apart_along(a), a) < std::pair(-apart_along(b), b);
  });
  std::string names;
  index_t apart = 1;
  for (int i = rank; i-- > 0;) {
    const int d = order[i];
    if (x.local(d) > 1 && stride[d] != apart) return {};
    apart *= x.local(d);
    names = "'" + std::string(x.facts->dim[d]->name) + (names.empty() ? "'" : "', ") + names;
  }
  return names;
}
/// Throws dimesh::error, in the name of `call`, where elements lie otherwise than in a block.
inline void require_strides(std::string_view call, const tensor_core& x, const index_t* stride) {
  for (int d = 0; d < x.rank(); ++d) {
    if (x.local(d) <= 1 || x.elements() == 0 || stride[d] == x.stride(d)) continue;
    const std::string order = row_major_order(x, stride);
    words w;
    w << call << ": the View's elements along dim '" << x.facts->dim[d]->name << "' lie "
      << stride[d] << " apart, those of a tensor " << x.stride(d)
      << ", row-major in the order of its dims; ";
    if (order.empty())
      w << "order the dims so, or copy it: from_view";
    else
      w << "they lie so with the dims in the order " << order
        << ": give them to a tensor of dims in that order, or copy it: from_view";
    w.raise();
  }
}

template <class V> inline constexpr bool is_view = Kokkos::is_view<V>::value;

/// What is wrong with a View V for blocks of tensors X.
template <class X, class V> struct view_fault {
  using element = typename V::non_const_value_type;
  using type =
      std::conditional_t<!std::is_same_v<element, value_of<X>>,
                         elements_differ<element, value_of<X>>,
                         std::conditional_t<static_cast<int>(V::rank) != X::rank,
                                            ranks_differ<V, typename spec_of<X>::dims>, no_fault>>;
};
template <class X, class V> constexpr bool assert_fits() {
  using fault = typename view_fault<X, V>::type;
  static_assert(ok<only<fault, elements_differ>>,
                "view: the View's elements are of another type than the tensor's; name a tensor of "
                "the same");
  static_assert(ok<only<fault, ranks_differ>>,
                "view: the View has not as many dimensions as the tensor has dims; name a tensor "
                "of as many, or reshape the View");
  return ok<fault>;
}

}  // namespace detail

/// This rank's block as a View of T*...*, one dimension for each dim. What others share of x's
/// memory they keep: x gets its own before it can be written. A sum yet to be made that each rank
/// held whole (x.once()) is one of addends from then on: zeros on all but the first rank. Local.
template <Tensor X>
  requires(!detail::is_tracked<X> && !detail::is_shaped<X>)
auto view_of(X& x) {
  detail::require_grid("view_of", detail::core_of(x));
  detail::settle(detail::core_of(x), x.once());
  detail::own_memory(x, true);
  return detail::block_view_at<value_of<X>, X::rank, detail::memory_of<typename X::mesh_type>>(
      x.data(), detail::core_of(x));
}
/// The same to be read only; of a sum yet to be made x.once() says whether it is addends.
template <Tensor X>
  requires(!detail::is_tracked<X> && !detail::is_shaped<X>)
auto view_of(const X& x) {
  detail::require_grid("view_of", detail::core_of(x));
  return detail::block_view_at<const value_of<X>, X::rank,
                               detail::memory_of<typename X::mesh_type>>(x.data(),
                                                                         detail::core_of(x));
}
/// Poison stays poison.
template <Operand X>
  requires is_poison<X>
poison view_of(const X&) {
  return {};
}
/// In an operation of one's own: a core's block as a View of R dimensions of elements T (const T:
/// of an operand).
template <class T, int R> auto view_of(const detail::tensor_core& x) {
  return detail::block_view_at<T, R>(x.data<T>(), x);
}

// A tensor has both by its type.
template <class T, int R, Tensor X> poison view_of(const X&) {
  static_assert(ok<wrong_arguments<T, std::integral_constant<int, R>, X>>,
                "view_of: a tensor's type says what its elements are, and how many dims there are: "
                "view_of(x)");
  return {};
}

/// Copies this rank's block into a View of the same lengths, and any strides and memory space; of
/// a sum yet to be made the ranks' addends, also where each held the whole (x.once()). Throws
/// dimesh::error if lengths differ.
template <class V, Tensor X>
  requires(detail::is_view<V> && !detail::is_tracked<X> && !detail::is_shaped<X>)
void copy_to(const V& to, const X& x) {
  if constexpr (detail::assert_fits<X, V>()) {
    detail::require_grid("copy_to", detail::core_of(x));
    detail::require_extents("copy_to", x, to);
    if (x.local_size() == 0) return;  // also of a number that lives elsewhere
    X addends = x;
    detail::settle(detail::core_of(addends), x.once());
    const auto near = Kokkos::create_mirror_view(detail::memory_of<typename X::mesh_type>{}, to);
    Kokkos::deep_copy(near, dimesh::view_of(std::as_const(addends)));
    Kokkos::deep_copy(to, near);
  }
}
template <class V, Operand X>
  requires(detail::is_view<V> && is_poison<X>)
void copy_to(const V&, const X&) {}
/// The other way round.
template <Operand X, class V>
  requires detail::is_view<V>
void copy_to(const X&, const V&) {
  static_assert(ok<wrong_arguments<X, V>>,
                "copy_to: the View that is written comes first, then the tensor: copy_to(view, x); "
                "of a View a tensor is made by from_view<X>(grid, view)");
}

/// A tensor whose block on each rank is a copy of a View of the same lengths, and any strides and
/// memory space. Extents that the type leaves open come from dims with a value, and shapes. Throws
/// dimesh::error if lengths differ.
template <Tensor X, class V, Extents... From>
  requires(detail::is_view<V>)
X from_view(const typename X::grid_type& g, const V& v, const From&... extents) {
  X x(g, extents...);
  if constexpr (detail::assert_fits<X, V>()) {
    detail::require_extents("from_view", x, v);
    if (x.local_size() == 0) return x;
    const auto near =
        Kokkos::create_mirror_view_and_copy(detail::memory_of<typename X::mesh_type>{}, v);
    Kokkos::deep_copy(dimesh::view_of(x), near);
  }
  return x;
}

}  // namespace dimesh
