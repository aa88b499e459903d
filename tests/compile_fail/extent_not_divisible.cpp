// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nine elements on two ranks.
// expect: tensor: the extent of a split dim is not a multiple of its mesh axes; change one, or split uneven<dim>
// expect: extent_not_divisible<odd, 9, rows, 2>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct odd : dm::dim<9> {};
#ifdef COMPILE_FAIL
using layout = dm::layout<pod, dm::split<odd, rows>>;
#else
using layout = dm::layout<pod, dm::split<dm::uneven<odd>, rows>>;
#endif
dm::tensor<float, layout, odd> x;
