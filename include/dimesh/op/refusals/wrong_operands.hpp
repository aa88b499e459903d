// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does one read who gives a loss, a norm or a choice other names and arguments than it takes?
// One sentence, as in wrong_kinds.hpp.
//
//   softmax_cross_entropy<rows>(y, ids)   -> not_a_dim<rows>
//   layer_norm<model>(x, gain, bias, 1e-5)  -> wrong_arguments<...>: epsilon stands before
//   outer(x, y, z)                        -> wrong_arguments<...>
#pragma once

#include "dimesh/op/compare.hpp"
#include "dimesh/op/cross_entropy.hpp"
#include "dimesh/op/norm.hpp"
#include "dimesh/op/outer.hpp"
#include "dimesh/op/refusals/misuse.hpp"

namespace dimesh {

namespace detail {
using cross_entropy_call = call_taking<one_dim, 2, a_tensor, a_tensor, cross_entropy_options>;
using layer_norm_call = call_taking<one_dim, 1, a_tensor, a_tensor, a_tensor>;
using layer_norm_call_at = call_taking<one_dim, 2, double, a_tensor, a_tensor, a_tensor>;
using rms_norm_call = call_taking<one_dim, 1, a_tensor, a_tensor>;
using rms_norm_call_at = call_taking<one_dim, 2, double, a_tensor, a_tensor>;
using two_tensors_call = call_taking<names_taken<0, 0, named_kind::type>, 2, a_tensor, a_tensor>;
using three_tensors_call =
    call_taking<names_taken<0, 0, named_kind::type>, 3, a_tensor, a_tensor, a_tensor>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::cross_entropy_call, detail::list<N...>, A...>
constexpr poison softmax_cross_entropy(const A&...) {
  static_assert(ok<detail::misuse<detail::cross_entropy_call, detail::list<N...>, A...>>,
                "softmax_cross_entropy: the dim of classes stands in the angle brackets, logits "
                "and targets in the parentheses: softmax_cross_entropy<label>(x, ids)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison softmax_cross_entropy(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "softmax_cross_entropy: the dim of classes stands in the angle brackets, logits "
                "and targets in the parentheses: softmax_cross_entropy<label>(x, ids)");
  return {};
}

template <class... N, class... A>
  requires(detail::is_misused<detail::layer_norm_call, detail::list<N...>, A...> &&
           detail::is_misused<detail::layer_norm_call_at, detail::list<N...>, A...>)
constexpr poison layer_norm(const A&...) {
  static_assert(ok<detail::misuse<detail::layer_norm_call, detail::list<N...>, A...>>,
                "layer_norm: one dim stands in the angle brackets, epsilon before the tensor: "
                "layer_norm<model>(x), or (1e-5, x, gain, bias)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison layer_norm(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "layer_norm: one dim stands in the angle brackets, epsilon before the tensor: "
                "layer_norm<model>(x), or (1e-5, x, gain, bias)");
  return {};
}

template <class... N, class... A>
  requires(detail::is_misused<detail::rms_norm_call, detail::list<N...>, A...> &&
           detail::is_misused<detail::rms_norm_call_at, detail::list<N...>, A...>)
constexpr poison rms_norm(const A&...) {
  static_assert(ok<detail::misuse<detail::rms_norm_call, detail::list<N...>, A...>>,
                "rms_norm: one dim stands in the angle brackets, epsilon before the tensor: "
                "rms_norm<model>(x), or (1e-5, x, gain)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison rms_norm(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "rms_norm: one dim stands in the angle brackets, epsilon before the tensor: "
                "rms_norm<model>(x), or (1e-5, x, gain)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::two_tensors_call, detail::list<N...>, A...>
constexpr poison outer(const A&...) {
  static_assert(ok<detail::misuse<detail::two_tensors_call, detail::list<N...>, A...>>,
                "outer: two tensors stand in the parentheses, and nothing in angle brackets: "
                "outer(x, y); of three outer(outer(x, y), z)");
  return {};
}

template <class... N, class... A>
  requires(detail::is_misused<detail::three_tensors_call, detail::list<N...>, A...> &&
           !(sizeof...(N) == 0 && sizeof...(A) == 3))
constexpr poison select(const A&...) {
  static_assert(ok<detail::misuse<detail::three_tensors_call, detail::list<N...>, A...>>,
                "select: a condition and two values, which may be numbers, stand in the "
                "parentheses: select(x > 0, x, y)");
  return {};
}

}  // namespace dimesh
