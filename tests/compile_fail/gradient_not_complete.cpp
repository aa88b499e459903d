// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A step along a gradient whose addends lie on the ranks.
// expect: sgd: a gradient is a sum yet to be made; pass complete(gradients)
// expect: gradient_not_complete<rows>
#include <dimesh/dimesh.hpp>
#include <dimesh/optim/sgd.hpp>

#include "names.hpp"

using parameters = dm::tensor<float, hybrid, hidden>;
using gradients = dm::tensor<float, dm::gradient<hybrid>, hidden>;
#ifdef COMPILE_FAIL
void f(parameters& p, const gradients& g) { dm::sgd{.rate = 0.1}(p, g); }
#else
void f(parameters& p, const gradients& g) { dm::sgd{.rate = 0.1}(p, dm::complete(g)); }
#endif
