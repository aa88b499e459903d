// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A number where only shapes are, as costs are counted with.
// expect: value: the tensor is a shape, as in a program whose cost is counted, and has no number; let the cost not depend on it
// expect: not_the_same_kind<
#include <dimesh/dimesh.hpp>

#include "names.hpp"

#ifdef COMPILE_FAIL
auto f(const dm::tensor<float, dm::shaped<whole>>& x) { return dm::value(x); }
#else
auto f(const dm::tensor<float, whole>& x) { return dm::value(x); }
#endif
