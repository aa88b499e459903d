// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole numbers that would be divided by 0.9.
// expect: dropout: the elements are whole numbers, and what stays is divided by 1 - rate; cast them to float first
// expect: element_not_differentiable<int>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using counts = dm::tensor<int, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const counts& x) { return dm::dropout(0.1, dm::random_key{1}, x); }
#else
auto f(const counts& x) { return dm::dropout(0.1, dm::random_key{1}, dm::cast<float>(x)); }
#endif
