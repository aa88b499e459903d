// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What none holds is not what none of a part holds.
// expect: logical_not: the operand is yet to be joined over the ranks; complete it first
// expect: partial_operand<rows>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/logic.hpp>

#include "names.hpp"

using truths = dm::tensor<bool, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const truths& x) { return dm::logical_not(dm::any<batch>(x)); }
#else
auto f(const truths& x) { return dm::logical_not(dm::complete(dm::any<batch>(x))); }
#endif
