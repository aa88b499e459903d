// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mistake sits in a loss whose gradient is dropped: that is said of what could be kept.
// expect: operator+: one operand is a sum yet to be made, the other is not and would be counted once per rank; complete the first
// expect: partial_meets_replicated<rows>
// levels: 2
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
using vector = dm::tensor<float, whole, hidden>;
#ifdef COMPILE_FAIL
#pragma GCC diagnostic error "-Wunused-result"
constexpr auto loss = [](const auto& w, const auto& x) { return dm::sum(x * w) + dm::sum(w); };
void f(const vector& w, const matrix& x) { dm::value_and_grad(loss, w)(x); }
#else
constexpr auto loss = [](const auto& w, const auto& x) {
  return dm::complete(dm::sum(x * w)) + dm::sum(w);
};
auto f(const vector& w, const matrix& x) { return dm::value_and_grad(loss, w)(x); }
#endif
