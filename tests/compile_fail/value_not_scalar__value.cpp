// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The number in a tensor of many.
// expect: value: the tensor has dims and so many numbers; take it by to_rank, or read data()
// expect: value_not_scalar<batch, hidden>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, whole, batch, hidden>;
#ifdef COMPILE_FAIL
float f(const matrix& x) { return dm::value(x); }
#else
float f(const matrix& x) { return dm::value(dm::sum(x)); }
#endif
