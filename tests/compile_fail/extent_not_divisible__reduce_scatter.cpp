// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nine sums for two ranks.
// expect: reduce_scatter: the extent of the dim is not a multiple of its mesh axes; change one
// expect: extent_not_divisible<odd, 9, rows, 2>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct odd : dm::dim<9> {};
using vector = dm::tensor<float, dm::layout<pod, dm::partial<rows>>, odd>;
#ifdef COMPILE_FAIL
auto f(const vector& x) { return dm::reduce_scatter<odd, rows>(x); }
#else
auto f(const vector& x) { return dm::reduce_scatter<dm::uneven<odd>, rows>(x); }
#endif
