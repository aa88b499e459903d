// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nine elements dealt to two ranks.
// expect: all_to_all: the extent of the second dim is not a multiple of its mesh axes; change one
// expect: extent_not_divisible<odd, 9, rows, 2>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct odd : dm::dim<9> {};
using matrix = dm::tensor<float, by_batch, batch, odd>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::all_to_all<batch, odd, rows>(x); }
#else
auto f(const matrix& x) { return dm::all_to_all<batch, dm::uneven<odd>, rows>(x); }
#endif
