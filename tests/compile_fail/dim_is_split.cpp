// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The place of the greatest element, where no rank sees them all.
// expect: argmax: the dim is split, and a rank sees its block only; take argmax_all_gather, or gather it with whole<dim> first
// expect: dim_is_split<hidden, cols>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using split_x = dm::tensor<float, dm::layout<pod, dm::split<hidden, cols>>, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const split_x& x) { return dm::argmax<hidden>(x); }
#else
auto f(const split_x& x) { return dm::argmax<hidden>(dm::whole<hidden>(x)); }
#endif
