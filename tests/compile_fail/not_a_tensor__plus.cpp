// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An array of the standard library beside a tensor.
// expect: operator+: a tensor meets a tensor or a number; make a tensor of the array: from_array<X>(grid, array)
// expect: not_a_tensor<std::
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x, const std::vector<float>& v) { return x + v; }
#else
auto f(const matrix& x, const dm::tensor<float, by_batch, hidden>& v) { return x + v; }
#endif
