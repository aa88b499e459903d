// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is a mean of what counts? Of a loss over positions that are no padding: divided by how many
// of them all ranks have together, which is not the mean of the ranks' means.
//
//   masked_mean(x[batch/rows, length], counts[batch/rows, length])    -> no dims, partial over rows
//   masked_mean<length>(x[batch/rows, length], counts[batch/rows])    -> [batch/rows]; local
#pragma once

#include "dimesh/op/complete.hpp"
#include "dimesh/op/functions.hpp"
#include "dimesh/op/logic.hpp"
#include "dimesh/op/norm.hpp"
#include "dimesh/op/reduce.hpp"
#include "dimesh/op/refusals/missing_header.hpp"
#include "dimesh/op/refusals/misuse.hpp"

namespace dimesh {

namespace detail {

template <class... A> inline constexpr bool is_included<op_header::masked_mean, A...> = true;

/// Those of D... that the mask has, and how many elements of x stand along the others.
template <class M, class... D> struct masked_dims {
  using type =
      typename concat_impl<list<>, std::conditional_t<(index_of<D, typename spec_of<M>::dims> >= 0),
                                                      list<D>, list<>>...>::type;
  template <class X> static constexpr double others(const X& x) {
    const double extents[] = {1, (index_of<D, typename spec_of<M>::dims> >= 0
                                      ? 1.0
                                      : static_cast<double>(x.template extent<D>()))...};
    double n = 1;
    for (const double e : extents) n *= e;
    return n;
  }
};

/// What a sum over those that count is divided by: 1 where nothing does, so that its mean is 0.
template <class R> struct divisor_function {
  double each;
  template <class N> KOKKOS_INLINE_FUNCTION R operator()(const N& n) const {
    return n > N(0) && each > 0 ? static_cast<R>(n) * static_cast<R>(each) : R(1);
  }
};

template <class X, class M, class Dims> struct masked_mean_fault {
  static constexpr auto find() {
    if constexpr (is_poison<X> || is_poison<M>)
      return tag<no_fault>{};
    else if constexpr (!std::is_same_v<value_of<M>, bool>)
      return tag<elements_differ<value_of<M>, bool>>{};
    else
      return tag<typename first_of<typename over_list_fault<false, X, Dims>::type,
                                   typename gain_fault<X, M>::type,
                                   map_fault<join_kind::nonlinear, X, M>>::type>{};
  }
  using type = typename decltype(find())::type;
};

template <class X, class M, class... D>
constexpr auto mean_of_counted(const X& x, const M& mask, list<D...>) {
  using T = computed<value_of<X>>;
  using R = std::conditional_t<std::is_floating_point_v<T>, T, double>;
  using dims = masked_dims<M, D...>;
  const auto count = complete(sum_list(mask, typename dims::type{}));
  return operate<join_kind::quotient>(
      divide_function{}, sum_list<R>(dimesh::select(mask, x, 0), list<D...>{}),
      map_called<join_kind::nonlinear>("masked_mean", divisor_function<R>{dims::others(x)}, count));
}

}  // namespace detail

/// The mean of the elements of x that the mask says count, over D..., or over all dims; 0 where
/// none does. Elements that do not count may be NaN, and get a gradient of 0. Shapes: mask, of
/// bool, some of x's dims; the result is x without D..., in float where x only stores, in double of
/// integers. Completes the number of those that count, where a dim of D... that the mask has is
/// split; the result is partial along the axes that split D..., as of `mean`.
template <Dim... D, Operand X, Operand M> constexpr auto masked_mean(const X& x, const M& mask) {
  using dims = typename detail::dims_or_all<X, detail::list<D...>>::type;
  using fault = typename detail::masked_mean_fault<X, M, dims>::type;
  static_assert(ok<only<fault, elements_differ>>,
                "masked_mean: the mask says of each element whether it counts, as bool: compare, "
                "as in ids != 0");
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "masked_mean: the tensor lacks a dim; name its own, and let the mask have some of "
                "its dims: masked_mean<batch>(x, mask)");
  static_assert(ok<only<fault, dim_repeated, dim_has_halo>>,
                "masked_mean: a dim counts twice; name each once, of a tensor without halos");
  static_assert(ok<only<fault, element_is_complex>>,
                "masked_mean: the elements are complex, and real ones are wanted; take means of "
                "real(x) and imag(x)");
  static_assert(ok<only<fault, partial_operand>>,
                "masked_mean: an operand is yet to be joined over the ranks; complete it first");
  using apart = only<fault, dim_split_in_one_operand_only, dim_split_differently,
                     dims_share_mesh_axis, meshes_differ>;
  static_assert(ok<apart> && ok<only_placed<fault>>,
                "masked_mean: tensor and mask lie on the ranks differently; relayout one of them");
  if constexpr (!ok<fault> || is_poison<X> || is_poison<M>)
    return poison{};
  else
    return detail::mean_of_counted(x, mask, dims{});
}

// ---- names and arguments of the wrong kind ------------------------------------------------------

namespace detail {
using masked_mean_call = call_taking<any_dims, 2, a_tensor, a_tensor>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::masked_mean_call, detail::list<N...>, A...>
constexpr poison masked_mean(const A&...) {
  static_assert(ok<detail::misuse<detail::masked_mean_call, detail::list<N...>, A...>>,
                "masked_mean: dims stand in the angle brackets, a tensor and a mask in the "
                "parentheses: masked_mean<batch>(x, mask)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison masked_mean(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "masked_mean: dims stand in the angle brackets, a tensor and a mask in the "
                "parentheses: masked_mean<batch>(x, mask)");
  return {};
}

}  // namespace dimesh
