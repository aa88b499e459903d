// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// On which tape is an operation recorded? On the innermost among those of its operands. And which
// operands does it refuse that are recorded?
//
//   top_tape(op, operands, 2)          // null: nothing is recorded
//   refuse_recorded(op, operands, 2)   // throws where one is
#pragma once

#include "dimesh/core/operation.hpp"

namespace dimesh::detail {

/// An operand, and what records it. These are apart, since an operand recorded on two tapes is a
/// plain one to the inner tape's operations.
struct operand {
  const tensor_core* x;
  cell* record;
};

[[noreturn]] inline void refuse_tapes(std::string_view call) {
  (words() << call
           << ": the operands are recorded by two value_and_grad (or vjp) of which neither is "
              "inside the other; pass a tensor that is recorded outside as a parameter, or use "
              "stop_gradient")
      .raise();
}

/// The innermost tape that an operand is recorded on; null if none is.
constexpr tape* top_tape(const operation& op, const operand* x, int count) {
  tape* top = nullptr;
  for (int k = 0; k < count; ++k) {
    if (x[k].record == nullptr || x[k].record->on == top) continue;
    tape* const t = x[k].record->on;
    if (top != nullptr && top->level == t->level) refuse_tapes(op.facts->name);
    if (top == nullptr || top->level < t->level) top = t;
  }
  return top;
}

/// A cotangent that is to be recorded itself comes from an operation that cannot be.
constexpr void refuse_recorded(const operation& op, const operand* x, int count) {
  for (int k = 0; k < count; ++k)
    if (x[k].record != nullptr)
      (words() << op.facts->name
               << ": gradients of gradients do not pass through this operation: its transpose has "
                  "no transpose of its own; compose it of others, or use stop_gradient")
          .raise();
}

/// Results but the first are not recorded: where the operands are, a cotangent made of such a
/// result would lack a term. x and y: of the operation whose transpose this is.
constexpr void refuse_auxiliary(const operation& op, operands x, operands y, const operand* in,
                                int count) {
  bool recorded = false, used = false;
  for (int k = 0; k < x.count(); ++k) recorded = recorded || x[k].record != nullptr;
  for (int k = 0; k < count; ++k)
    for (int i = 1; i < y.count(); ++i) used = used || in[k].x == &y[i];
  if (recorded && used)
    (words() << op.facts->name
             << ": gradients of gradients do not pass through this operation: its transpose reads "
                "a result that is not recorded; compose it of others, or use stop_gradient")
        .raise();
}

}  // namespace dimesh::detail
