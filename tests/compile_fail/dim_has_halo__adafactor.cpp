// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same, in the averages of squares.
// expect: adafactor: blocks of this dim carry a halo, which would count twice; let parameters have none, and exchange in the function
// expect: dim_has_halo<batch>
#include <dimesh/dimesh.hpp>
#include <dimesh/optim/adafactor.hpp>

#include "names.hpp"

using haloed =
    dm::tensor<float, dm::layout<pod, dm::split<dm::halo<batch, 1>, rows>>, batch, hidden>;
using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
void f(haloed& p, const haloed& g, dm::adafactor_state<haloed>& s) { dm::adafactor{}(p, g, s); }
#else
void f(matrix& p, const matrix& g, dm::adafactor_state<matrix>& s) { dm::adafactor{}(p, g, s); }
#endif
