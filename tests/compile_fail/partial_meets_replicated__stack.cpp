// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Addends stacked on a value.
// expect: concat, stack: one operand is a sum yet to be made, another is not; complete it
// expect: partial_meets_replicated<rows>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/concat.hpp>

#include "names.hpp"

struct two : dm::dim<2> {};
using matrix = dm::tensor<float, by_batch, batch, hidden>;
using vector = dm::tensor<float, whole, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x, const vector& y) { return dm::stack<two>(dm::sum<batch>(x), y); }
#else
auto f(const matrix& x, const vector& y) {
  return dm::stack<two>(dm::complete(dm::sum<batch>(x)), y);
}
#endif
