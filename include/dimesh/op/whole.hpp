// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a program say "I need all of this dim" under every layout? whole gathers it over all
// axes that split it, in one call; where none does, it compiles to nothing.
//
//   whole<hidden>(tensor<T, layout<pod, split<hidden, rows, cols>>, hidden>)
//     -> tensor<T, layout<pod>, hidden>
//   whole<hidden>(tensor<T, layout<pod, split<batch, rows>>, batch, hidden>)  -> its argument
#pragma once

#include "dimesh/op/parts/blocks.hpp"

namespace dimesh {

namespace detail {

template <class D, class X> struct whole_fault {
  using S = spec_of<X>;
  static constexpr auto find() {
    if constexpr (index_of<D, typename S::dims> < 0)
      return tag<dim_not_in_tensor<D>>{};
    else if constexpr (S::table.split_count(index_of<D, typename S::dims>) == 0)
      return tag<no_fault>{};
    else
      return tag<typename any_halo_fault<S>::type>{};
  }
  using type = typename decltype(find())::type;
};
template <class D, class X>
  requires is_poison<X>
struct whole_fault<D, X> {
  using type = no_fault;
};

}  // namespace detail

/// Dim D whole on every rank. Shapes stay; the axes that split D replicate.
template <Dim D, Operand X> constexpr auto whole(const X& x) {
  using fault = typename detail::whole_fault<D, X>::type;
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "whole: the tensor lacks the dim to be gathered; name one of its dims");
  static_assert(ok<only<fault, dim_has_halo>>,
                "whole: the blocks carry halos; gather the tensor before halo_exchange instead");
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    using S = spec_of<X>;
    constexpr unsigned axes = S::table.axes_of(detail::index_of<D, typename S::dims>);
    if constexpr (axes == 0) {
      return x;
    } else {
      return detail::apply_or_share<detail::under<S, detail::gathered_layout<X, axes>>>(
          detail::all_gather_op<value_of<X>>{}, x, detail::talking(axes, detail::sizes_of(x)) == 0);
    }
  }
}

}  // namespace dimesh
