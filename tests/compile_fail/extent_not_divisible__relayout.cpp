// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A relayout that would cut nine elements in two.
// expect: relayout: the extent of a split dim is not a multiple of its mesh axes; change one, or split uneven<dim>
// expect: extent_not_divisible<odd, 9, rows, 2>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct odd : dm::dim<9> {};
using vector = dm::tensor<float, whole, odd>;
#ifdef COMPILE_FAIL
auto f(const vector& x) { return dm::relayout<dm::layout<pod, dm::split<odd, rows>>>(x); }
#else
auto f(const vector& x) {
  return dm::relayout<dm::layout<pod, dm::split<dm::uneven<odd>, rows>>>(x);
}
#endif
