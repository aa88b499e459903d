// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What are the elements along a dim, joined one after another? Running sums, products, extremes,
// any associative function, and the linear recurrence h = a h + b. In time linear in the elements.
// Local along a dim that is whole; forms that are named _exscan go over the ranks that split it.
//
//   cumsum<time>(x)                         x[0], x[0] + x[1], ..., like x
//   cumsum<time>(x, {.exclusive = true})    0, x[0], x[0] + x[1], ...
//   cumsum<time>(x, {.reverse = true})      ..., x[n-2] + x[n-1], x[n-1]
//   cumsum_exscan<time>(x[time/rows])       the same along a split dim; one MPI_Exscan over rows
//   scan<time>(f, 1.0, x)                   f(f(f(1, x[0]), x[1]), x[2]) ...
//   linear_recurrence<time>(a, b)           h[t] = a[t] h[t-1] + b[t], from 0
//
// An _exscan joins one element for each place of the other dims with those of other ranks, and
// passes over the operand once more. For a recurrence and for the gradients of all but sums it is
// three numbers: what a block does to h, a long product in two of them.
// Where the dim is whole it is the local one.
#pragma once

#include "dimesh/op/cast.hpp"
#include "dimesh/op/parts/element_operators.hpp"
#include "dimesh/op/parts/scan_op.hpp"
#include "dimesh/op/permute.hpp"
#include "dimesh/op/refusals/missing_header.hpp"
#include "dimesh/op/refusals/misuse_of_scan.hpp"

namespace dimesh {

namespace detail {

template <class... A> inline constexpr bool is_included<op_header::scan, A...> = true;

/// What is wrong with a scan of X... along D; Whole: a rank must hold all of it.
template <class D, bool Whole, bool Addends, class... X>
using scan_fault = fault_of<scan_rule<D, Whole, Addends>, X...>;
/// Of the greatest or smallest so far.
template <class D, bool Whole>
using extreme_scan_rule = of_real_elements<scan_rule<D, Whole, false>>;
template <class D, bool Whole, class Join>
using scan_rule_by =
    std::conditional_t<std::is_same_v<Join, local::greatest> || std::is_same_v<Join, local::least>,
                       extreme_scan_rule<D, Whole>,
                       scan_rule<D, Whole, std::is_same_v<Join, local::plus>>>;

template <class Fault> constexpr void assert_scan() {
  static_assert(ok<only<Fault, dim_is_split>>,
                "cumsum, cumprod, cummax, cummin, scan, linear_recurrence: the dim is split; go "
                "over the ranks with cumsum_exscan and so on, or gather it with whole<dim>");
  static_assert(ok<only<Fault, dim_not_in_tensor>>,
                "cumsum, cumprod, cummax, cummin, scan, linear_recurrence: a tensor lacks this "
                "dim; name one of its own, and let both operands of a recurrence have the same");
  static_assert(ok<only<Fault, partial_operand>>,
                "cumprod, cummax, cummin, scan, linear_recurrence: an operand is a sum yet to be "
                "made (of a cumsum: an extreme); complete it first");
  static_assert(ok<only<Fault, dim_has_halo>>,
                "cumsum, cumprod, cummax, cummin, scan, linear_recurrence: blocks of this dim "
                "carry a halo, which would count twice; take the tensor without it");
  static_assert(ok<only<Fault, element_is_complex>>,
                "cummax, cummin: complex numbers have no order; take real(x) or norm2(x) first");
}

/// Elements that only store are joined in float, and the results rounded once each; truths are
/// counted.
template <class T>
using scanned_value = std::conditional_t<std::is_same_v<T, bool>, index_t,
                                         std::conditional_t<is_storage_only<T>, computed<T>, T>>;
template <class Rule, class Op, class X> constexpr auto scanned_by(const Op& op, const X& x) {
  using T = value_of<X>;
  if constexpr (std::is_same_v<T, bool>)
    return apply_rule<Rule, index_t>(op, cast<index_t>(x));
  else if constexpr (is_storage_only<T>)
    return cast<T>(apply_rule<Rule, computed<T>>(op, cast<computed<T>>(x)));
  else
    return apply_rule<Rule, T>(op, x);
}

/// What is done to elements; nothing is asked of those that a function of the user's joins.
template <class Join, class X> struct join_lack {
  using type = no_fault;
};
template <class X> struct join_lack<local::plus, X> : lack<element_use::sums, X> {};
template <class X> struct join_lack<local::times, X> : lack<element_use::products, X> {};
template <class X> struct join_lack<local::greatest, X> : lack<element_use::known_order, X> {};
template <class X> struct join_lack<local::least, X> : lack<element_use::known_order, X> {};

template <class D, bool Whole, class Join, class X>
constexpr auto folded(std::string_view call, const Join& by, const X& x, const scan_options& o) {
  using rule = scan_rule_by<D, Whole, Join>;
  using found = fault_of<rule, X>;
  using lacking = std::conditional_t<ok<found>, typename join_lack<Join, X>::type, no_fault>;
  static_assert(
      ok<lacking>,
      "cumsum, cumprod, cummax, cummin: elements of this type have no +, no *, or no order "
      "that is known; map them to numbers, or scan<dim>(f, first, x)");
  if constexpr (!ok<found> || !ok<lacking> || is_poison<X>)
    return poison{};
  else
    return scanned_by<rule>(fold_scan_op<Join, scanned_value<value_of<X>>>(
                                by, o, index_of<D, typename spec_of<X>::dims>, call),
                            x);
}

/// Would results R lose something as elements T? (Sums of short integers are ints, and come back.)
template <class R, class T>
inline constexpr bool is_cut = [] {
  using given = element_traits<R>;
  using kept = element_traits<T>;
  if constexpr (given::is_complex != kept::is_complex)
    return given::is_complex;
  else if constexpr (given::is_real && kept::is_integer)
    return true;
  else
    return sizeof(R) > (kept::is_integer && sizeof(T) < sizeof(int) ? sizeof(int) : sizeof(T));
}();

/// What is wrong with a function of two elements of X.
template <class F, class X> struct join_function_fault {
  using T = computed<value_of<X>>;
  using R = decltype(ask<F>()(std::declval<T>(), std::declval<T>()));
  using given = element_given<X, X>;
  using dual = decltype(ask<F>()(std::declval<given>(), std::declval<given>()));
  using called = typename map_function_fault<R, dual, F, X, X>::type;
  static constexpr auto find() {
    if constexpr (!ok<called>)
      return tag<called>{};
    else if constexpr (is_cut<std::decay_t<R>, scanned_value<value_of<X>>>)
      return tag<elements_differ<value_of<X>, std::decay_t<R>>>{};
    else
      return tag<no_fault>{};
  }
  using type = typename decltype(find())::type;
};
template <class F, class X> using scan_function_fault = unless_poison<X, join_function_fault<F, X>>;

template <class D, bool Whole, class F, class X>
constexpr auto scanned(std::string_view call, const F& f, double first, const X& x,
                       const scan_options& o) {
  using fault = scan_function_fault<F, X>;
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    using T = scanned_value<value_of<X>>;
    return folded<D, Whole>(call, local::joined_with<F, T>{f, static_cast<T>(first)}, x, o);
  }
}

/// The faults of operands that are both scanned.
template <class Fault> constexpr void assert_recurrence() {
  using apart = only<Fault, dim_split_in_one_operand_only, dim_split_differently,
                     dims_share_mesh_axis, meshes_differ>;
  static_assert(ok<apart>,
                "linear_recurrence: the operands lie on the ranks differently; relayout one of "
                "them to the other's layout");
  static_assert(ok<only_placed<Fault>>,
                "linear_recurrence: the operands live on different ranks of this axis; place<axis, "
                "k> what all ranks hold, or send<axis, k> what lives elsewhere");
  static_assert(ok<only<Fault, elements_differ>>,
                "linear_recurrence: the operands have elements of several types; cast one");
}
template <class A, class B, bool = is_poison<A> || is_poison<B>> struct recurrence_elements {
  using fault = no_fault;
};
template <class A, class B> struct recurrence_elements<A, B, false> {
  using fault = std::conditional_t<std::is_same_v<value_of<A>, value_of<B>>, no_fault,
                                   elements_differ<value_of<A>, value_of<B>>>;
};

template <class D, bool Whole, class A, class B>
using recurrence_fault = typename first_of<typename recurrence_elements<A, B>::fault,
                                           scan_fault<D, Whole, false, A, B>>::type;

template <class D, bool Whole, class A, class B>
constexpr auto recurred(std::string_view call, const A& a, const B& b, const scan_options& o) {
  using rule = scan_rule<D, Whole, false>;
  if constexpr (!ok<recurrence_fault<D, Whole, A, B>> || is_poison<A> || is_poison<B>) {
    return poison{};
  } else if constexpr (is_storage_only<value_of<A>>) {
    using T = value_of<A>;
    return cast<T>(recurred<D, Whole>(call, cast<computed<T>>(a), cast<computed<T>>(b), o));
  } else {
    using dims = typename spec_of<A>::dims;
    return apply_rule<rule, value_of<A>>(recurrence_op<value_of<A>>(o, index_of<D, dims>, call), a,
                                         permuted<dims>(b));
  }
}

}  // namespace detail

/// Sums of the elements along D up to each (or before it, or from the other end). Shapes and layout
/// stay, addends stay addends; bool is counted in index_t. Local.
template <Dim D, Operand X> constexpr auto cumsum(const X& x, scan_options o = {}) {
  detail::assert_scan<detail::scan_fault<D, true, true, X>>();
  return detail::folded<D, true>("cumsum", local::plus{}, x, o);
}
/// The same where ranks may split D: one MPI_Exscan over the axes that do.
template <Dim D, Operand X> constexpr auto cumsum_exscan(const X& x, scan_options o = {}) {
  detail::assert_scan<detail::scan_fault<D, false, true, X>>();
  return detail::folded<D, false>("cumsum_exscan", local::plus{}, x, o);
}

/// Products of the elements along D up to each. Gradients are right where elements are 0: nothing
/// is divided. Shapes and layout stay. Local.
template <Dim D, Operand X> constexpr auto cumprod(const X& x, scan_options o = {}) {
  detail::assert_scan<detail::scan_fault<D, true, false, X>>();
  return detail::folded<D, true>("cumprod", local::times{}, x, o);
}
/// The same where ranks may split D: one MPI_Exscan over the axes that do, two on the way back.
template <Dim D, Operand X> constexpr auto cumprod_exscan(const X& x, scan_options o = {}) {
  detail::assert_scan<detail::scan_fault<D, false, false, X>>();
  return detail::folded<D, false>("cumprod_exscan", local::times{}, x, o);
}

/// The greatest element along D up to each; over none, the lowest value (-inf). The gradient goes
/// to the first of equals in the order of the scan. Shapes and layout stay. Local.
template <Dim D, Operand X> constexpr auto cummax(const X& x, scan_options o = {}) {
  detail::assert_scan<detail::fault_of<detail::extreme_scan_rule<D, true>, X>>();
  return detail::folded<D, true>("cummax", local::greatest{}, x, o);
}
/// The same where ranks may split D: one MPI_Exscan over the axes that do, two on the way back.
template <Dim D, Operand X> constexpr auto cummax_exscan(const X& x, scan_options o = {}) {
  detail::assert_scan<detail::fault_of<detail::extreme_scan_rule<D, false>, X>>();
  return detail::folded<D, false>("cummax_exscan", local::greatest{}, x, o);
}
/// The smallest likewise; over none, the highest value (inf). Local.
template <Dim D, Operand X> constexpr auto cummin(const X& x, scan_options o = {}) {
  detail::assert_scan<detail::fault_of<detail::extreme_scan_rule<D, true>, X>>();
  return detail::folded<D, true>("cummin", local::least{}, x, o);
}
/// The same where ranks may split D: one MPI_Exscan over the axes that do, two on the way back.
template <Dim D, Operand X> constexpr auto cummin_exscan(const X& x, scan_options o = {}) {
  detail::assert_scan<detail::fault_of<detail::extreme_scan_rule<D, false>, X>>();
  return detail::folded<D, false>("cummin_exscan", local::least{}, x, o);
}

/// f(.. f(f(first, x[0]), x[1]) .., x[t]) along D, or without x[t]. f takes two elements (dual
/// numbers, if gradients are wanted) and must be associative, and `first` its identity: ranks join
/// blocks where D is split. Shapes and layout stay. Local.
template <Dim D, class F, Operand X>
  requires(!Operand<F>)
constexpr auto scan(const F& f, double first, const X& x, scan_options o = {}) {
  detail::assert_scan<detail::scan_fault<D, true, false, X>>();
  detail::assert_kernel_function<F>();
  using fault = detail::scan_function_fault<F, X>;
  static_assert(ok<only<fault, function_not_callable_with, function_not_const, parameter_not_const,
                        function_gives_no_number, function_takes_plain_only>>,
                "scan: the function cannot join elements; let it take two, by value and as auto "
                "(for gradients they come as dual numbers), return one, and be const");
  static_assert(ok<only<fault, elements_differ>>,
                "scan: the function gives another type than the elements, which would cut it; cast "
                "the tensor to that type first, or what the function returns to theirs");
  return detail::scanned<D, true>("scan", f, first, x, o);
}
/// The same where ranks may split D: one MPI_Exscan over the axes that do, two on the way back.
template <Dim D, class F, Operand X>
  requires(!Operand<F>)
constexpr auto scan_exscan(const F& f, double first, const X& x, scan_options o = {}) {
  detail::assert_scan<detail::scan_fault<D, false, false, X>>();
  detail::assert_kernel_function<F>();
  using fault = detail::scan_function_fault<F, X>;
  static_assert(ok<only<fault, function_not_callable_with, function_not_const, parameter_not_const,
                        function_gives_no_number, function_takes_plain_only>>,
                "scan: the function cannot join elements; let it take two, by value and as auto "
                "(for gradients they come as dual numbers), return one, and be const");
  static_assert(ok<only<fault, elements_differ>>,
                "scan: the function gives another type than the elements, which would cut it; cast "
                "the tensor to that type first, or what the function returns to theirs");
  return detail::scanned<D, false>("scan_exscan", f, first, x, o);
}

/// h[t] = a[t] h[t-1] + b[t] along D from h = 0 (or h[t-1], or from the other end): the layer of
/// state-space models (Gu and Dao 2023, section 3.2). a and b have the same dims, in any order;
/// shapes and layout are those of a. Local.
template <Dim D, Operand A, Operand B>
constexpr auto linear_recurrence(const A& a, const B& b, scan_options o = {}) {
  using fault = detail::recurrence_fault<D, true, A, B>;
  detail::assert_scan<fault>();
  detail::assert_recurrence<fault>();
  return detail::recurred<D, true>("linear_recurrence", a, b, o);
}
/// The same where ranks may split D: one MPI_Exscan over the axes that do (what a block does to h),
/// up to two on the way back. Blelloch 1990, section 1.4.
template <Dim D, Operand A, Operand B>
constexpr auto linear_recurrence_exscan(const A& a, const B& b, scan_options o = {}) {
  using fault = detail::recurrence_fault<D, false, A, B>;
  detail::assert_scan<fault>();
  detail::assert_recurrence<fault>();
  return detail::recurred<D, false>("linear_recurrence_exscan", a, b, o);
}

}  // namespace dimesh
