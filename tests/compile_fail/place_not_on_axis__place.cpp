// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A coordinate that the axis lacks.
// expect: place: this axis has no such coordinate; name one from 0 to its size - 1
// expect: place_not_on_axis<rows>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using copy = dm::tensor<float, whole, batch, hidden>;
using addends = dm::tensor<float, dm::layout<pod, dm::partial<rows>>, batch, hidden>;
struct stage : dm::axis<2> {};
using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const copy& x) { return dm::place<rows, 2>(x); }
#else
auto f(const copy& x) { return dm::place<rows, 1>(x); }
#endif
