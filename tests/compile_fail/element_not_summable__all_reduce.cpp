// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tensor of the user's own elements, of which MPI knows no sum.
// expect: all_reduce: ranks cannot add up elements of this type; cast the tensor first
// expect: element_not_summable<color>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct color {
  unsigned char red, green, blue;
};
using sums = dm::layout<pod, dm::partial<rows>>;
#ifdef COMPILE_FAIL
using image = dm::tensor<color, sums, hidden>;
#else
using image = dm::tensor<unsigned char, sums, hidden>;
#endif
auto f(const image& x) { return dm::all_reduce<rows>(x); }
