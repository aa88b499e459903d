// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A number says where the values come from, and so does the type.
// expect: broadcast: the tensor lives at one place of this axis, which its type says; leave out the number
// expect: tensor_is_placed<rows>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using here = dm::tensor<float, dm::layout<pod, dm::placed<rows, 1>>, hidden>;
#ifdef COMPILE_FAIL
auto f(const here& x) { return dm::broadcast<rows>(x, 0); }
#else
auto f(const here& x) { return dm::broadcast<rows>(x); }
#endif
