// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How is a filter drawn over images that are split where it moves, in height and width say? Each
// rank computes its block of the result; what its windows see beyond its own block comes from
// others in one exchange: halos of their own widths before and after, only as wide as filter,
// stride and dilation need, and corners.
//
//   using v = window<height, tall, high>;  using h = window<width, wide, across>;
//   convolution_exchange<high, across, out>(x[height/rows, width/cols, in], w[tall, wide, in, out],
//                                           v{.stride = 2, .around = padding::same}, h{})
//     -> [high/rows, across/cols, out]
//
//   convolution_exchange<high, across, out>(beside_interior, x, w, v{}, h{})
//     -> the same; what sees nothing of other ranks is computed while halos travel
//
// The result's dims lie on the axes of the dims that they come from. Gradients exchange likewise:
// that of the array sees the result's, that of the filter sees the array and is partial along the
// axes of windows' dims.
#pragma once

#include "dimesh/op/convolution.hpp"
#include "dimesh/op/halo_way.hpp"

namespace dimesh {

namespace detail {

template <class Fault> constexpr void assert_split_windows() {
  static_assert(ok<only<Fault, dim_is_split>>,
                "convolution_exchange: each rank needs the whole filter, and a dim of taps is "
                "split; whole<dim> it");
  static_assert(ok<only_not_divisible<Fault>>,
                "convolution_exchange: results along this dim do not divide over the ranks of the "
                "dim that they come from; split that as uneven<dim>");
}

template <class Out, class X, class W, class... V>
using split_windows_fault = fault_of<convolution_rule<true, Out, V...>, X, W>;

}  // namespace detail

/// A convolution whose windows may move along dims that are split. Shapes, extents, errors as of
/// convolution. The result's dim of a window lies on the axes of the operand's, in blocks of the
/// same kind (uneven where those are ragged and the dim is a new one); of even blocks the results
/// must divide. Communicates: each rank gets, in one exchange of messages, the run of elements from
/// the first to the last one along each dim that its results' windows see and others hold.
template <Dim... Out, Operand X, Operand W, Dim... From, Dim... Tap, Dim... To>
  requires(sizeof...(From) >= 1 && sizeof...(From) <= local::convolution::max_windows)
constexpr auto convolution_exchange(const X& x, const W& w,
                                    const dimesh::window<From, Tap, To>&... windows) {
  using list = detail::list<Out...>;
  using fault = detail::split_windows_fault<list, X, W, dimesh::window<From, Tap, To>...>;
  detail::assert_split_windows<fault>();
  detail::assert_convolution<fault>();
  return detail::convolved<true, list, false>({"convolution_exchange"}, x, w, windows...);
}
/// The same; what sees nothing of other ranks is computed while messages travel, so in gradients.
/// Sums may round otherwise.
template <Dim... Out, Operand X, Operand W, Dim... From, Dim... Tap, Dim... To>
  requires(sizeof...(From) >= 1 && sizeof...(From) <= local::convolution::max_windows)
constexpr auto convolution_exchange(beside_interior_way, const X& x, const W& w,
                                    const dimesh::window<From, Tap, To>&... windows) {
  using list = detail::list<Out...>;
  using fault = detail::split_windows_fault<list, X, W, dimesh::window<From, Tap, To>...>;
  detail::assert_split_windows<fault>();
  detail::assert_convolution<fault>();
  return detail::convolved<true, list, false>({"convolution_exchange", true}, x, w, windows...);
}

/// The transpose of a convolution_exchange in its first operand, as transposed_convolution is that
/// of a convolution. Layouts and messages as of convolution_exchange: a rank gets what meets its
/// own elements of the result.
template <Dim... Out, Operand Y, Operand W, Dim... From, Dim... Tap, Dim... To>
  requires(sizeof...(From) >= 1 && sizeof...(From) <= local::convolution::max_windows)
constexpr auto transposed_convolution_exchange(const Y& y, const W& w,
                                               const dimesh::window<From, Tap, To>&... windows) {
  using list = detail::list<Out...>;
  using fault = detail::split_windows_fault<list, Y, W, dimesh::window<From, Tap, To>...>;
  detail::assert_split_windows<fault>();
  detail::assert_convolution<fault>();
  return detail::convolved<true, list, true>({"transposed_convolution_exchange"}, y, w, windows...);
}
/// The same; what sees nothing of other ranks is computed while messages travel, so in gradients.
/// Sums may round otherwise.
template <Dim... Out, Operand Y, Operand W, Dim... From, Dim... Tap, Dim... To>
  requires(sizeof...(From) >= 1 && sizeof...(From) <= local::convolution::max_windows)
constexpr auto transposed_convolution_exchange(beside_interior_way, const Y& y, const W& w,
                                               const dimesh::window<From, Tap, To>&... windows) {
  using list = detail::list<Out...>;
  using fault = detail::split_windows_fault<list, Y, W, dimesh::window<From, Tap, To>...>;
  detail::assert_split_windows<fault>();
  detail::assert_convolution<fault>();
  return detail::convolved<true, list, true>({"transposed_convolution_exchange", true}, y, w,
                                             windows...);
}

// ---- names and arguments of the wrong kind ------------------------------------------------------

template <class... N, class... A>
  requires detail::is_misused<detail::convolution_call, detail::list<N...>, A...>
constexpr poison convolution_exchange(const A&...) {
  static_assert(ok<detail::misuse<detail::convolution_call, detail::list<N...>, A...>>,
                "convolution_exchange: dims of the result stand in the angle brackets, tensor, "
                "filter and windows in the parentheses: (x, w, window<d, tap>{})");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison convolution_exchange(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "convolution_exchange: dims of the result stand in the angle brackets, tensor, "
                "filter and windows in the parentheses: (x, w, window<d, tap>{})");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::convolution_call, detail::list<N...>, A...>
constexpr poison transposed_convolution_exchange(const A&...) {
  static_assert(ok<detail::misuse<detail::convolution_call, detail::list<N...>, A...>>,
                "transposed_convolution_exchange: dims of the result stand in the angle brackets, "
                "tensor, filter and windows in the parentheses: (x, w, window<d, tap>{})");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison transposed_convolution_exchange(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "transposed_convolution_exchange: dims of the result stand in the angle brackets, "
                "tensor, filter and windows in the parentheses: (x, w, window<d, tap>{})");
  return {};
}

}  // namespace dimesh
