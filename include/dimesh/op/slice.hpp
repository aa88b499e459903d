// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are parts of a dim taken, and put among others? By local copies along a dim that is whole. A
// dim's extent belongs to it, so that a part has a dim of its own, unless the run says the extent.
//
//   slice<length>(x, 2, 8)            [.., length, ..] -> elements 2..7; length : dim<>
//   slice<length>(x, 0, 8, 2)         -> elements 0, 2, 4, 6
//   slice<batch, head>(x, 2)          head : dim<4> -> elements 2..5 of batch
//   slice<batch, part>(x, 2, part{4})  the same, part : dim<>
//   pad<length>(x, 1, 2)              -> one zero before, two behind;  pad<batch, longer>(x, 1)
//   flip<length>(x)                   -> in reverse order
//   pick<length>(x, 3)                -> element 3, without the dim
//
// Parts of addends are addends, as are addends among zeros.
#pragma once

#include "dimesh/core/number_as_element.hpp"
#include "dimesh/op/parts/strided.hpp"
#include "dimesh/op/permute.hpp"
#include "dimesh/op/refusals/missing_header.hpp"
#include "dimesh/op/refusals/misuse_of_slice.hpp"

namespace dimesh {

namespace detail {

template <class... A> inline constexpr bool is_included<op_header::slice, A...> = true;

/// The extent that the result's dim has: of its type, or given.
template <class To> constexpr index_t extent_given(const To& to) {
  if constexpr (is_static_dim<To>)
    return static_extent<To>;
  else
    return number_in(to);
}
template <class From, class To, class Rule = strided_rule<From, To>, class X>
constexpr auto apply_strided(std::string_view call, const X& x, const strided& w, index_t extent,
                             value_of<X> around = {}) {
  if (w.from_step == 0)  // the way back would add up what it copies
    (words() << call << ": a step of 0 leads nowhere; give one that is not 0").raise();
  require_strided(call, w, name_of<From>(), x.template extent<From>());
  return apply_rule<Rule, value_of<X>>(
      strided_op<value_of<X>>{w, &facts_of_dim<From>, &facts_of_dim<To>, extent, around, call}, x);
}

/// A dim whose extent is part of its type cannot have another one in a result.
template <class D, class Fault>
using open_dim_fault = typename first_of<
    Fault, std::conditional_t<Dim<D> && is_static_dim<D>, extent_is_static<D>, no_fault>>::type;

/// How many elements there are from begin to end in steps.
constexpr index_t steps_between(index_t begin, index_t end, index_t step) {
  if (step == 0) throw error("slice: a step of 0 leads nowhere; give one that is not 0");
  const index_t way = step > 0 ? end - begin : begin - end, by = step > 0 ? step : -step;
  return way <= 0 ? 0 : (way + by - 1) / by;
}

template <class D, class Rule, class X>
constexpr auto padded(const X& x, index_t before, index_t behind, value_of<X> value) {
  if (before < 0 || behind < 0)
    throw error("pad: a number of elements is negative; slice takes some away");
  const index_t n = x.template extent<D>();
  return apply_strided<D, D, Rule>("pad", x, {0, 1, before, 1, n}, before + n + behind, value);
}
template <class Fault> constexpr void assert_padded() {
  static_assert(ok<only<Fault, extent_is_static>>,
                "pad: the dim's extent is part of its type; name the dim of the result: "
                "pad<dim, longer>(x, before)");
  static_assert(ok<only<Fault, dim_not_in_tensor>>,
                "pad: the tensor lacks the dim to be padded; name one of its dims");
  static_assert(ok<only<Fault, dim_already_in_tensor>>,
                "pad: the tensor has a dim of the new name already; choose another name");
  static_assert(ok<only<Fault, dim_is_split>>,
                "pad: needs the whole dim, and it is split; whole<dim> it, or split another");
  static_assert(ok<only<Fault, dim_has_halo>>,
                "pad: the blocks of the dim carry halos; pad it before halo_exchange");
}

}  // namespace detail

/// Elements begin, begin + step, ... of dim From, as many as To has; a negative step goes down. To
/// is static, or given with its extent. Shapes: [.., From, ..] -> [.., To, ..]. Local. Throws
/// dimesh::error where From has no such elements, and for a step of 0.
template <Dim From, Dim To, Operand X>
constexpr auto slice(const X& x, index_t begin, index_t step, const To& to) {
  using fault = detail::fault_of<detail::strided_rule<From, To>, X>;
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "slice: the tensor lacks the dim to be sliced; name one of its dims");
  static_assert(ok<only<fault, dim_already_in_tensor>>,
                "slice: the tensor has a dim of the new name already; choose another name");
  static_assert(ok<only<fault, dim_is_split>>,
                "slice: needs the whole dim, and it is split; whole<dim> it, or split another");
  static_assert(ok<only<fault, dim_has_halo>>,
                "slice: the blocks of the dim carry halos; slice it before halo_exchange");
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    const index_t n = detail::extent_given(to);
    return detail::apply_strided<From, To>("slice", x, {begin, step, 0, 1, n}, n);
  }
}
template <Dim From, Dim To, Operand X>
constexpr auto slice(const X& x, index_t begin, const To& to = {}) {
  return dimesh::slice<From, To>(x, begin, 1, to);
}
/// Elements begin, begin + step, ... before end (behind it, where step is negative) of dim D, whose
/// extent is given at run time. Shapes: D has fewer elements. Local.
template <Dim D, Operand X>
constexpr auto slice(const X& x, index_t begin, index_t end, index_t step = 1) {
  using fault = detail::open_dim_fault<D, detail::fault_of<detail::strided_rule<D, D>, X>>;
  static_assert(ok<only<fault, extent_is_static>>,
                "slice: the dim's extent is part of its type; name the dim of the result: "
                "slice<dim, part>(x, begin)");
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "slice: the tensor lacks the dim to be sliced; name one of its dims");
  static_assert(ok<only<fault, dim_is_split>>,
                "slice: needs the whole dim, and it is split; whole<dim> it, or split another");
  static_assert(ok<only<fault, dim_has_halo>>,
                "slice: the blocks of the dim carry halos; slice it before halo_exchange");
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    const index_t n = detail::steps_between(begin, end, step);
    return detail::apply_strided<D, D>("slice", x, {begin, step, 0, 1, n}, n);
  }
}

/// The elements of dim From with `before` others before them, and as many behind as To has room
/// for. Shapes: [.., From, ..] -> [.., To, ..]. Local. Throws dimesh::error where To is too short.
template <Dim From, Dim To, Operand X>
constexpr auto pad(const X& x, index_t before, const To& to = {}) {
  using fault = detail::fault_of<detail::strided_rule<From, To>, X>;
  detail::assert_padded<fault>();
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    const index_t n = x.template extent<From>(), room = detail::extent_given(to);
    if (before < 0 || before + n > room)
      (detail::words() << "pad: " << n << " elements of dim '" << detail::name_of<From>()
                       << "' behind " << before << " others do not fit in '"
                       << detail::name_of<To>() << "', which has " << room)
          .raise();
    return detail::apply_strided<From, To>("pad", x, {0, 1, before, 1, n}, room);
  }
}
/// The elements of dim D, whose extent is given at run time, with `before` others before them and
/// `behind` after them, which are `value`. Local. Throws dimesh::error for a value that whole
/// elements do not hold.
template <Dim D, Operand X, class N>
  requires std::is_convertible_v<N, double>
constexpr auto pad(const X& x, index_t before, index_t behind, N value) {
  using rule = detail::beside_number<detail::strided_rule<D, D>>;
  using fault = detail::open_dim_fault<D, detail::fault_of<rule, X>>;
  static_assert(
      ok<only<fault, partial_meets_scalar>>,
      "pad: every rank would add the value to a sum yet to be made; complete it first, or "
      "pad with zeros");
  detail::assert_padded<fault>();
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else
    return detail::padded<D, rule>(x, before, behind,
                                   detail::as_element<value_of<X>>("pad", value));
}
/// The same with zeros.
template <Dim D, Operand X> constexpr auto pad(const X& x, index_t before, index_t behind) {
  using rule = detail::strided_rule<D, D>;
  using fault = detail::open_dim_fault<D, detail::fault_of<rule, X>>;
  detail::assert_padded<fault>();
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else
    return detail::padded<D, rule>(x, before, behind, value_of<X>{});
}

/// The elements of dim D in reverse order. Shapes stay. Local.
template <Dim D, Operand X> constexpr auto flip(const X& x) {
  using fault = detail::fault_of<detail::strided_rule<D, D>, X>;
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "flip: the tensor lacks the dim to be reversed; name one of its dims");
  static_assert(ok<only<fault, dim_is_split>>,
                "flip: needs the whole dim, and it is split; whole<dim> it, or split another");
  static_assert(ok<only<fault, dim_has_halo>>,
                "flip: the blocks of the dim carry halos; flip it before halo_exchange");
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    const index_t n = x.template extent<D>();
    return detail::apply_strided<D, D>("flip", x, {n - 1, -1, 0, 1, n}, n);
  }
}

namespace detail {
/// Rule of one element of D, which is whole: the other dims.
template <class D> struct pick_rule {
  using named = list<D>;
  template <class First> struct dims : without_dim<D, First> {};
  static constexpr outcome of(rule_operands x, dim_list out) {
    const outcome whole = strided_rule<D, D>::of(x, out);
    return whole.ok() ? allowed(table_over_dims(x[0].layout, x[0].dims(), out)) : whole;
  }
};
}  // namespace detail

/// What x is at element `at` of dim D. Shapes: [.., D, ..] -> without D. Local. Throws
/// dimesh::error where D has no such element.
template <Dim D, Operand X> constexpr auto pick(const X& x, index_t at) {
  using rule = detail::pick_rule<D>;
  using fault = detail::fault_of<rule, X>;
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "pick: the tensor lacks the dim to be picked from; name one of its dims");
  static_assert(ok<only<fault, dim_is_split>>,
                "pick: needs the whole dim, and it is split; whole<dim> it, or split another");
  static_assert(ok<only<fault, dim_has_halo>>,
                "pick: the blocks of the dim carry halos; pick before halo_exchange");
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    const detail::strided one{at, 1, 0, 1, 1};
    detail::require_strided("pick", one, detail::name_of<D>(), x.template extent<D>());
    return detail::apply_rule<rule, value_of<X>>(
        detail::strided_op<value_of<X>>{one, &detail::facts_of_dim<D>, nullptr, 1, {}, "pick"}, x);
  }
}

}  // namespace dimesh
