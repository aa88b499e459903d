// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does memory that a program has already become a tensor, without a copy? It is lent to one,
// under a layout that the program states; lengths are checked against it.
//
//   Kokkos::View<double**> field("field", rows, cols);     // this rank's part of a field
//   auto x = borrow<tensor<double, L, north, east>>(g, field, north{n}, east{m});
//   fill(x, 1);                                             // field is full of ones
//
// Memory that is const is only read: what writes the tensor gives it memory of its own first. A
// tensor of memory that may be written is written there, and what would part it from there throws.
// Operations give tensors in the library's own memory, but for those that move nothing (rename,
// merge, cut, place): copy_to brings them back. Where a tensor does not live, 0 elements are lent.
#pragma once

#include <memory>

#include "dimesh/core/any_argument.hpp"
#include "dimesh/core/cuts_like.hpp"
#include "dimesh/interop/view.hpp"

namespace dimesh {

namespace detail {

/// Of tensors X.
template <class X, class T> storage lent_storage(T* data, std::shared_ptr<const void> keeps) {
  constexpr lent how = std::is_const_v<T> ? lent::to_read : lent::to_write;
  return storage::lent_by(const_cast<void*>(static_cast<const void*>(data)), how, std::move(keeps),
                          space_of<typename X::mesh_type>);
}
template <class X, class... From>
X tensor_over(const typename X::grid_type& g, const storage& memory, const From&... extents) {
  return X(g, typename X::shape_type(typename X::shape_type{}, extents...), memory,
           cuts_among(extents...));
}

}  // namespace detail

/// A tensor over this rank's block where it lies: a View in the memory space of tensors, contiguous
/// and row-major in the order of X's dims, as long as the block along each (halos count). The View
/// is kept while the tensor needs it. Extents that X leaves open come from dims with a value,
/// shapes and cuts. Local. Throws dimesh::error if lengths or strides are others; of a View that is
/// row-major in another order of its dims (LayoutLeft), it names that order.
template <Tensor X, class V, Extents... From>
  requires(detail::is_view<V>)
X borrow(const typename X::grid_type& g, const V& v, const From&... extents) {
  static_assert(Kokkos::SpaceAccessibility<detail::memory_of<typename X::mesh_type>,
                                           typename V::memory_space>::accessible,
                "borrow: tensors' kernels do not reach the memory space of this View; copy it: "
                "from_view<X>(grid, view)");
  if constexpr (detail::assert_fits<X, V>()) {
    const X x = detail::tensor_over<X>(
        g, detail::lent_storage<X>(v.data(), std::make_shared<const V>(v)), extents...);
    detail::require_extents("borrow", x, v);
    index_t stride[X::rank + 1] = {};
    for (int d = 0; d < X::rank; ++d)
      stride[d] = static_cast<index_t>(v.stride(static_cast<unsigned>(d)));
    detail::require_strides("borrow", detail::core_of(x), stride);
    return x;
  } else {
    return X(g, extents...);
  }
}

/// The same over `count` elements at an address, which must stay there as long as the tensor and
/// its copies do. Throws dimesh::error if the block has another number of elements, or the address
/// is null and there are some.
template <Tensor X, class T, Extents... From>
  requires(std::is_same_v<std::remove_const_t<T>, value_of<X>>)
X borrow(const typename X::grid_type& g, T* data, index_t count, const From&... extents) {
  X x = detail::tensor_over<X>(g, detail::lent_storage<X>(data, nullptr), extents...);
  if (count != x.local_size())
    (detail::words() << "borrow: " << count << " elements are lent, this rank's block has "
                     << x.local_size())
        .raise();
  if (data == nullptr && count > 0)
    (detail::words() << "borrow: the address of " << count
                     << " elements is null; lend the memory that the program has of them")
        .raise();
  return x;
}

namespace detail {
/// A grid, a View or an address of the tensor's elements and their number, and then extents.
template <class X, class... A> inline constexpr bool borrows = false;
template <Tensor X, class V, class... E>
  requires is_view<V>
inline constexpr bool borrows<X, grid<typename X::mesh_type>, V, E...> = (Extents<E> && ...);
template <Tensor X, class T, class N, class... E>
inline constexpr bool borrows<X, grid<typename X::mesh_type>, T*, N, E...> =
    std::is_same_v<std::remove_const_t<T>, value_of<X>> && std::is_convertible_v<N, index_t> &&
    (Extents<E> && ...);
}  // namespace detail

/// Arguments of other kinds, or in another order.
template <class X, class... A>
  requires(!detail::borrows<X, std::decay_t<const A>...>)
auto borrow(const A&...) {
  static_assert(ok<std::conditional_t<Tensor<X>, wrong_arguments<A...>, not_a_tensor<X>>>,
                "borrow: the tensor's type, then grid and View, or address and number of its "
                "elements: borrow<X>(grid, view); borrow<X>(grid, a.data(), a.size())");
  if constexpr (Tensor<X>)
    return X{};
  else
    return poison{};
}
/// (Functions of the user's that have this name fit better.)
template <class... No>
  requires(sizeof...(No) == 0)
poison borrow(detail::any_argument, detail::any_argument = {}, detail::any_argument = {}) {
  static_assert(ok<not_a_tensor<detail::nothing<No...>>>,
                "borrow: the tensor's type, then grid and View, or address and number of its "
                "elements: borrow<X>(grid, view); borrow<X>(grid, a.data(), a.size())");
  return {};
}

}  // namespace dimesh
