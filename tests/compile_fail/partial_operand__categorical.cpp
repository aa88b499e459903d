// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Classes by logits that are sums yet to be made.
// expect: categorical: the logits are a sum yet to be made; complete it first
// expect: partial_operand<cols>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/categorical.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, dm::layout<pod, dm::partial<cols>>, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::categorical<hidden>(dm::random_key{1}, x); }
#else
auto f(const matrix& x) { return dm::categorical<hidden>(dm::random_key{1}, dm::complete(x)); }
#endif
