// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An operation takes a dim whole only that an annotation splits: the operation has number 0.
// expect: inferred: two annotations split a dim in different ways, and their tensors meet
// expect: annotation<0,
// expect: an_operation::said
// expect: annotation<1,
// expect: shard_of<dimesh::split<hidden, cols>
// expect: replicate_operand<1, hidden>
// expect: received_bytes<96>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/argmax.hpp>
#include <dimesh/plan/annotate.hpp>

#include "names.hpp"

struct best {
  template <class X> constexpr auto operator()(const X& x) const {
    const auto y = dm::shard<dm::split<hidden, cols>>(x);
#ifdef COMPILE_FAIL
    return dm::argmax<hidden>(y);
#else
    return dm::argmax<hidden>(dm::replicate<hidden>(y));
#endif
  }
};
using found = dm::inferred<best, dm::probe<float, pod, batch, hidden>>;
dm::tensor<float, found::layout, batch, hidden> x;
