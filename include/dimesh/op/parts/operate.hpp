// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is an operator between two tensors? An elementwise operation, one of whose operands has all
// dims of the result.
//
//   operate<join_kind::sum>(add_elements{}, x[batch, hidden], b[hidden])  -> tensor[batch, hidden]
//   operate<join_kind::sum>(add_elements{}, y[batch], t[label])  -> no_operand_has_all_dims<...>
#pragma once

#include "dimesh/op/map.hpp"

namespace dimesh::detail {

/// That of an operator between two operands: one of them has all dims. Where none has, that is what
/// is said: how they are split is a question of what was meant.
template <join_kind Kind> struct operator_rule : elementwise_rule<Kind> {
  static constexpr outcome of(rule_operands x, dim_list out) {
    const outcome o = join_rule(Kind, x, out);
    return o.found == fault_code::meshes_differ ? o : one_has_all(x, o);
  }
};

template <join_kind Kind, class... X> using operator_fault = fault_of<operator_rule<Kind>, X...>;
template <join_kind Kind, class F, class X, class Y>
constexpr auto operate(const F& f, const X& x, const Y& y) {
  if constexpr (!ok<operator_fault<Kind, X, Y>> || is_poison<X> || is_poison<Y>) {
    return poison{};
  } else {
    using fault = operator_fault_of<false, F, value_of<X>, value_of<Y>>;
    static_assert(ok<fault>,
                  "operators and functions: elements of these types have none such, or take no "
                  "number beside them; write map(f, x, y), f a function of elements");
    if constexpr (ok<fault>) {
      using R = typename map_value<void, F, value_of<X>, value_of<Y>>::type;
      return apply_rule<operator_rule<Kind>, R>(map_op<F, R, value_of<X>, value_of<Y>>{f}, x, y);
    } else {
      return poison{};
    }
  }
}

}  // namespace dimesh::detail
