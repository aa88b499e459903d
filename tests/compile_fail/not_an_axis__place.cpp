// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dim stands where the axis belongs.
// expect: place: an axis and a coordinate stand in the angle brackets, a tensor in the parentheses: place<stage, 1>(x)
// expect: not_an_axis<hidden>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using everywhere = dm::tensor<float, whole, hidden>;
#ifdef COMPILE_FAIL
auto f(const everywhere& x) { return dm::place<hidden, 1>(x); }
#else
auto f(const everywhere& x) { return dm::place<rows, 1>(x); }
#endif
