// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does one read who counts dims in the parentheses, and names none? A sentence of an overload
// that takes a tensor and the rest by conversions of its own: any function of the user's that has
// this name fits better, and any template that takes one of the arguments as it is.
//
//   slice(x, 0, 4)   -> not_a_dim<nothing<>>: slice: a dim stands in the angle brackets ...
#pragma once

#include <initializer_list>

#include "dimesh/core/any_argument.hpp"
#include "dimesh/tensor.hpp"

namespace dimesh {

namespace detail {

struct any_operand {
  template <Operand X> constexpr any_operand(const X&) {}  // NOLINT: a conversion is meant
};

}  // namespace detail

template <class... N> constexpr poison einsum(std::initializer_list<detail::any_operand>) {
  static_assert(ok<wrong_arguments<detail::nothing<N...>>>,
                "einsum: tensors stand one by one in the parentheses, not in a list: "
                "einsum<batch, label>(x, w)");
  return {};
}

template <class... No>
  requires(sizeof...(No) == 0)
constexpr poison slice(detail::any_operand, detail::any_argument, detail::any_argument = {},
                       detail::any_argument = {}) {
  static_assert(ok<not_a_dim<detail::nothing<No...>>>,
                "slice: a dim stands in the angle brackets, a tensor and from where to where in "
                "the parentheses: slice<token>(x, 0, 4)");
  return {};
}

template <class... No>
  requires(sizeof...(No) == 0)
constexpr poison pad(detail::any_operand, detail::any_argument, detail::any_argument = {},
                     detail::any_argument = {}) {
  static_assert(ok<not_a_dim<detail::nothing<No...>>>,
                "pad: a dim stands in the angle brackets, a tensor and how many elements in the "
                "parentheses: pad<token>(x, 1, 1)");
  return {};
}

template <class... No>
  requires(sizeof...(No) == 0)
constexpr poison pick(detail::any_operand, detail::any_argument, detail::any_argument = {},
                      detail::any_argument = {}) {
  static_assert(ok<not_a_dim<detail::nothing<No...>>>,
                "pick: a dim stands in the angle brackets, a tensor and the place in the "
                "parentheses: pick<token>(x, 3)");
  return {};
}

template <class... No>
  requires(sizeof...(No) == 0)
constexpr poison top_k(detail::any_operand, detail::any_argument, detail::any_argument = {},
                       detail::any_argument = {}) {
  static_assert(ok<not_a_dim<detail::nothing<No...>>>,
                "top_k: a dim and a new one stand in the angle brackets, a tensor in the "
                "parentheses: top_k<token, best>(x), best a dim<3>");
  return {};
}

template <class... No>
  requires(sizeof...(No) == 0)
constexpr poison nth_largest(detail::any_operand, detail::any_argument, detail::any_argument = {},
                             detail::any_argument = {}) {
  static_assert(ok<not_a_dim<detail::nothing<No...>>>,
                "nth_largest: a dim stands in the angle brackets, the tensor and how many are "
                "greater in the parentheses: nth_largest<token>(x, 0)");
  return {};
}

template <class... No>
  requires(sizeof...(No) == 0)
constexpr poison nth_smallest(detail::any_operand, detail::any_argument, detail::any_argument = {},
                              detail::any_argument = {}) {
  static_assert(ok<not_a_dim<detail::nothing<No...>>>,
                "nth_smallest: a dim stands in the angle brackets, the tensor and how many are "
                "smaller in the parentheses: nth_smallest<token>(x, 0)");
  return {};
}

template <class... No>
  requires(sizeof...(No) == 0)
constexpr poison sort(detail::any_operand, detail::any_argument, detail::any_argument = {},
                      detail::any_argument = {}) {
  static_assert(
      ok<not_a_dim<detail::nothing<No...>>>,
      "sort: a dim stands in the angle brackets, a tensor in the parentheses: sort<token>(x)");
  return {};
}

template <class... No>
  requires(sizeof...(No) == 0)
constexpr poison argsort(detail::any_operand, detail::any_argument, detail::any_argument = {},
                         detail::any_argument = {}) {
  static_assert(ok<not_a_dim<detail::nothing<No...>>>,
                "argsort: a dim stands in the angle brackets, a tensor in the parentheses: "
                "argsort<token>(x)");
  return {};
}

template <class... No>
  requires(sizeof...(No) == 0)
constexpr poison cumsum(detail::any_operand, detail::any_argument, detail::any_argument = {},
                        detail::any_argument = {}) {
  static_assert(
      ok<not_a_dim<detail::nothing<No...>>>,
      "cumsum: a dim stands in the angle brackets, a tensor in the parentheses: cumsum<time>(x)");
  return {};
}

template <class... No>
  requires(sizeof...(No) == 0)
constexpr poison cumprod(detail::any_operand, detail::any_argument, detail::any_argument = {},
                         detail::any_argument = {}) {
  static_assert(
      ok<not_a_dim<detail::nothing<No...>>>,
      "cumprod: a dim stands in the angle brackets, a tensor in the parentheses: cumprod<time>(x)");
  return {};
}

template <class... No>
  requires(sizeof...(No) == 0)
constexpr poison cummax(detail::any_operand, detail::any_argument, detail::any_argument = {},
                        detail::any_argument = {}) {
  static_assert(
      ok<not_a_dim<detail::nothing<No...>>>,
      "cummax: a dim stands in the angle brackets, a tensor in the parentheses: cummax<time>(x)");
  return {};
}

template <class... No>
  requires(sizeof...(No) == 0)
constexpr poison cummin(detail::any_operand, detail::any_argument, detail::any_argument = {},
                        detail::any_argument = {}) {
  static_assert(
      ok<not_a_dim<detail::nothing<No...>>>,
      "cummin: a dim stands in the angle brackets, a tensor in the parentheses: cummin<time>(x)");
  return {};
}

template <class... No>
  requires(sizeof...(No) == 0)
constexpr poison flip(detail::any_operand, detail::any_argument, detail::any_argument = {},
                      detail::any_argument = {}) {
  static_assert(
      ok<not_a_dim<detail::nothing<No...>>>,
      "flip: a dim stands in the angle brackets, a tensor in the parentheses: flip<token>(x)");
  return {};
}

template <class... No>
  requires(sizeof...(No) == 0)
constexpr poison unstack(detail::any_operand, detail::any_argument, detail::any_argument = {},
                         detail::any_argument = {}) {
  static_assert(ok<not_a_dim<detail::nothing<No...>>>,
                "unstack: a dim stands in the angle brackets, a tensor in the parentheses: "
                "unstack<layer>(x)");
  return {};
}

template <class... No>
  requires(sizeof...(No) == 0)
constexpr poison stack(detail::any_operand, detail::any_argument, detail::any_argument = {},
                       detail::any_argument = {}) {
  static_assert(ok<not_a_dim<detail::nothing<No...>>>,
                "stack: a new dim stands in the angle brackets, tensors in the parentheses: "
                "stack<layer>(x, y)");
  return {};
}

template <class... No>
  requires(sizeof...(No) == 0)
constexpr poison concat(detail::any_operand, detail::any_argument, detail::any_argument = {},
                        detail::any_argument = {}) {
  static_assert(ok<not_a_dim<detail::nothing<No...>>>,
                "concat: the new dim and those it joins, or one of all, stand in the angle "
                "brackets, tensors in the parentheses: concat<both, left, right>(x, y)");
  return {};
}

template <class... No>
  requires(sizeof...(No) == 0)
constexpr poison split_into(detail::any_operand, detail::any_argument, detail::any_argument = {},
                            detail::any_argument = {}) {
  static_assert(ok<not_a_dim<detail::nothing<No...>>>,
                "split_into: the dim and its parts stand in the angle brackets, a tensor in the "
                "parentheses: split_into<both, left, right>(x)");
  return {};
}

template <class... No>
  requires(sizeof...(No) == 0)
constexpr poison one_hot(detail::any_operand, detail::any_argument, detail::any_argument = {},
                         detail::any_argument = {}) {
  static_assert(ok<not_a_dim<detail::nothing<No...>>>,
                "one_hot: a dim for the classes stands in the angle brackets, whole numbers in the "
                "parentheses: one_hot<label>(ids)");
  return {};
}

template <class... No>
  requires(sizeof...(No) == 0)
constexpr poison expand(detail::any_operand, detail::any_argument, detail::any_argument = {},
                        detail::any_argument = {}) {
  static_assert(ok<not_a_dim<detail::nothing<No...>>>,
                "expand: a new dim stands in the angle brackets, a tensor in the parentheses: "
                "expand<layer>(x)");
  return {};
}

template <class... No>
  requires(sizeof...(No) == 0)
constexpr poison gather(detail::any_operand, detail::any_argument, detail::any_argument = {},
                        detail::any_argument = {}) {
  static_assert(ok<not_a_dim<detail::nothing<No...>>>,
                "gather: a dim of the tensor and one of the ids stand in the angle brackets, both "
                "in the parentheses: gather<token, best>(x, ids)");
  return {};
}

template <class... No>
  requires(sizeof...(No) == 0)
constexpr poison max_pool(detail::any_operand, detail::any_argument, detail::any_argument = {},
                          detail::any_argument = {}) {
  static_assert(ok<not_a_dim<detail::nothing<No...>>>,
                "max_pool: a tensor and windows stand in the parentheses, and nothing in angle "
                "brackets: max_pool(x, pool_window<height>{})");
  return {};
}

template <class... No>
  requires(sizeof...(No) == 0)
constexpr poison mean_pool(detail::any_operand, detail::any_argument, detail::any_argument = {},
                           detail::any_argument = {}) {
  static_assert(ok<not_a_dim<detail::nothing<No...>>>,
                "mean_pool: a tensor and windows stand in the parentheses, and nothing in angle "
                "brackets: mean_pool(x, pool_window<height>{})");
  return {};
}

// More than is taken.
template <class... No>
  requires(sizeof...(No) == 0)
constexpr poison complete(detail::any_argument, detail::any_argument, detail::any_argument = {},
                          detail::any_argument = {}) {
  static_assert(ok<wrong_arguments<detail::nothing<No...>>>,
                "complete: takes one tensor or one struct of tensors, and sums over all axes along "
                "which it is partial: complete(x), and complete(y) for another one");
  return {};
}
template <class... No>
  requires(sizeof...(No) == 0)
poison to_rank(detail::any_operand, detail::any_argument, detail::any_argument = {}) {
  static_assert(ok<wrong_arguments<detail::nothing<No...>>>,
                "to_rank: a tensor and the number of a rank of its grid stand in the parentheses: "
                "to_rank(x, 0)");
  return {};
}

// A number where names stand.
template <int Root> poison to_rank(detail::any_operand) {
  static_assert(ok<wrong_arguments<std::integral_constant<int, Root>>>,
                "to_rank: the rank stands in the parentheses: to_rank(x, 0)");
  return {};
}

}  // namespace dimesh
