// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is left of a tensor when dims are summed away, or only the greatest element kept? Each rank
// reduces its own block: where a summed dim is split, that leaves addends, a sum yet to be made.
//
//   sum<hidden>(tensor[batch/rows, hidden/cols])  -> tensor[batch/rows], partial over cols
//   max<hidden>(tensor[batch/rows, hidden/cols])  -> tensor[batch/rows], partial_max over cols
//   sum(x), mean(x)                               -> over all dims: a tensor without dims
#pragma once

#include "dimesh/detail/stated_type.hpp"
#include "dimesh/local/reduce_over.hpp"
#include "dimesh/op/arithmetic.hpp"
#include "dimesh/op/parts/at_extreme.hpp"
#include "dimesh/op/parts/expand.hpp"
#include "dimesh/op/parts/reduce_rule.hpp"
#ifdef DIMESH_CHECKED
#include "dimesh/op/parts/sums_held.hpp"
#endif

namespace dimesh {

namespace detail {

/// Truths are counted, in whole numbers; As: the type that is asked for.
template <class As, class T>
using sum_value = std::conditional_t<!std::is_void_v<As>, As,
                                     std::conditional_t<std::is_same_v<T, bool>, index_t, T>>;

/// y = the elements of x joined over the dims that y lacks.
template <class R, class T, class Join> void reduce_blocks(Join join, results y, operands x) {
  local::map_reduce_over(join, loops_over(loop_dims(x[0]), y[0], x[0]), local::detail::itself{},
                         y[0].data<R>(), x[0].data<const T>());
}

/// Can a kernel add up elements T in a type R? Asked of types of a user's own.
template <class R, class T> inline constexpr bool adds_up = true;
template <class R, class T>
  requires(!are_known<R, T>)
inline constexpr bool adds_up<R, T> = requires(R sum, T x) {
  R(0);
  R{};
  static_cast<R>(x);
  R(sum + sum);
};

/// Elements R of elements T.
template <class R, class T> struct sum_op {
  static constexpr bool takes_complex = true;

  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(x[0].elements(), x[0].bytes() + y[0].bytes());
  }
  void fill(results y, operands x) const {
#ifdef DIMESH_CHECKED
    if constexpr (std::is_integral_v<R> && hosts_only)
      require_sums_held<R, T>(y[0], x[0], loops_over(loop_dims(x[0]), y[0], x[0]));
#endif
    reduce_blocks<R, T>(local::plus{}, y, x);
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const { to.give(0, expand_op<T, R>{}, to.ybar); }
};

/// Elements T.
template <class T, class Join> struct extreme_op {
  static constexpr std::string_view call = std::is_same_v<Join, local::greatest> ? "max" : "min";

  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(x[0].elements(), x[0].bytes() + y[0].bytes());
  }
  void fill(results y, operands x) const { reduce_blocks<T, T>(Join{}, y, x); }
  static constexpr bool needs(int k, unsigned) { return k == 0; }
  constexpr void transpose(const auto& to) const {
    to.give(0, at_extreme_op<T, Join, true>{}, to.x(0), to.ybar);
  }
};

/// What is wrong with an operation over dims D... of x; Addends: it takes a sum yet to be made, and
/// complex elements.
template <bool Addends, class X, class Dims> struct over_list_fault;
template <bool Addends, class X, class... D> struct over_list_fault<Addends, X, list<D...>> {
  using type = fault_of<reduce_rule<Addends ? use::partial : use::partial_max, Addends, D...>, X>;
};
template <bool Addends, class X, class... D>
using over_dims_fault = over_list_fault<Addends, X, list<D...>>;

/// Kernels that join elements copy words of so many bytes. (Of a poison whatever is wrong is said.)
template <class X> inline constexpr bool has_joined_elements = true;
template <class X>
  requires(!is_poison<X>)
inline constexpr bool has_joined_elements<X> =
    local::detail::is_stageable<value_of<X>> && local::detail::is_stageable<computed<value_of<X>>>;

/// Kernels, and MPI, find the greatest of numbers alone. (Of a poison likewise.)
template <class X> inline constexpr bool has_order = true;
template <Tensor X> inline constexpr bool has_order<X> = element_traits<value_of<X>>::is_ordered;

/// The dims, or all dims of X if there are none.
template <class X, class Dims> struct dims_or_all {
  using type = Dims;
};
template <class X>
  requires(!is_poison<X>)
struct dims_or_all<X, list<>> {
  using type = typename spec_of<X>::dims;
};

/// Callers have asserted that there is no fault.
template <class As = void, class X, class... D> constexpr auto sum_list(const X& x, list<D...>) {
  using rule = reduce_rule<use::partial, true, D...>;
  if constexpr (!ok<fault_of<rule, X>> || is_poison<X>) {
    return poison{};
  } else {
    using R = sum_value<As, value_of<X>>;
    constexpr bool adds = adds_up<R, value_of<X>>;
    static_assert(
        ok<std::conditional_t<adds, no_fault, element_not_summable<value_of<X>>>>,
        "sum: elements of this type have no +, or are not made of 0; map them to numbers, or "
        "give the type these operators");
    if constexpr (adds)
      return apply_rule<rule, R>(sum_op<R, value_of<X>>{}, x);
    else
      return poison{};
  }
}
/// Each rank would find an extreme of its own, and the cotangent would not know whose it is.
template <class X, class... D> inline constexpr bool is_recorded_and_split = false;
template <class X, class... D>
  requires(is_tracked<X> && !is_probe<X>)
inline constexpr bool is_recorded_and_split<X, D...> = (is_split<spec_of<X>, D> || ...);
/// Of a recorded probe the run says so.
template <use Kind, class... D> struct recorded_extreme_rule : reduce_rule<Kind, false, D...> {
  static constexpr outcome of(rule_operands x, dim_list out) {
    const table& t = x[0].layout;
    for (const dim_facts* d : {&facts_of_dim<D>...})
      if (const int at = x[0].place_of(d); at >= 0 && t.axes_of(at) != 0)
        return blamed(fault_code::dim_is_split, d, first_axis(t.axes_of(at)));
    return reduce_rule<Kind, false, D...>::of(x, out);
  }
};
template <class X, class Dims> struct gradient_stops;
template <class X, class... D> struct gradient_stops<X, list<D...>> {
  static constexpr bool value = is_recorded_and_split<X, D...>;
};
template <use Kind, class X, class... D> constexpr auto extreme_list(const X& x, list<D...>) {
  using rule = std::conditional_t<is_tracked<X> && is_probe<X>, recorded_extreme_rule<Kind, D...>,
                                  reduce_rule<Kind, false, D...>>;
  if constexpr (!ok<fault_of<rule, X>> || is_recorded_and_split<X, D...> || is_poison<X> ||
                !has_order<X>)
    return poison{};
  else
    return apply_rule<rule, value_of<X>>(
        extreme_op<value_of<X>,
                   std::conditional_t<Kind == use::partial_max, local::greatest, local::least>>{},
        x);
}
template <class X, class... D> constexpr double count_list(const X& x, list<D...>) {
  if constexpr (!is_poison<X>)
    return (1.0 * ... * static_cast<double>(x.template extent<D>()));
  else
    return 1;
}

// Compiled once in dimesh::compiled.
DIMESH_INSTANCE(sum_op<float, float>, 0);
DIMESH_INSTANCE(sum_op<float, float>, 1);
DIMESH_INSTANCE(sum_op<double, double>, 0);
DIMESH_INSTANCE(sum_op<double, double>, 1);
DIMESH_INSTANCE(extreme_op<float, local::greatest>, 0);
DIMESH_INSTANCE(extreme_op<double, local::greatest>, 0);

}  // namespace detail

/// The sum over D..., or over all dims where none is named. Shapes: x without D...; bool is counted
/// in index_t. A real type before the dims is that of the result; sums of bfloat16 are formed in
/// float, whatever it is. Long sums are sums of shorter ones: the error is less than
/// eps (4096 + log2 n + n / 2^20) of the magnitudes' sum, and that mostly by far.
/// Local: partial along the axes that split D...; addends stay addends.
template <detail::DimOrReal... D, Operand X>
  requires detail::DimsAfterType<D...>
constexpr auto sum(const X& x) {
  using dims = typename detail::dims_or_all<X, typename detail::stated<D...>::dims>::type;
  using fault = typename detail::over_list_fault<true, X, dims>::type;
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "sum: the tensor lacks this dim; name its own dims");
  static_assert(ok<only<fault, dim_repeated>>, "sum: a dim is named twice; name it once");
  static_assert(ok<only<fault, partial_operand>>,
                "sum: the operand is a maximum or minimum yet to be found; complete it first");
  static_assert(
      ok<only<fault, dim_has_halo>>,
      "sum: blocks of this dim carry a halo, which would count twice; take the tensor without it");
  constexpr bool fits = !ok<fault> || detail::has_joined_elements<X>;
  static_assert(
      !ok<fault> || fits,
      "sum: elements that are added up have 1, 2, 4, 8 or 16 bytes; cast the tensor first");
  if constexpr (!fits)
    return poison{};
  else
    return detail::sum_list<typename detail::stated<D...>::type>(x, dims{});
}

namespace detail {
/// Elements of the mean of T. It is summed in what they are computed in: half might not hold it.
template <class As, class T>
using mean_elements = std::conditional_t<!std::is_void_v<As>, As,
                                         std::conditional_t<std::is_integral_v<T>, double, T>>;
}  // namespace detail

/// The sum divided by the global number of elements: partial as `sum` is. Integers give double.
template <detail::DimOrReal... D, Operand X>
  requires detail::DimsAfterType<D...>
constexpr auto mean(const X& x) {
  using dims = typename detail::dims_or_all<X, typename detail::stated<D...>::dims>::type;
  using fault = typename detail::over_list_fault<true, X, dims>::type;
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "mean: the tensor lacks this dim; name its own dims");
  static_assert(ok<only<fault, dim_repeated>>, "mean: a dim is named twice; name it once");
  static_assert(ok<only<fault, partial_operand>>,
                "mean: the operand is a maximum or minimum yet to be found; complete it first");
  static_assert(
      ok<only<fault, dim_has_halo>>,
      "mean: blocks of this dim carry a halo, which would count twice; take the tensor without it");
  constexpr bool fits = !ok<fault> || detail::has_joined_elements<X>;
  static_assert(
      !ok<fault> || fits,
      "mean: elements that are added up have 1, 2, 4, 8 or 16 bytes; cast the tensor first");
  if constexpr (!ok<fault> || !fits || is_poison<X>) {
    return poison{};
  } else {
    using R = detail::mean_elements<typename detail::stated<D...>::type, value_of<X>>;
    using N = std::conditional_t<std::is_constructible_v<computed<R>, double>, computed<R>,
                                 detail::no_such_number>;
    const auto n = static_cast<N>(detail::count_list(x, dims{}));
    return detail::map_as<detail::join_kind::linear, R>(detail::unscale_function<N>{n},
                                                        detail::sum_list<computed<R>>(x, dims{}));
  }
}

/// The greatest element over D..., or over all dims where none is named. Local: partial_max along
/// the axes that split D..., which only `complete` accepts. Gradients go to the first of equals in
/// the order of the elements; where a recorded tensor is split along D..., max_all_reduce finds
/// them.
template <Dim... D, Operand X> constexpr auto max(const X& x) {
  using dims = typename detail::dims_or_all<X, detail::list<D...>>::type;
  using fault = typename detail::over_list_fault<false, X, dims>::type;
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "max: the tensor lacks this dim; name its own dims");
  static_assert(ok<only<fault, dim_repeated>>, "max: a dim is named twice; name it once");
  static_assert(ok<only<fault, element_is_complex>>,
                "max: complex numbers have no order; take real(x) or norm2(x) first");
  static_assert(
      ok<only<fault, partial_operand>>,
      "max: the operand is a sum yet to be made, of which addends say nothing; complete it first");
  static_assert(
      ok<only<fault, dim_has_halo>>,
      "max: blocks of this dim carry a halo, which would count twice; take the tensor without it");
  static_assert(!detail::gradient_stops<X, dims>::value,
                "max: the dim is split, and a rank does not know to whose element the gradient "
                "goes; take max_all_reduce<dim>(x), or max<dim>(stop_gradient(x))");
  static_assert(!ok<fault> || detail::has_order<X>,
                "max: elements of this type have no order that is known; cast the tensor first");
  return detail::extreme_list<use::partial_max>(x, dims{});
}

/// The smallest likewise, partial_min.
template <Dim... D, Operand X> constexpr auto min(const X& x) {
  using dims = typename detail::dims_or_all<X, detail::list<D...>>::type;
  using fault = typename detail::over_list_fault<false, X, dims>::type;
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "min: the tensor lacks this dim; name its own dims");
  static_assert(ok<only<fault, dim_repeated>>, "min: a dim is named twice; name it once");
  static_assert(ok<only<fault, element_is_complex>>,
                "min: complex numbers have no order; take real(x) or norm2(x) first");
  static_assert(
      ok<only<fault, partial_operand>>,
      "min: the operand is a sum yet to be made, of which addends say nothing; complete it first");
  static_assert(
      ok<only<fault, dim_has_halo>>,
      "min: blocks of this dim carry a halo, which would count twice; take the tensor without it");
  static_assert(!detail::gradient_stops<X, dims>::value,
                "min: the dim is split, and a rank does not know to whose element the gradient "
                "goes; take min_all_reduce<dim>(x), or min<dim>(stop_gradient(x))");
  static_assert(!ok<fault> || detail::has_order<X>,
                "min: elements of this type have no order that is known; cast the tensor first");
  return detail::extreme_list<use::partial_min>(x, dims{});
}

}  // namespace dimesh
