// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nine elements cut for two ranks.
// expect: own: the extent of the dim is not a multiple of its mesh axes; change one, or say own<uneven<dim>, axis>
// expect: extent_not_divisible<odd, 9, rows, 2>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct odd : dm::dim<9> {};
using vector = dm::tensor<float, whole, odd>;
#ifdef COMPILE_FAIL
auto f(const vector& x) { return dm::own<odd, rows>(x); }
#else
auto f(const vector& x) { return dm::own<dm::uneven<odd>, rows>(x); }
#endif
