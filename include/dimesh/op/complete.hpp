// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a program say "make this whole" under every layout? complete sums what is partial, if
// anything is: the one text then serves every layout, and compiles to nothing where no sum arises.
//
//   complete(tensor<T, layout<pod, partial<rows>, partial<cols>>, hidden>)  -> one all-reduce
//   complete(tensor<T, layout<pod, split<hidden, rows>>, hidden>)           -> its argument
#pragma once

#include "dimesh/op/all_reduce.hpp"
#include "dimesh/op/parts/start.hpp"

namespace dimesh {

template <Operand X> constexpr auto complete(const X& x);

namespace detail {
/// What is partial in the way Kind no longer is.
template <use Kind> struct complete_rule : keeps_dims {
  static constexpr outcome of(rule_operands x, dim_list) {
    const table& t = x[0].layout;
    const unsigned axes = t.mask(Kind);
    const unsigned ordered = t.mask(use::partial_max) | t.mask(use::partial_min);
    if (Kind == use::partial &&  // it comes first
        ((axes != 0 && !is_summable(x[0].kind)) || (ordered != 0 && !is_ordered(x[0].kind))))
      return blamed_place(fault_code::element_not_summable, 0);
    return allowed(tidied(x[0], without_axes(t, axes)));
  }
};
template <use Kind, class X> constexpr auto complete_kind(const X& x) {
  if constexpr (is_tracked<X> && Kind != use::partial) {
    return x;  // max and min take no recorded tensors
  } else if constexpr (is_probe<X>) {
    const unsigned axes = core_of(x).layout().mask(Kind);
    if (sketch_value* const s = core_of(x).facts->sketched; s != nullptr) {
      X y(x);
      core_of(y).facts = &s->in->complete(*s).facts;
      return y;
    }
    return axes == 0 ? x : all_reduced<complete_rule<Kind>, Kind>(x, axes);
  } else {
    constexpr unsigned axes = spec_of<X>::table.mask(Kind);
    if constexpr (axes == 0)
      return x;
    else
      return all_reduced<complete_rule<Kind>, Kind>(x, axes);
  }
}
/// The kinds of which something may be yet to be joined, one after the other.
template <use First, use... Rest, class X> constexpr auto complete_kinds(const X& x) {
  if constexpr (is_probe<X> && sizeof...(Rest) > 0) {
    return complete_kinds<Rest...>(complete_kind<First>(x));
  } else if constexpr (is_probe<X>) {
    return complete_kind<First>(x);
  } else {
    constexpr const table& t = spec_of<X>::table;
    if constexpr (((t.mask(Rest) == 0) && ...))
      return complete_kind<First>(x);
    else if constexpr (t.mask(First) == 0)
      return complete_kinds<Rest...>(x);
    else
      return complete_kinds<Rest...>(complete_kind<First>(x));
  }
}
/// Something is yet to be joined, for all that the type says.
template <class X> inline constexpr bool may_be_partial = is_probe<X>;
template <class X>
  requires(!is_poison<X> && !is_probe<X>)
inline constexpr bool may_be_partial<X> = spec_of<X>::table.any_partial();

/// Maxima and minima at most.
template <class X> inline constexpr bool holds_no_addends = false;
template <class X>
  requires(!is_poison<X> && !is_probe<X>)
inline constexpr bool holds_no_addends<X> = spec_of<X>::table.mask(use::partial) == 0;

/// Begins the call over all axes along which x is partial in the way Kind.
template <use Kind, class X> constexpr auto start_kind(const X& x) {
  return all_reduced<complete_rule<Kind>, Kind>(starting<X>{x}, core_of(x).layout().mask(Kind));
}
/// Begins the last of the calls that complete makes; those before it are made at once.
template <class X> constexpr auto start_completed(const starting<X>& s) {
  constexpr use sum = use::partial, max = use::partial_max, min = use::partial_min;
  constexpr bool has_order = !is_tracked<X>;  // max and min take no recorded tensors
  const X& x = s.of;
  if constexpr (is_probe<X>) {
    if (core_of(x).is_shape)
      return started_on_shape(core_of(x).count, [&x] { return complete(x); });
    if constexpr (has_order) {
      const table& t = core_of(x).layout();
      if (t.mask(min) != 0) return start_kind<min>(complete_kind<max>(complete_kind<sum>(x)));
      if (t.mask(max) != 0) return start_kind<max>(complete_kind<sum>(x));
    }
    return core_of(x).layout().mask(sum) != 0 ? start_kind<sum>(x) : arrived(s);
  } else {
    constexpr const table& t = spec_of<X>::table;
    if constexpr (has_order && t.mask(min) != 0)
      return start_kind<min>(complete_kind<max>(complete_kind<sum>(x)));
    else if constexpr (has_order && t.mask(max) != 0)
      return start_kind<max>(complete_kind<sum>(x));
    else if constexpr (t.mask(sum) != 0)
      return start_kind<sum>(x);
    else
      return arrived(s);
  }
}

}  // namespace detail

/// The value of x: sums over all axes along which it is partial in one call (and likewise maxima,
/// minima). Shapes stay; what is not partial is returned as it is, sharing its memory.
template <Operand X> constexpr auto complete(const X& x) {
  using fault = typename detail::operand_fault<!detail::may_be_partial<X> || detail::is_probe<X>>::
      template type<detail::complete_rule<use::partial>, X>;
  using element = only<fault, element_not_summable>;
  static_assert(ok<element> || detail::holds_no_addends<X>,
                "complete: ranks cannot add up elements of this type; cast the tensor first");
  static_assert(ok<element> || !detail::holds_no_addends<X>,
                "complete: ranks cannot compare elements of this type; cast the tensor first");
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else if constexpr (detail::is_starting<X>)
    return detail::start_completed(x);
  else if constexpr (!detail::may_be_partial<X>)
    return x;
  else
    return detail::complete_kinds<use::partial, use::partial_max, use::partial_min>(x);
}

/// All axes are summed over: none is named.
template <class... A, Operand X>
  requires(sizeof...(A) > 0 && ((Axis<A> || Dim<A>) && ...))
constexpr poison complete(const X&) {
  static_assert(ok<std::conditional_t<is_poison<X>, no_fault, wrong_arguments<A...>>>,
                "complete: sums over all axes along which x is partial, and none is named: "
                "complete(x); over some, all_reduce<rows>(x)");
  return {};
}

}  // namespace dimesh
