// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Maxima yet to be found stacked.
// expect: concat, stack: an operand holds maxima (or minima) yet to be found; complete it
// expect: partial_operand<rows>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/concat.hpp>

#include "names.hpp"

struct two : dm::dim<2> {};
using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::stack<two>(dm::max<batch>(x), dm::max<batch>(x)); }
#else
auto f(const matrix& x) {
  return dm::stack<two>(dm::complete(dm::max<batch>(x)), dm::complete(dm::max<batch>(x)));
}
#endif
