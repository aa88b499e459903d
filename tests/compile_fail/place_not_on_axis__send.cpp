// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A message to a stage that is not there.
// expect: send: this axis has no such coordinate; name one from 0 to its size - 1
// expect: place_not_on_axis<rows>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using here = dm::tensor<float, dm::layout<pod, dm::placed<rows, 0>>, hidden>;
#ifdef COMPILE_FAIL
auto f(const here& x) { return dm::send<rows, 2>(x); }
#else
auto f(const here& x) { return dm::send<rows, 1>(x); }
#endif
