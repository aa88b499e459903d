// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which number does a tensor without dims hold? A local read: every rank has it.
//
//   value(complete(mean<batch>(x)))  -> float
//   value(mean<batch>(x[batch/rows]))  -> partial_operand<rows>: it is a sum yet to be made
#pragma once

#include "dimesh/op/parts/apply.hpp"

namespace dimesh {

namespace detail {

template <class X> struct value_fault {
  static constexpr auto find() {
    constexpr int axis = spec_of<X>::table.first_partial();
    if constexpr (X::rank > 0)
      return dims_of(typename spec_of<X>::dims{});
    else if constexpr (axis >= 0)
      return tag<partial_operand<type_at<axis, typename X::mesh_type::axes>>>{};
    else if constexpr (is_tracked<X>)
      return tag<value_is_recorded<value_of<X>>>{};
    else
      return tag<no_fault>{};
  }
  template <class... D> static constexpr auto dims_of(list<D...>) {
    return tag<value_not_scalar<D...>>{};
  }
  using type = typename decltype(find())::type;
};
template <class X>
  requires is_poison<X>
struct value_fault<X> {
  using type = no_fault;
};

}  // namespace detail

/// The number in a tensor without dims. Local.
template <Operand X> auto value(const X& x) {
  using fault = typename detail::value_fault<X>::type;
  static_assert(
      ok<only<fault, value_not_scalar>>,
      "value: the tensor has dims and so many numbers; take it by to_rank, or read data()");
  static_assert(ok<only<fault, partial_operand>>,
                "value: the tensor is a sum yet to be made; complete it first");
  static_assert(
      ok<only<fault, value_is_recorded>>,
      "value: the tensor is recorded, and its number would be a constant to the gradient; "
      "compute with the tensor, or say value(stop_gradient(x))");
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    Kokkos::fence();
    return detail::get_element(x.data());
  }
}

}  // namespace dimesh
