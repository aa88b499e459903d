// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A gradient with another layout than its parameter.
// expect: sgd: a parameter and its gradient have different layouts; relayout one of them
// expect: layouts_differ<
// expect: split<hidden, cols>
#include <dimesh/dimesh.hpp>
#include <dimesh/optim/sgd.hpp>

#include "names.hpp"

using parameters = dm::tensor<float, hybrid, hidden>;
#ifdef COMPILE_FAIL
using gradients = dm::tensor<float, whole, hidden>;
#else
using gradients = dm::tensor<float, hybrid, hidden>;
#endif
void f(parameters& p, const gradients& g) { dm::sgd{.rate = 0.1}(p, g); }
