// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do + - * / and comparisons mean on tensors? The same as `map` with that function, but these
// know what is linear, and so keep addends where that is right.
//
//   partial + partial -> partial       partial * replicated -> partial      -partial -> partial
//   partial + replicated, partial + 1, partial * partial  -> compile errors
//   select(x > y, x, y)                -> elementwise choice
//   int + 3000000000                   -> dimesh::error: the result is int, and no int is that
//   int / int                          -> 0 where the divisor is; int / 0 -> dimesh::error
#pragma once

#include "dimesh/core/number_as_element.hpp"
#include "dimesh/op/parts/arithmetic_functions.hpp"
#include "dimesh/op/parts/operate.hpp"

namespace dimesh {

namespace detail {

/// A plain number beside a tensor.
template <class N> concept Number = std::is_arithmetic_v<N>;

/// The type in which a number meets a tensor of T: what T is computed in, so that 0.5 does not turn
/// float into double; only a fraction beside whole numbers widens. What T is promoted to where both
/// are whole: it gives the result, and bool and short elements would cut the number before.
template <class T, class N> struct number_for {
  using type = computed<T>;
};
template <class T, class N>
  requires std::is_integral_v<T>
struct number_for<T, N> {
  using type = std::conditional_t<std::is_floating_point_v<N>, N, decltype(+T())>;
};

/// Elements of a user's own that are not made of numbers.
template <class T, class N>
  requires(!element_traits<T>::is_known && !std::is_convertible_v<N, T>)
struct number_for<T, N> {
  using type = no_such_number;
};

template <class X, class N> struct number_beside : number_for<value_of<X>, N> {};
template <class X, class N> using number_as = unless_poison<X, number_beside<X, N>, N>;

/// The type of a number that may become an element: that of the elements, where both are whole.
template <class X, class N> struct element_beside {
  using type = std::conditional_t<std::is_integral_v<N> && std::is_integral_v<value_of<X>>,
                                  value_of<X>, number_as<X, N>>;
};
template <class X, class N> using element_as = unless_poison<X, element_beside<X, N>, N>;

/// A number added to a tensor.
struct offset_rule : keeps_dims {
  static constexpr outcome of(rule_operands x, dim_list) {
    const int axis = x[0].layout.first_partial();
    return axis < 0 ? allowed(x[0].layout) : blamed_axis(fault_code::partial_meets_scalar, axis);
  }
};
template <class X> using offset_fault = fault_of<offset_rule, X>;

template <class F, class X>
constexpr auto offset_by(std::string_view call, const F& f, const X& x) {
  if constexpr (!ok<offset_fault<X>> || is_poison<X>) {
    return poison{};
  } else {
    using fault = operator_fault_of<false, F, value_of<X>>;
    static_assert(ok<fault>,
                  "operators and functions: elements of these types have none such, or take no "
                  "number beside them; write map(f, x, y), f a function of elements");
    if constexpr (ok<fault>) {
      using R = typename map_value<void, F, value_of<X>>::type;
      return apply_rule<offset_rule, R>(map_op<F, R, value_of<X>>{f, call}, x);
    } else {
      return poison{};
    }
  }
}

// Compiled once in dimesh::compiled.
DIMESH_INSTANCE(map_op<subtract_function, float, float, float>, 0, 0u);
DIMESH_INSTANCE(map_op<subtract_function, float, float, float>, 1, 3u);
DIMESH_INSTANCE(map_op<subtract_function, double, double, double>, 0, 0u);
DIMESH_INSTANCE(map_op<subtract_function, double, double, double>, 1, 3u);
DIMESH_INSTANCE(map_op<multiply_function, float, float, float>, 0, 0u);
DIMESH_INSTANCE(map_op<multiply_function, float, float, float>, 1, 1u);
DIMESH_INSTANCE(map_op<multiply_function, float, float, float>, 1, 3u);
DIMESH_INSTANCE(map_op<multiply_function, double, double, double>, 0, 0u);
DIMESH_INSTANCE(map_op<multiply_function, double, double, double>, 1, 1u);
DIMESH_INSTANCE(map_op<multiply_function, double, double, double>, 1, 3u);
DIMESH_INSTANCE(map_op<divide_function, float, float, float>, 0, 0u);
DIMESH_INSTANCE(map_op<divide_function, float, float, float>, 1, 3u);
DIMESH_INSTANCE(map_op<divide_function, double, double, double>, 0, 0u);
DIMESH_INSTANCE(map_op<divide_function, double, double, double>, 1, 3u);
DIMESH_INSTANCE(map_op<scale_function<float>, float, float>, 0, 0u);
DIMESH_INSTANCE(map_op<scale_function<float>, float, float>, 1, 1u);
DIMESH_INSTANCE(map_op<scale_function<double>, double, double>, 0, 0u);
DIMESH_INSTANCE(map_op<scale_function<double>, double, double>, 1, 1u);
DIMESH_INSTANCE(map_op<unscale_function<float>, float, float>, 0, 0u);
DIMESH_INSTANCE(map_op<unscale_function<float>, float, float>, 1, 1u);
DIMESH_INSTANCE(map_op<unscale_function<double>, double, double>, 0, 0u);
DIMESH_INSTANCE(map_op<unscale_function<double>, double, double>, 1, 1u);

}  // namespace detail

template <Operand X, Operand Y> constexpr auto operator+(const X& x, const Y& y) {
  using fault = detail::operator_fault<detail::join_kind::sum, X, Y>;
  static_assert(
      ok<only<fault, partial_meets_replicated, partial_meets_split>>,
      "operator+: one operand is a sum yet to be made, the other is not and would be counted "
      "once per rank; complete the first");
  static_assert(ok<only<fault, partial_operand>>,
                "operator+: an operand is a maximum or minimum yet to be made; complete it first");
  static_assert(ok<only<fault, dim_split_in_one_operand_only>>,
                "operator+: a dim is split in one operand only; take own<dim, axis> of the other "
                "(free), or gather it "
                "with whole<dim>");
  static_assert(ok<only<fault, dim_split_differently>>,
                "operator+: the operands are split differently; relayout one of them");
  static_assert(ok<only<fault, meshes_differ>>,
                "operator+: the operands live on different meshes; put them on one");
  static_assert(ok<only_placed<fault>>,
                "operator+: the operands live on different ranks of this axis; place<axis, k> the "
                "one that all of them hold (free), or send<axis, k> the one that lives elsewhere");
  static_assert(ok<only<fault, no_operand_has_all_dims>>,
                "operator+: each operand lacks a dim of the other, so the result would have all "
                "pairs; rename one, or say map([](auto a, auto b) { return a + b; }, x, y)");
  return detail::operate<detail::join_kind::sum>(detail::add_elements{}, x, y);
}
template <Operand X, Operand Y> constexpr auto operator-(const X& x, const Y& y) {
  using fault = detail::operator_fault<detail::join_kind::sum, X, Y>;
  static_assert(
      ok<only<fault, partial_meets_replicated, partial_meets_split>>,
      "operator-: one operand is a sum yet to be made, the other is not and would be counted "
      "once per rank; complete the first");
  static_assert(ok<only<fault, partial_operand>>,
                "operator-: an operand is a maximum or minimum yet to be made; complete it first");
  static_assert(ok<only<fault, dim_split_in_one_operand_only>>,
                "operator-: a dim is split in one operand only; take own<dim, axis> of the other "
                "(free), or gather it "
                "with whole<dim>");
  static_assert(ok<only<fault, dim_split_differently>>,
                "operator-: the operands are split differently; relayout one of them");
  static_assert(ok<only<fault, meshes_differ>>,
                "operator-: the operands live on different meshes; put them on one");
  static_assert(ok<only_placed<fault>>,
                "operator-: the operands live on different ranks of this axis; place<axis, k> the "
                "one that all of them hold (free), or send<axis, k> the one that lives elsewhere");
  static_assert(ok<only<fault, no_operand_has_all_dims>>,
                "operator-: each operand lacks a dim of the other, so the result would have all "
                "pairs; rename one, or say map([](auto a, auto b) { return a - b; }, x, y)");
  return detail::operate<detail::join_kind::sum>(detail::subtract_function{}, x, y);
}
template <Operand X, Operand Y> constexpr auto operator*(const X& x, const Y& y) {
  using fault = detail::operator_fault<detail::join_kind::product, X, Y>;
  static_assert(ok<only<fault, both_operands_partial>>,
                "operator*: both operands are sums yet to be made; complete one of them first");
  static_assert(ok<only<fault, partial_meets_split>>,
                "operator*: one operand is a sum yet to be made along an axis that splits the "
                "other; complete it first");
  static_assert(ok<only<fault, partial_operand>>,
                "operator*: an operand is a maximum or minimum yet to be made; complete it first");
  static_assert(ok<only<fault, dim_split_in_one_operand_only>>,
                "operator*: a dim is split in one operand only; take own<dim, axis> of the other "
                "(free), or gather it "
                "with whole<dim>");
  static_assert(ok<only<fault, dim_split_differently>>,
                "operator*: the operands are split differently; relayout one of them");
  static_assert(ok<only<fault, meshes_differ>>,
                "operator*: the operands live on different meshes; put them on one");
  static_assert(ok<only_placed<fault>>,
                "operator*: the operands live on different ranks of this axis; place<axis, k> the "
                "one that all of them hold (free), or send<axis, k> the one that lives elsewhere");
  static_assert(ok<only<fault, no_operand_has_all_dims>>,
                "operator*: each operand lacks a dim of the other, so the result would have all "
                "pairs; rename one, or say einsum<m, n>(x, y) of matrices, outer(x, y) of pairs");
  return detail::operate<detail::join_kind::product>(detail::multiply_function{}, x, y);
}
template <Operand X, Operand Y> constexpr auto operator/(const X& x, const Y& y) {
  using fault = detail::operator_fault<detail::join_kind::quotient, X, Y>;
  static_assert(ok<only<fault, partial_operand>>,
                "operator/: the denominator is a sum yet to be made; complete it first");
  static_assert(ok<only<fault, partial_meets_split>>,
                "operator/: one operand is a sum yet to be made along an axis that splits the "
                "other; complete it first");
  static_assert(ok<only<fault, dim_split_in_one_operand_only>>,
                "operator/: a dim is split in one operand only; take own<dim, axis> of the other "
                "(free), or gather it "
                "with whole<dim>");
  static_assert(ok<only<fault, dim_split_differently>>,
                "operator/: the operands are split differently; relayout one of them");
  static_assert(ok<only<fault, meshes_differ>>,
                "operator/: the operands live on different meshes; put them on one");
  static_assert(ok<only_placed<fault>>,
                "operator/: the operands live on different ranks of this axis; place<axis, k> the "
                "one that all of them hold (free), or send<axis, k> the one that lives elsewhere");
  static_assert(ok<only<fault, no_operand_has_all_dims>>,
                "operator/: each operand lacks a dim of the other, so the result would have all "
                "pairs; rename one, or say map([](auto a, auto b) { return a / b; }, x, y)");
  return detail::operate<detail::join_kind::quotient>(detail::divide_function{}, x, y);
}
template <Operand X>
  requires(Tensor<X> || is_poison<X>)
constexpr X operator+(const X& x) {
  return x;
}
template <Operand X> constexpr auto operator-(const X& x) {
  static_assert(ok<detail::map_fault<detail::join_kind::linear, X>>,
                "operator-: the operand is a maximum or minimum yet to be made; complete it first");
  return detail::map_as<detail::join_kind::linear>(detail::negate_function{}, x);
}

template <Operand X, detail::Number N> constexpr auto operator+(const X& x, N n) {
  static_assert(ok<detail::offset_fault<X>>,
                "operator+: a number beside a sum yet to be made would be counted once per rank; "
                "complete it first");
  using T = detail::number_as<X, N>;
  return detail::offset_by("operator+",
                           detail::offset_function<T>{detail::met_as<T>("operator+", n)}, x);
}
template <detail::Number N, Operand X> constexpr auto operator+(N n, const X& x) {
  static_assert(ok<detail::offset_fault<X>>,
                "operator+: a number beside a sum yet to be made would be counted once per rank; "
                "complete it first");
  using T = detail::number_as<X, N>;
  return detail::offset_by("operator+",
                           detail::offset_function<T>{detail::met_as<T>("operator+", n)}, x);
}
template <Operand X, detail::Number N> constexpr auto operator-(const X& x, N n) {
  static_assert(ok<detail::offset_fault<X>>,
                "operator-: a number beside a sum yet to be made would be counted once per rank; "
                "complete it first");
  using T = detail::number_as<X, N>;
  const T by = detail::met_as<T>("operator-", n);
  if constexpr (std::is_integral_v<T>)
    return detail::offset_by("operator-", detail::take_off_function<T>{by}, x);
  else
    return detail::offset_by("operator-", detail::offset_function<T>{-by}, x);
}
template <detail::Number N, Operand X> constexpr auto operator-(N n, const X& x) {
  static_assert(ok<detail::offset_fault<X>>,
                "operator-: a number beside a sum yet to be made would be counted once per rank; "
                "complete it first");
  using T = detail::number_as<X, N>;
  return detail::offset_by("operator-",
                           detail::subtract_from_function<T>{detail::met_as<T>("operator-", n)}, x);
}
template <Operand X, detail::Number N> constexpr auto operator*(const X& x, N n) {
  static_assert(ok<detail::map_fault<detail::join_kind::linear, X>>,
                "operator*: the operand is a maximum or minimum yet to be made; complete it first");
  using T = detail::number_as<X, N>;
  return detail::map_as<detail::join_kind::linear>(
      detail::scale_function<T>{detail::met_as<T>("operator*", n)}, x);
}
template <detail::Number N, Operand X> constexpr auto operator*(N n, const X& x) {
  static_assert(ok<detail::map_fault<detail::join_kind::linear, X>>,
                "operator*: the operand is a maximum or minimum yet to be made; complete it first");
  using T = detail::number_as<X, N>;
  return detail::map_as<detail::join_kind::linear>(
      detail::scale_function<T>{detail::met_as<T>("operator*", n)}, x);
}
template <Operand X, detail::Number N> constexpr auto operator/(const X& x, N n) {
  static_assert(ok<detail::map_fault<detail::join_kind::linear, X>>,
                "operator/: the operand is a maximum or minimum yet to be made; complete it first");
  using T = detail::number_as<X, N>;
  return detail::map_as<detail::join_kind::linear>(
      detail::unscale_function<T>{detail::met_as_divisor<T>("operator/", n)}, x);
}
template <detail::Number N, Operand X> constexpr auto operator/(N n, const X& x) {
  static_assert(ok<detail::map_fault<detail::join_kind::nonlinear, X>>,
                "operator/: the denominator is a sum yet to be made; complete it first");
  using T = detail::number_as<X, N>;
  return detail::map_as<detail::join_kind::nonlinear>(
      detail::divide_into_function<T>{detail::met_as<T>("operator/", n)}, x);
}

}  // namespace dimesh
