// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What all ranks hold is sent.
// expect: send: the tensor lives at no one place of this axis; place<axis, k> it where all ranks hold it, relayout it where the axis splits it
// expect: axis_not_placed<rows>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using everywhere = dm::tensor<float, whole, hidden>;
#ifdef COMPILE_FAIL
auto f(const everywhere& x) { return dm::send<rows, 1>(x); }
#else
auto f(const everywhere& x) { return dm::place<rows, 1>(x); }
#endif
