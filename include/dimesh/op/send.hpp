// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a tensor get from one stage of a pipeline to the next? The ranks at one coordinate of an
// axis hand it to those at another, which hold it from then on. The gradient comes back the same
// way.
//
//   send<stage, 0, 1>(tensor<T, layout<pod, placed<stage, 0>>, hidden>)
//     -> tensor<T, layout<pod, placed<stage, 1>>, hidden>        one message
//   send<stage, 1>(x)   from wherever x lives
#pragma once

#include "dimesh/op/parts/places.hpp"

namespace dimesh {

namespace detail {
/// It lives there already.
template <class X, class A, index_t K> inline constexpr bool is_at = false;
template <class X, class A, index_t K>
  requires(!is_poison<X> && !is_probe<X>)
inline constexpr bool is_at<X, A, K> = [] {
  constexpr int a = axis_index<typename spec_of<X>::mesh, A>;
  if constexpr (a < 0)
    return false;
  else
    return spec_of<X>::table.axis[a].what == use::placed && spec_of<X>::table.axis[a].at == K;
}();

template <class A, index_t J, index_t K, class X> constexpr auto sent(const X& x) {
  using rule = to_place_rule<A, use::placed, J, K>;
  if constexpr (!ok<fault_of<rule, X>> || is_poison<X>) {
    return poison{};
  } else if constexpr (is_at<X, A, K>) {
    if constexpr (is_starting<X>)
      return arrived(x);
    else
      return x;
  } else {
    check<rule>("send", x);
    return apply_rule<rule, value_of<X>>(
        send_op<value_of<X>>{axis_index<typename spec_of<X>::mesh, A>}, x);
  }
}
}  // namespace detail

/// x at coordinate K of A instead of J. Shapes stay. Placed at J -> placed at K. Communicates: one
/// message between the two, of x's block; none where J is K. Throws dimesh::error if A has no such
/// coordinate.
template <Axis A, index_t J, index_t K, Operand X>
  requires(J >= 0)
constexpr auto send(const X& x) {
  using fault = detail::fault_of<detail::to_place_rule<A, use::placed, J, K>, X>;
  static_assert(
      ok<only<fault, axis_not_in_mesh>>,
      "send: the tensor's mesh lacks this axis; name one along which the tensor has a place");
  static_assert(ok<only<fault, axis_not_placed>>,
                "send: the tensor does not live at this coordinate of the axis; send<axis, k>(x) "
                "takes it from where it lives, place<axis, k> what all ranks hold");
  static_assert(ok<only<fault, place_not_on_axis>>,
                "send: this axis has no such coordinate; name one from 0 to its size - 1");
  return detail::sent<A, J, K>(x);
}
/// The same from wherever along A it lives.
template <Axis A, index_t K, Operand X> constexpr auto send(const X& x) {
  using fault = detail::fault_of<detail::to_place_rule<A, use::placed, -1, K>, X>;
  static_assert(
      ok<only<fault, axis_not_in_mesh>>,
      "send: the tensor's mesh lacks this axis; name one along which the tensor has a place");
  static_assert(ok<only<fault, axis_not_placed>>,
                "send: the tensor lives at no one place of this axis; place<axis, k> it where all "
                "ranks hold it, relayout it where the axis splits it");
  static_assert(ok<only<fault, place_not_on_axis>>,
                "send: this axis has no such coordinate; name one from 0 to its size - 1");
  return detail::sent<A, -1, K>(x);
}

}  // namespace dimesh
