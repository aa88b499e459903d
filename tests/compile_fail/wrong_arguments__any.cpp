// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers where truths are asked.
// expect: any, all: elements are truths; compare first: any<dim>(x != 0)
#include <dimesh/dimesh.hpp>
#include <dimesh/op/logic.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::any<hidden>(x); }
#else
auto f(const matrix& x) { return dm::any<hidden>(x != 0); }
#endif
