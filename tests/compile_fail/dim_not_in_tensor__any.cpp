// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Asked over a dim that the tensor lacks.
// expect: any, all: the tensor lacks this dim, or it is named twice; name its own dims, each once
// expect: dim_not_in_tensor<label>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/logic.hpp>

#include "names.hpp"

using truths = dm::tensor<bool, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const truths& x) { return dm::any<label>(x); }
#else
auto f(const truths& x) { return dm::any<hidden>(x); }
#endif
