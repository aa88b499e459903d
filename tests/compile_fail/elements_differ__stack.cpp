// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors of several element types stacked.
// expect: concat, stack: the operands have elements of several types; cast some
// expect: elements_differ<float, double>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/concat.hpp>

#include "names.hpp"

struct two : dm::dim<2> {};
using matrix = dm::tensor<float, by_batch, batch, hidden>;
using exact = dm::tensor<double, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x, const exact& y) { return dm::stack<two>(x, y); }
#else
auto f(const matrix& x, const exact& y) { return dm::stack<two>(x, dm::cast<float>(y)); }
#endif
