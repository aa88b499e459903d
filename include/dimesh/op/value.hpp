// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which number does a tensor without dims hold? A local read: every rank has it.
//
//   value(complete(mean<batch>(x)))  -> float
//   value(mean<batch>(x[batch/rows]))  -> partial_operand<rows>: it is a sum yet to be made
#pragma once

#include "dimesh/op/parts/apply_rule.hpp"
#include "dimesh/op/refusals/unnamed_dims.hpp"

namespace dimesh {

namespace detail {

struct value_rule : keeps_dims {
  static constexpr outcome of(rule_operands x, dim_list) {
    if (x[0].rank > 0) return blamed_place(fault_code::value_not_scalar, 0);
    if (x[0].placed != 0) return blamed_axis(fault_code::tensor_is_placed, first_axis(x[0].placed));
    const int axis = x[0].layout.first_partial();
    return axis < 0 ? allowed(x[0].layout) : blamed_axis(fault_code::partial_operand, axis);
  }
};

template <class X> struct recorded_value_of {
  using type = no_fault;
};
template <Tensor X> struct recorded_value_of<X> {
  using type = value_is_recorded<value_of<X>>;
};
template <class X> using recorded_value = typename recorded_value_of<X>::type;

}  // namespace detail

/// The number in a tensor without dims. Local.
template <Operand X> [[nodiscard]] constexpr auto value(const X& x) {
  using rule = detail::fault_of<detail::value_rule, X>;
  using fault =
      std::conditional_t<ok<rule> && detail::is_tracked<X>, detail::recorded_value<X>, rule>;
  static_assert(
      ok<only<fault, value_not_scalar>>,
      "value: the tensor has dims and so many numbers; take it by to_rank, or read data()");
  static_assert(ok<only<fault, partial_operand>>,
                "value: the tensor is a sum, maximum or minimum yet to be made; complete it first");
  static_assert(
      ok<only<fault, tensor_is_placed>>,
      "value: the tensor lives at one place of this axis, and other ranks have no number; "
      "broadcast<axis> it first");
  static_assert(
      ok<only<fault, value_is_recorded>>,
      "value: the tensor is recorded, and its number would be a constant to the gradient; "
      "compute with the tensor, or say value(stop_gradient(x))");
  using shape = typename detail::shape_fault<X>::type;
  static_assert(!ok<fault> || ok<shape>,
                "value: the tensor is a shape, as in a program whose cost is counted, and has no "
                "number; let the cost not depend on it");
  if constexpr (!ok<fault> || !ok<shape> || is_poison<X>) {
    return poison{};
  } else {
    detail::check<detail::value_rule>("value", x);
    detail::require_grid("value", detail::core_of(x));
    if constexpr (!detail::hosts_only) Kokkos::fence();
    const detail::in_space here(detail::core_of(x).facts->space);
    return detail::get_element(x.data());
  }
}

/// One number, of a tensor without dims: nothing else is given. (Functions of the user's that have
/// this name fit better: see unnamed_dims.hpp.)
template <class... No>
  requires(sizeof...(No) == 0)
constexpr poison value(detail::any_operand, detail::any_argument) {
  static_assert(ok<wrong_arguments<detail::nothing<No...>>>,
                "value: takes a tensor without dims and nothing else; one element is "
                "x.at(batch{0}), on the rank that holds it");
  return {};
}

}  // namespace dimesh
