// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lengths that are yet to be summed.
// expect: grouped_einsum: an operand is yet to be summed along an axis where another one is not whole, or the lengths are; complete it first
// expect: partial_operand<cols>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/grouped_einsum.hpp>

#include "names.hpp"

struct expert : dm::dim<4> {};
using tokens = dm::tensor<float, by_batch, batch, pixel>;
using weights = dm::tensor<float, whole, expert, pixel, hidden>;
using lengths = dm::tensor<int, whole, expert>;
using counted = dm::tensor<int, dm::layout<pod, dm::partial<cols>>, expert>;
#ifdef COMPILE_FAIL
auto f(const tokens& x, const weights& w, const counted& l) {
  return dm::grouped_einsum<batch, expert, batch, hidden>(x, w, l);
}
#else
auto f(const tokens& x, const weights& w, const lengths& l) {
  return dm::grouped_einsum<batch, expert, batch, hidden>(x, w, l);
}
#endif
