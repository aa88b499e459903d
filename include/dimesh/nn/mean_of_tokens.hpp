// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is the loss of a batch in which some places hold no token? The mean over those that do:
// what fills rows up, and what follows the last token of a sequence, is -1 and does not count.
//
//   mean_of_tokens(losses[batch/rows, length], next[batch/rows, length])  -> a number, partial
//
// Divided by how many all ranks have together, which is not the mean of the ranks' means.
#pragma once

#include "dimesh/op/arithmetic.hpp"
#include "dimesh/op/cast.hpp"
#include "dimesh/op/compare.hpp"
#include "dimesh/op/complete.hpp"
#include "dimesh/op/reduce.hpp"
#include "dimesh/op/stop_gradient.hpp"

namespace dimesh::nn {

/// The mean of the losses[batch, length] where next[batch, length] is a token (not negative), 0
/// where there is none: a sum yet to be made along axes that split them. The losses of other places
/// are 0 already, as softmax_cross_entropy gives them. Communicates one number where rows are
/// split, how many tokens there are.
template <Operand X, Operand J> constexpr auto mean_of_tokens(const X& losses, const J& next) {
  if constexpr (is_poison<X> || is_poison<J>) {
    return poison{};
  } else {
    // Counted in whole numbers: a float would stop at 2^24 of them.
    const auto count = complete(sum(stop_gradient(next) >= 0));
    return sum(losses) / cast<value_of<X>>(count + (count == 0));
  }
}

}  // namespace dimesh::nn
