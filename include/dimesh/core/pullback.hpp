// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a transpose work with? On the way back it has the cotangent of the result, the operands
// and results of the forward run, and a way to say what the operands' cotangents are: mostly, the
// result of another operation.
//
//   constexpr void transpose(const auto& to) const {
//     to.give(0, scale_op{by}, to.ybar);   // the cotangent of operand 0 is scale_op{by} of ybar
//   }
#pragma once

#include "dimesh/core/op_node.hpp"

namespace dimesh::detail {

/// The same in a tape that stands in Depth - 1 others: what is given is recorded there.
template <int Depth> class pullback : public pullback_base {
  template <class Op> using bound_here = bound<Op, Depth - 1, transposes_by_mask<Op> ? 0u : ~0u>;

 public:
  constexpr explicit pullback(const pullback_base& to) : pullback_base(to) {}
  static constexpr int depth = Depth;

  /// The cotangent of operand k is op(in...).
  template <class Op, class... In> constexpr void give(int k, const Op& op, const In&... in) const {
    if (!wants(k)) return;
    operand all[] = {{&in, in.record}...};
    run(k, bound_here<Op>(op), all, sizeof...(In));
  }
  /// The cotangents of all wanted operands in one pass: op's results, of which unwanted ones are
  /// missing, from ybar, all operands, and `more`.
  template <class Op, class... More>
  constexpr void give_all(const Op& op, const More&... more) const {
    operand all[2 * max_operands] = {{&ybar, ybar.record}};
    int n = 1;
    for (int k = 0; k < count(); ++k) all[n++] = {&x_[k], x_[k].record};
    ((all[n++] = {&more, nullptr}), ...);
    run_all(bound<Op, 0>(op), all, n);
  }
  /// A tensor with these facts: op(in...), of which some are recorded, as a mask.
  template <unsigned Recorded = ~0u, class Op, class... In>
  constexpr tensor_core made(const tensor_facts* facts, const Op& op, const In&... in) const {
    tensor_core y(facts);
    tensor_core* const result[] = {&y};
    operand all[] = {{&in, in.record}...};
    if (y_.count() > 1) refuse_auxiliary(bound<Op, 0>(op), x_, y_, all, sizeof...(In));
    const bound<Op, Depth - 1, Recorded> it(op);
    if constexpr (!has_transpose<Op>) refuse_recorded(it, all, sizeof...(In));
    evaluate(it, results(result, 1), all, sizeof...(In));
    return y;
  }
};

}  // namespace dimesh::detail
