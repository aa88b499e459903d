// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// It is sent from where it is not.
// expect: send: the tensor does not live at this coordinate of the axis; send<axis, k>(x) takes it from where it lives, place<axis, k> what all ranks hold
// expect: axis_not_placed<rows>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using here = dm::tensor<float, dm::layout<pod, dm::placed<rows, 0>>, hidden>;
#ifdef COMPILE_FAIL
auto f(const here& x) { return dm::send<rows, 1, 0>(x); }
#else
auto f(const here& x) { return dm::send<rows, 0, 1>(x); }
#endif
