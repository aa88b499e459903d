// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a tensor that all ranks hold come to live on some of them? It stays where it is and the
// others forget it: no communication. And how do the addends of all become a sum that only those
// ranks hold? By one reduction.
//
//   place<stage, 1>(tensor<T, layout<pod>, hidden>)  -> tensor<T, layout<pod, placed<stage, 1>>,
//                                                        hidden>
//   reduce<stage, 0>(tensor<T, layout<pod, partial<stage>>, hidden>)
//                                                     -> tensor<T, layout<pod, placed<stage, 0>>,
//                                                        hidden>
#pragma once

#include "dimesh/op/parts/places.hpp"

namespace dimesh {

/// x at coordinate K of A alone. Shapes stay. Replicated along A -> placed. Free: the ranks there
/// share the memory of x. Its transpose gives addends, zeros on the other ranks. Throws
/// dimesh::error if A has no such coordinate.
template <Axis A, index_t K, Operand X> constexpr auto place(const X& x) {
  using rule = detail::to_place_rule<A, use::replicated, -1, K>;
  using fault = detail::fault_of<rule, X>;
  static_assert(
      ok<only<fault, axis_not_in_mesh>>,
      "place: the tensor's mesh lacks this axis; name one that the tensor is replicated along");
  static_assert(ok<only<fault, axis_not_replicated>>,
                "place: the tensor is not replicated along this axis; use send<axis, k> where it "
                "has a place, reduce<axis, k> where it is partial, and relayout where it is split");
  static_assert(ok<only<fault, place_not_on_axis>>,
                "place: this axis has no such coordinate; name one from 0 to its size - 1");
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else
    return detail::apply_rule<rule, value_of<X>>(detail::place_op<value_of<X>>{}, x);
}

/// The sum of the addends along A, at coordinate K of A alone. Shapes stay. Partial over A ->
/// placed. Communicates: one reduction along A. Throws dimesh::error if A has no such coordinate.
template <Axis A, index_t K, Operand X> constexpr auto reduce(const X& x) {
  using rule = detail::to_place_rule<A, use::partial, -1, K>;
  using fault = detail::fault_of<rule, X>;
  static_assert(
      ok<only<fault, axis_not_in_mesh>>,
      "reduce: the tensor's mesh lacks this axis; name one that the tensor is partial along");
  static_assert(ok<only<fault, axis_not_partial>>,
                "reduce: the tensor holds no addends along this axis; place<axis, k> what is "
                "replicated, or name an axis that it is partial along");
  static_assert(ok<only<fault, element_not_summable>>,
                "reduce: ranks cannot add up elements of this type; cast the tensor first");
  static_assert(ok<only<fault, place_not_on_axis>>,
                "reduce: this axis has no such coordinate; name one from 0 to its size - 1");
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    detail::check<rule>("reduce", x);
    return detail::apply_rule<rule, value_of<X>>(
        detail::reduce_op<value_of<X>>{axis_index<typename spec_of<X>::mesh, A>}, x);
  }
}

}  // namespace dimesh
