// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Factors of float beside terms of double.
// expect: linear_recurrence: the operands have elements of several types; cast one
// expect: elements_differ<float, double>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/scan.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
using precise = dm::tensor<double, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& a, const precise& b) { return dm::linear_recurrence<hidden>(a, b); }
#else
auto f(const matrix& a, const precise& b) {
  return dm::linear_recurrence<hidden>(dm::cast<double>(a), b);
}
#endif
