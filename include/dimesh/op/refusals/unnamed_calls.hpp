// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does one read who leaves out the axis, the layout or the type of elements, or names one dim
// where there are two? As in unnamed_dims.hpp, a sentence of an overload that everything else fits
// better.
//
//   all_gather(x)    -> not_an_axis<nothing<>>: all_gather: the axis to gather over stands in ...
//   rename<batch>(x) -> not_a_dim<nothing<batch>>: rename: the dim and its new name stand in ...
#pragma once

#include "dimesh/op/refusals/unnamed_dims.hpp"

namespace dimesh {

template <class... No>
  requires(sizeof...(No) < 1)
constexpr poison softmax(detail::any_operand, detail::any_argument = {},
                         detail::any_argument = {}) {
  static_assert(
      ok<not_a_dim<detail::nothing<No...>>>,
      "softmax: dims stand in the angle brackets, a tensor in the parentheses: softmax<label>(x)");
  return {};
}

template <class... No>
  requires(sizeof...(No) < 1)
constexpr poison log_softmax(detail::any_operand, detail::any_argument = {},
                             detail::any_argument = {}) {
  static_assert(ok<not_a_dim<detail::nothing<No...>>>,
                "log_softmax: dims stand in the angle brackets, a tensor in the parentheses: "
                "log_softmax<label>(x)");
  return {};
}

template <class... No>
  requires(sizeof...(No) < 1)
constexpr poison argmax(detail::any_operand, detail::any_argument = {}, detail::any_argument = {}) {
  static_assert(
      ok<not_a_dim<detail::nothing<No...>>>,
      "argmax: a dim stands in the angle brackets, a tensor in the parentheses: argmax<label>(x)");
  return {};
}

template <class... No>
  requires(sizeof...(No) < 1)
constexpr poison select(detail::any_operand, detail::any_argument) {
  static_assert(ok<wrong_arguments<detail::nothing<No...>>>,
                "select: a condition and two values, which may be numbers, stand in the "
                "parentheses: select(x > 0, x, y)");
  return {};
}

template <class... No>
  requires(sizeof...(No) < 1)
constexpr poison whole(detail::any_operand, detail::any_argument = {}, detail::any_argument = {}) {
  static_assert(ok<not_a_dim<detail::nothing<No...>>>,
                "whole: the dim to be gathered stands in the angle brackets, a tensor in the "
                "parentheses: whole<batch>(x)");
  return {};
}

template <class... No>
  requires(sizeof...(No) < 1)
constexpr poison take(detail::any_operand, detail::any_argument = {}, detail::any_argument = {}) {
  static_assert(ok<not_a_dim<detail::nothing<No...>>>,
                "take: the dim that the ids number stands in the angle brackets, the table and the "
                "ids in the parentheses: take<token>(table, ids)");
  return {};
}

template <class... No>
  requires(sizeof...(No) < 2)
constexpr poison rename(detail::any_operand, detail::any_argument = {}, detail::any_argument = {}) {
  static_assert(ok<not_a_dim<detail::nothing<No...>>>,
                "rename: the dim and its new name stand in the angle brackets, a tensor in the "
                "parentheses: rename<length, key>(x)");
  return {};
}

template <class... No>
  requires(sizeof...(No) < 2)
constexpr poison own(detail::any_operand, detail::any_argument = {}, detail::any_argument = {}) {
  static_assert(ok<not_a_dim<detail::nothing<No...>>>,
                "own: a dim and the axis that is to split it stand in the angle brackets, a tensor "
                "in the parentheses: own<batch, rows>(x)");
  return {};
}

template <class... No>
  requires(sizeof...(No) < 1)
constexpr poison all_gather(detail::any_operand, detail::any_argument = {},
                            detail::any_argument = {}) {
  static_assert(ok<not_an_axis<detail::nothing<No...>>>,
                "all_gather: the axis to gather over stands in the angle brackets, a tensor in the "
                "parentheses: all_gather<rows>(x)");
  return {};
}

template <class... No>
  requires(sizeof...(No) < 1)
constexpr poison all_reduce(detail::any_operand, detail::any_argument = {},
                            detail::any_argument = {}) {
  static_assert(ok<not_an_axis<detail::nothing<No...>>>,
                "all_reduce: the axes to sum over stand in the angle brackets, a tensor in the "
                "parentheses: all_reduce<rows>(x); complete(x) finds them");
  return {};
}

template <class... No>
  requires(sizeof...(No) < 1)
constexpr poison permute_along(detail::any_operand, detail::any_argument,
                               detail::any_argument = {}) {
  static_assert(ok<not_an_axis<detail::nothing<No...>>>,
                "permute_along: an axis stands in the angle brackets, a tensor and who sends to "
                "whom in the parentheses: permute_along<rows>(x, f)");
  return {};
}

template <class... No>
  requires(sizeof...(No) < 2)
constexpr poison reduce(detail::any_operand, detail::any_argument, detail::any_argument = {}) {
  static_assert(ok<not_an_axis<detail::nothing<No...>>>,
                "reduce: an axis and the coordinate that gets the sum stand in the angle brackets, "
                "a tensor in the parentheses: reduce<stage, 0>(x)");
  return {};
}

template <class... No>
  requires(sizeof...(No) < 2)
constexpr poison reduce_scatter(detail::any_operand, detail::any_argument = {},
                                detail::any_argument = {}) {
  static_assert(ok<not_an_axis<detail::nothing<No...>>>,
                "reduce_scatter: the dim to be split and the axis to sum over stand in the angle "
                "brackets, a tensor in the parentheses: reduce_scatter<batch, rows>(x)");
  return {};
}

template <class... No>
  requires(sizeof...(No) < 3)
constexpr poison all_to_all(detail::any_operand, detail::any_argument = {},
                            detail::any_argument = {}) {
  static_assert(ok<not_an_axis<detail::nothing<No...>>>,
                "all_to_all: the dim that is split, the one to be split, and the axis stand in the "
                "angle brackets: all_to_all<batch, hidden, rows>(x)");
  return {};
}

template <class... No>
  requires(sizeof...(No) < 2)
constexpr poison place(detail::any_operand, detail::any_argument = {}, detail::any_argument = {}) {
  static_assert(ok<not_an_axis<detail::nothing<No...>>>,
                "place: an axis and a coordinate stand in the angle brackets, a tensor in the "
                "parentheses: place<stage, 0>(x)");
  return {};
}

template <class... No>
  requires(sizeof...(No) < 2)
constexpr poison send(detail::any_operand, detail::any_argument = {}, detail::any_argument = {}) {
  static_assert(ok<not_an_axis<detail::nothing<No...>>>,
                "send: an axis, from where and to where stand in the angle brackets, a tensor in "
                "the parentheses: send<stage, 0, 1>(x)");
  return {};
}

template <class... No>
  requires(sizeof...(No) < 1)
constexpr poison broadcast(detail::any_operand, detail::any_argument = {},
                           detail::any_argument = {}) {
  static_assert(ok<not_an_axis<detail::nothing<No...>>>,
                "broadcast: the axis along which all get the tensor stands in the angle brackets: "
                "broadcast<stage>(x)");
  return {};
}

template <class... No>
  requires(sizeof...(No) < 1)
constexpr poison relayout(detail::any_operand, detail::any_argument = {},
                          detail::any_argument = {}) {
  static_assert(ok<not_a_layout<detail::nothing<No...>>>,
                "relayout: the layout that is wanted stands in the angle brackets, a tensor in the "
                "parentheses: relayout<by_batch>(x)");
  return {};
}

template <class... No>
  requires(sizeof...(No) < 1)
constexpr poison cast(detail::any_operand, detail::any_argument = {}, detail::any_argument = {}) {
  static_assert(ok<not_an_element<detail::nothing<No...>>>,
                "cast: the type of elements stands in the angle brackets, a tensor in the "
                "parentheses: cast<double>(x)");
  return {};
}

}  // namespace dimesh
