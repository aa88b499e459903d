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

/// No axis splits D any more.
template <class D> struct whole_rule : keeps_dims {
  using named = list<D>;
  static constexpr outcome of(rule_operands x, dim_list) {
    const int d = x[0].place_of(&facts_of_dim<D>);
    if (d < 0) return blamed(fault_code::dim_not_in_tensor, &facts_of_dim<D>);
    const unsigned axes = x[0].layout.axes_of(d);
    return axes == 0 ? allowed(x[0].layout) : gather_rule_of(x[0], axes);
  }
};
template <class D, class X> constexpr auto whole_along(const X& x) {
  check<whole_rule<D>>("whole", x);
  const unsigned axes = core_of(x).layout().axes_of(index_of<D, typename spec_of<X>::dims>);
  if constexpr (is_probe<X>)
    if (axes == 0 && core_of(x).facts->sketched == nullptr) return unchanged(x);
  return apply_or_share_by<whole_rule<D>>(all_gather_op<value_of<X>>{}, x,
                                          talking(axes, sizes_of(x)) == 0);
}
/// Some axis splits D, for all that the type says.
template <class D, class X> constexpr bool may_be_split() {
  if constexpr (is_probe<X>)
    return true;
  else
    return is_split<spec_of<X>, D>;
}

}  // namespace detail

/// Dim D whole on every rank. Shapes stay; the axes that split D replicate.
template <Dim D, Operand X> constexpr auto whole(const X& x) {
  using rule = detail::whole_rule<D>;
  using fault = detail::fault_of<rule, X>;
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "whole: the tensor lacks the dim to be gathered; name one of its dims");
  static_assert(ok<only<fault, dim_has_halo>>,
                "whole: the blocks carry halos; gather the tensor before halo_exchange instead");
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else if constexpr (!detail::may_be_split<D, X>())
    return detail::unchanged(x);
  else
    return detail::whole_along<D>(x);
}

}  // namespace dimesh
