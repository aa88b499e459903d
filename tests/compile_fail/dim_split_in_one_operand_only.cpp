// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A summed dim is split in one operand and whole in the other.
// expect: einsum: a dim is split in one operand only; take own<dim, axis> of the other (free), or gather it with whole<dim>
// expect: dim_split_in_one_operand_only<hidden, cols>
// expect: relayout_operand<2,
// expect: received_bytes<0>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using split_x = dm::tensor<float, dm::layout<pod, dm::split<hidden, cols>>, batch, hidden>;
using weights = dm::tensor<float, whole, hidden, label>;
#ifdef COMPILE_FAIL
auto f(const split_x& x, const weights& w) { return dm::einsum<batch, label>(x, w); }
#else
auto f(const split_x& x, const weights& w) {
  return dm::einsum<batch, label>(x, dm::own<hidden, cols>(w));
}
#endif
