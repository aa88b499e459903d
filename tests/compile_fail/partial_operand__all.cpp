// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Asked of truths that ranks have yet to join.
// expect: any, all: the operand is yet to be joined over the ranks; complete it first
// expect: partial_operand<rows>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/logic.hpp>

#include "names.hpp"

using truths = dm::tensor<bool, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const truths& x) { return dm::all<hidden>(dm::any<batch>(x)); }
#else
auto f(const truths& x) { return dm::all<hidden>(dm::complete(dm::any<batch>(x))); }
#endif
