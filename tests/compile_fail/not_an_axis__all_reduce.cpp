// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A collective over a dim.
// expect: all_reduce: axes stand in the angle brackets, a tensor in the parentheses: all_reduce<rows>(x)
// expect: not_an_axis<batch>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::all_reduce<batch>(dm::sum<batch>(x)); }
#else
auto f(const matrix& x) { return dm::all_reduce<rows>(dm::sum<batch>(x)); }
#endif
