// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tensor as a condition.
// expect: tensor: a tensor is no truth value; reduce it (sum, max), complete it, and ask value(x)
// expect: not_by_element<
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
bool f(const matrix& x) { return x ? true : false; }
#else
bool f(const matrix& x) { return dm::value(dm::complete(dm::max(x))) > 0; }
#endif
