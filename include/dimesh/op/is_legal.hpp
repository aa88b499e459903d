// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// May these types meet in that operation? Constants for a requires-clause or a branch, from the
// same faults that the operations assert: what is legal here compiles there, and the other way
// round.
//
//   is_addable<tensor<float, L, batch, hidden>, tensor<float, L, hidden>>     -> true
//   is_addable<tensor<float, layout<pod, partial<cols>>, batch>, tensor<float, layout<pod>, batch>>
//     -> false: the operator says partial_meets_replicated<cols>
//   is_einsum<shape<batch, hidden>, X, W>    -> may einsum<batch, hidden>(x, w) be called?
#pragma once

#include "dimesh/op/einsum.hpp"
#include "dimesh/op/reduce.hpp"
#include "dimesh/op/relayout.hpp"
#include "dimesh/op/relayout_across.hpp"
#include "dimesh/op/rename.hpp"

namespace dimesh {

namespace detail {
/// No fault, and no operand that is poison already.
template <class Fault, class... X>
inline constexpr bool legal = ok<Fault> && !(is_poison<X> || ...);

template <class Dims> struct dims_named {
  using type = typename Dims::dims;
};
template <class... D> struct dims_named<list<D...>> {
  using type = list<D...>;
};
}  // namespace detail

/// May a tensor have dims D... under layout L?
template <class L, Dim... D> inline constexpr bool is_formable = ok<layout_fault<L, D...>>;

/// x + y and x - y.
template <class X, class Y>
inline constexpr bool is_addable =
    detail::legal<detail::operator_fault<detail::join_kind::sum, X, Y>, X, Y>;
/// x * y.
template <class X, class Y>
inline constexpr bool is_multipliable =
    detail::legal<detail::operator_fault<detail::join_kind::product, X, Y>, X, Y>;
/// x / y.
template <class X, class Y>
inline constexpr bool is_divisible =
    detail::legal<detail::operator_fault<detail::join_kind::quotient, X, Y>, X, Y>;
/// map(f, x...) and select.
template <class... X>
inline constexpr bool is_mappable =
    detail::legal<detail::map_fault<detail::join_kind::nonlinear, X...>, X...>;
/// What wants elements with an order: comparisons, clamp, and the functions of op/functions.hpp.
template <class... X>
inline constexpr bool is_real_mappable =
    detail::legal<detail::map_fault<detail::join_kind::real, X...>, X...>;
/// einsum<Out...>(x...); Dims is shape<Out...>.
template <class Dims, class... X>
inline constexpr bool is_einsum =
    detail::has_few_dims<X...> &&
    detail::legal<
        typename detail::einsum_fault<typename detail::dims_named<Dims>::type, X...>::type, X...>;
/// sum<D...>(x) and mean<D...>(x).
template <class X, class... D>
inline constexpr bool is_summable =
    detail::legal<typename detail::over_dims_fault<true, X, D...>::type, X>;
/// max<D...>(x), min<D...>(x) and softmax<D...>(x).
template <class X, class... D>
inline constexpr bool is_comparable_over =
    detail::legal<typename detail::over_dims_fault<false, X, D...>::type, X>;
/// rename<From, To>(x).
template <class X, class From, class To>
inline constexpr bool is_renamable =
    detail::legal<detail::fault_of<detail::rename_rule<From, To>, X>, X>;
/// relayout<L>(x).
template <class X, class L>
inline constexpr bool is_relayoutable =
    detail::legal<detail::fault_of<detail::goal_rule<L, true>, X>, X>;
/// relayout<L>(x, g), g a grid of mesh M.
template <class X, class L, class M>
inline constexpr bool is_relayoutable_to =
    detail::legal<detail::fault_of<detail::across_rule<L>, X>, X> &&
    std::is_same_v<typename L::mesh, M>;

}  // namespace dimesh
