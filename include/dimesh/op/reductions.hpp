// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What else is left of a tensor along some dims? Products, variances, norms, and sums that do not
// lose digits.
//
//   prod<label>(x[batch/rows, label])          -> [batch/rows]; local
//   prod_all_reduce<batch>(x[batch/rows])      -> a tensor without dims, on all ranks along rows
//   var<batch>(x[batch/rows, label])           -> [label]; one pass over memory
//   l2_norm(x)                                 -> a tensor without dims
//   compensated_sum<batch>(x[batch/rows])      -> partial over rows, as sum
//
// var, stddev and the norms complete what they sum, as layer_norm does: they communicate where a
// dim that they join is split, and only there.
#pragma once

#include "dimesh/op/cast.hpp"
#include "dimesh/op/complete.hpp"
#include "dimesh/op/complex.hpp"
#include "dimesh/op/extreme_all_reduce.hpp"
#include "dimesh/op/functions.hpp"
#include "dimesh/op/parts/element_operators.hpp"
#include "dimesh/op/parts/reduction_ops.hpp"
#include "dimesh/op/refusals/missing_header.hpp"
#include "dimesh/op/refusals/misuse_of_reductions.hpp"

namespace dimesh {

namespace detail {

template <class... A> inline constexpr bool is_included<op_header::reductions, A...> = true;

// ---- products -----------------------------------------------------------------------------------

/// A rank must hold all of D.
template <class D> struct prod_rule {
  using named = list<D>;
  template <class First> struct dims : remaining<First, named> {};
  static constexpr outcome of(rule_operands x, dim_list out) {
    const outcome o = reduce_rule_of(x[0], dims_in<named>, out, use::partial, false);
    if (!o.ok()) return o;
    const dim_facts* const d = &facts_of_dim<D>;
    const int axis = first_axis(x[0].layout.axes_of(x[0].place_of(d)));
    return axis < 0 ? o : blamed(fault_code::dim_is_split, d, axis);
  }
};
/// Ranks that split D multiply what they have of it.
template <class D> struct prod_all_reduce_rule : var_rule<D> {
  static constexpr outcome of(rule_operands x, dim_list out) {
    const outcome o = var_rule<D>::of(x, out);
    if (!o.ok() || x[0].kind != element_kind::other) return o;
    const unsigned over = x[0].layout.axes_of(x[0].place_of(&facts_of_dim<D>));
    return over == 0 ? o : blamed_place(fault_code::element_not_summable, 0);
  }
};

/// Dim by dim, the last one first.
template <template <class> class Rule, class X>
constexpr auto prod_over(std::string_view, const X& x, list<>) {
  return x;
}
template <template <class> class Rule, class X, class D, class... More>
constexpr auto prod_over(std::string_view call, const X& x, list<D, More...>) {
  const auto v = prod_over<Rule>(call, x, list<More...>{});
  using V = std::remove_cvref_t<decltype(v)>;
  using T = value_of<V>;
  using sums = reduce_rule<use::partial, false, D>;
  const tensor_facts* const sketched = core_of(v).facts->sketched ? core_of(v).facts : nullptr;
  const prod_op<T> op{index_of<D, typename spec_of<V>::dims>,
                      sketched ? sketched : &result_facts<sums, T>(call, v), call};
  return apply_rule<Rule<D>, T>(op, v);
}
/// Elements that only store are multiplied in float, and rounded once. Callers have asserted that
/// there is no fault.
template <template <class> class Rule, class X, class Dims>
constexpr auto product_of(std::string_view call, const X& x, Dims dims) {
  using T = value_of<X>;
  if constexpr (is_storage_only<T>)
    return cast<T>(prod_over<Rule>(call, cast<computed<T>>(x), dims));
  else
    return prod_over<Rule>(call, x, dims);
}

/// The first fault of a product over D... of X.
template <template <class> class Rule, class X, class Dims> struct prod_fault;
template <template <class> class Rule, class X, class... D> struct prod_fault<Rule, X, list<D...>> {
  using type = typename first_of<fault_of<reduce_rule<use::partial, false, D...>, X>,
                                 fault_of<Rule<D>, X>...>::type;
};

// ---- variances ----------------------------------------------------------------------------------

/// The type that means of T are formed in.
template <class T>
using mean_value = std::conditional_t<is_storage_only<T>, computed<T>,
                                      std::conditional_t<std::is_floating_point_v<T>, T, double>>;

/// Callers have asserted that there is no fault.
template <class X, class... D> constexpr auto var_legal(const X& x, index_t less, list<D...> dims) {
  using T = value_of<X>;
  if constexpr (!std::is_same_v<T, mean_value<T>>) {
    const auto y = var_legal(cast<mean_value<T>>(x), less, dims);
    if constexpr (is_storage_only<T>)
      return cast<T>(y);
    else
      return y;
  } else {
    using rule = var_rule<D...>;
    using sums = reduce_rule<use::partial, false, D...>;
    const tensor_facts* const sketched = core_of(x).facts->sketched ? core_of(x).facts : nullptr;
    const var_op<T> op{static_cast<double>(less),
                       sketched ? sketched : &result_facts<sums, T>(var_op<T>::call, x)};
    return apply_rules<T, rule, rule, rule>(op, x);
  }
}

template <class X, class... D> constexpr auto var_over(const X& x, index_t less, list<D...> dims) {
  if constexpr (!ok<typename over_dims_fault<false, X, D...>::type> || is_poison<X>)
    return poison{};
  else if constexpr (!ok<lack_of<element_use::numbers, X>>)
    return poison{};
  else
    return var_legal(x, less, dims);
}

/// The square root; its derivative at 0 is 0.
struct root_function {
  template <class A> KOKKOS_INLINE_FUNCTION auto operator()(const A& a) const {
    return dimesh::select(a > A(0), dimesh::sqrt(dimesh::select(a > A(0), a, A(1))), a);
  }
};
template <class X> constexpr auto root_of(std::string_view call, const X& x) {
  if constexpr (is_poison<X>)
    return poison{};
  else
    return map_called<join_kind::nonlinear>(call, root_function{}, x);
}

/// x + iy of elements T.
template <class T, class X> constexpr auto complex_sum(const X& x, const X& y) {
  return by_elements<T, embed_op<T, part::real>>(x) +
         by_elements<T, embed_op<T, part::imaginary>>(y);
}

template <class Fault> constexpr void assert_statistics() {
  static_assert(ok<only<Fault, dim_not_in_tensor>>,
                "prod, prod_all_reduce, var, stddev, l1_norm, l2_norm, max_norm, compensated_sum: "
                "the tensor lacks this dim; name its own dims");
  static_assert(ok<only<Fault, dim_repeated>>,
                "prod, prod_all_reduce, var, stddev, l1_norm, l2_norm, max_norm, compensated_sum: "
                "a dim is named twice; name it once");
  static_assert(ok<only<Fault, partial_operand>>,
                "prod, prod_all_reduce, var, stddev, l1_norm, l2_norm, max_norm: the operand is a "
                "sum yet to be made (of compensated_sum: an extreme); complete it first");
  static_assert(ok<only<Fault, dim_has_halo>>,
                "prod, prod_all_reduce, var, stddev, l1_norm, l2_norm, max_norm, compensated_sum: "
                "blocks carry a halo, which would count twice; take the tensor without it");
  static_assert(ok<only<Fault, element_is_complex>>,
                "var, stddev, l1_norm, l2_norm, max_norm: the elements are complex, and real ones "
                "are wanted; take magnitudes, sqrt(norm2(x)), or the real part");
  static_assert(ok<only<Fault, dim_is_split>>,
                "prod: the dim is split, and a rank sees its block only; take "
                "prod_all_reduce<dim>(x), or gather it with whole<dim> first");
  static_assert(
      ok<only<Fault, element_not_summable>>,
      "prod_all_reduce: ranks do not multiply elements of this type; cast the tensor first");
}
template <bool SaidAlready, class X> constexpr bool assert_prod_elements() {
  constexpr bool fits = SaidAlready || has_joined_elements<X>;
  static_assert(fits,
                "prod, prod_all_reduce: elements that are multiplied have 1, 2, 4, 8 or 16 bytes; "
                "cast the tensor first");
  using lacking =
      std::conditional_t<SaidAlready || !fits, no_fault, lack_of<element_use::products, X>>;
  static_assert(ok<lacking>,
                "prod: elements of this type have no *, or are not made of 1; map them to numbers, "
                "or give the type these");
  return fits && ok<lacking>;
}
template <class Fault, class X> constexpr void assert_numbers() {
  using lacking = std::conditional_t<ok<Fault>, lack_of<element_use::numbers, X>, no_fault>;
  static_assert(ok<lacking>,
                "var, stddev: elements of this type are no numbers; map them to numbers first");
}
/// What is wrong with these over D..., or over all dims.
template <bool Addends, class X, class... D>
using statistics_fault =
    typename over_list_fault<Addends, X, typename dims_or_all<X, list<D...>>::type>::type;

}  // namespace detail

/// The product over D..., or over all dims where none is named. Shapes: x without D... Local; D...
/// are whole. Gradients are right where elements are 0: nothing is divided. On several threads, or
/// a device, products of parts are multiplied, which may leave the type where the whole would not.
template <Dim... D, Operand X> constexpr auto prod(const X& x) {
  using dims = typename detail::dims_or_all<X, detail::list<D...>>::type;
  using fault = typename detail::prod_fault<detail::prod_rule, X, dims>::type;
  detail::assert_statistics<fault>();
  constexpr bool fits = detail::assert_prod_elements<!ok<fault>, X>();
  if constexpr (!ok<fault> || !fits || is_poison<X>)
    return poison{};
  else
    return detail::product_of<detail::prod_rule>("prod", x, dims{});
}
/// The same where ranks may split D..., on all ranks along the axes that do. Dim by dim, the last
/// one first: each that is split takes one all-reduce of what is left by then, and on the way back
/// one more and two MPI_Exscan. Name split dims first. Products of blocks are multiplied: that of
/// 1e-200, 1e10 and, on another rank, 1e200, 1e200 is infinite, where one rank finds 1e210.
template <Dim... D, Operand X> constexpr auto prod_all_reduce(const X& x) {
  using dims = typename detail::dims_or_all<X, detail::list<D...>>::type;
  using fault = typename detail::prod_fault<detail::prod_all_reduce_rule, X, dims>::type;
  detail::assert_statistics<fault>();
  constexpr bool fits = detail::assert_prod_elements<!ok<fault>, X>();
  if constexpr (!ok<fault> || !fits || is_poison<X>)
    return poison{};
  else
    return detail::product_of<detail::prod_all_reduce_rule>("prod_all_reduce", x, dims{});
}

/// The sum over D... with the digits that plain sums lose (Neumaier 1974): error eps |sum| +
/// O(n eps^2) sum of |x|; of complex elements in both parts. Shapes, layout and gradient as of sum:
/// local, each block's sum is one addend.
template <Dim... D, Operand X> constexpr auto compensated_sum(const X& x) {
  using fault = detail::statistics_fault<true, X, D...>;
  detail::assert_statistics<fault>();
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else
    return [&]<class... E>(detail::list<E...>) {
      using T = value_of<X>;
      using rule = detail::reduce_rule<use::partial, true, E...>;
      if constexpr (std::is_floating_point_v<T>)
        return detail::apply_rule<rule, T>(detail::compensated_sum_op<T>{}, x);
      else if constexpr (is_complex<T>)
        return detail::complex_sum<T>(dimesh::compensated_sum<E...>(dimesh::real(x)),
                                      dimesh::compensated_sum<E...>(dimesh::imag(x)));
      else  // in float, or without loss
        return dimesh::sum<E...>(x);
    }(typename detail::dims_or_all<X, detail::list<D...>>::type{});
}

/// The mean square deviation from the mean over D..., or over all dims: divided by their number n
/// less `less` (0: of a population; 1: an estimate from a sample; NaN where nothing is left).
/// Shapes: x without D... Integers give double. One pass over memory; rounding as of `sum`, but
/// relative, wherever the mean is. Where D... are split two all-reduces, of one and of two numbers
/// a result; on the way back one, of one number.
template <Dim... D, Operand X> constexpr auto var(const X& x, index_t less = 0) {
  using fault = detail::statistics_fault<false, X, D...>;
  detail::assert_statistics<fault>();
  detail::assert_numbers<fault, X>();
  return detail::var_over(x, less, typename detail::dims_or_all<X, detail::list<D...>>::type{});
}
/// The square root of the variance; its gradient is 0 where that is 0.
template <Dim... D, Operand X> constexpr auto stddev(const X& x, index_t less = 0) {
  using fault = detail::statistics_fault<false, X, D...>;
  detail::assert_statistics<fault>();
  detail::assert_numbers<fault, X>();
  return detail::root_of(
      "stddev",
      detail::var_over(x, less, typename detail::dims_or_all<X, detail::list<D...>>::type{}));
}

/// The sum of magnitudes over D..., or over all dims. Shapes: x without D... Integers give double.
/// One all-reduce where D... are split.
template <Dim... D, Operand X> constexpr auto l1_norm(const X& x) {
  using fault = detail::statistics_fault<false, X, D...>;
  detail::assert_statistics<fault>();
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else if constexpr (std::is_integral_v<value_of<X>>)  // their sum may leave the type
    return dimesh::l1_norm<D...>(cast<double>(x));
  else
    return dimesh::complete(dimesh::sum<D...>(dimesh::abs(x)));
}
/// The square root of the sum of squares over D..., or over all dims; its gradient is 0 where it is
/// 0. Shapes: x without D... Integers give double. One all-reduce where D... are split. Infinite
/// where squares are.
template <Dim... D, Operand X> constexpr auto l2_norm(const X& x) {
  using fault = detail::statistics_fault<false, X, D...>;
  detail::assert_statistics<fault>();
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else if constexpr (std::is_integral_v<value_of<X>>)  // their squares may leave the type
    return dimesh::l2_norm<D...>(cast<double>(x));
  else
    return detail::root_of("l2_norm", dimesh::complete(dimesh::sum<D...>(dimesh::square(x))));
}
/// The greatest magnitude over D..., or over all dims. Shapes: x without D... One all-reduce where
/// D... are split; gradients as of max_all_reduce.
template <Dim... D, Operand X> constexpr auto max_norm(const X& x) {
  using fault = detail::statistics_fault<false, X, D...>;
  detail::assert_statistics<fault>();
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else
    return dimesh::max_all_reduce<D...>(dimesh::abs(x));
}

}  // namespace dimesh
