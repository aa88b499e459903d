// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The axis does not split the dim that is to be whole.
// expect: all_to_all: the axis does not split the first dim; name the dim that it splits
// expect: axis_splits_nothing<rows>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::all_to_all<hidden, batch, rows>(x); }
#else
auto f(const matrix& x) { return dm::all_to_all<batch, hidden, rows>(x); }
#endif
