// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does an axis stop splitting one dim and split another? Every rank along it gives every other
// the part of its block that falls into the other one's new block. The backward pass is the
// reverse.
//
//   all_to_all<batch, hidden, rows>(tensor<T, layout<pod, split<batch, rows>>, batch, hidden>)
//     -> tensor<T, layout<pod, split<hidden, rows>>, batch, hidden>    (n-1)/n of the block a rank
#pragma once

#include "dimesh/op/exchange.hpp"

namespace dimesh {

namespace detail {

/// The layout with axis A of X moved to the minor end of To (or uneven<To>).
template <class X, class To, class A> using moved_layout = scattered_layout<X, To, A>;

template <class From, class To, class A, class X> struct all_to_all_fault {
  using S = spec_of<X>;
  using mesh = typename S::mesh;
  static constexpr auto find() {
    constexpr int a = axis_index<mesh, A>;
    constexpr int from = index_of<From, typename S::dims>;
    if constexpr (a < 0)
      return tag<axis_not_in_mesh<A, mesh>>{};
    else if constexpr (from < 0)
      return tag<dim_not_in_tensor<From>>{};
    else if constexpr (index_of<plain_dim<To>, typename S::dims> < 0)
      return tag<dim_not_in_tensor<plain_dim<To>>>{};
    else if constexpr (S::table.axis[a].what != use::split || S::table.axis[a].dim != from)
      return tag<axis_splits_nothing<A>>{};
    else if constexpr (S::table.axis[a].level + 1 != S::table.split_count(from))
      return tag<axis_not_innermost_of_dim<From, A>>{};
    else if constexpr (any_halo<S>::find() >= 0)
      return tag<typename any_halo_fault<S>::type>{};
    else
      return tag<typename under<S, moved_layout<X, To, A>>::fault>{};
  }
  using type = typename decltype(find())::type;
};
template <class From, class To, class A, class X>
  requires is_poison<X>
struct all_to_all_fault<From, To, A, X> {
  using type = no_fault;
};

}  // namespace detail

/// Axis A splits To (which may be written uneven<To>) at its minor end, instead of From. Shapes
/// stay.
template <Dim From, class To, Axis A, Operand X>
  requires(!std::is_same_v<From, detail::plain_dim<To>>)
constexpr auto all_to_all(const X& x) {
  using fault = typename detail::all_to_all_fault<From, To, A, X>::type;
  static_assert(
      ok<only<fault, axis_not_in_mesh>>,
      "all_to_all: the tensor's mesh lacks this axis; name one that splits a dim of the tensor");
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "all_to_all: the tensor lacks one of the two dims; name dims of the tensor");
  static_assert(ok<only<fault, axis_splits_nothing>>,
                "all_to_all: the axis does not split the first dim; name the dim that it splits");
  static_assert(ok<only<fault, axis_not_innermost_of_dim>>,
                "all_to_all: another axis cuts the blocks of this one; move that axis first, or "
                "use relayout");
  static_assert(
      ok<only<fault, dim_has_halo>>,
      "all_to_all: blocks with halos stay where they are; move them before halo_exchange");
  static_assert(
      ok<only_not_divisible<fault>>,
      "all_to_all: the extent of the second dim is not a multiple of its mesh axes; change one, or "
      "say all_to_all<dim, uneven<dim>, axis>");
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else
    return detail::apply_as<detail::under<spec_of<X>, detail::moved_layout<X, To, A>>>(
        detail::exchange_op<value_of<X>>{}, x);
}

}  // namespace dimesh
