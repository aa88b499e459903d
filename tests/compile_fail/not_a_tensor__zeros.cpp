// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Zeros of a layout.
// expect: zeros: a tensor or a struct of them stands in the angle brackets, the grid and open
// expect: not_a_tensor<
#include <dimesh/dimesh.hpp>

#include "names.hpp"

#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) { return dm::zeros<by_batch>(g); }
#else
auto f(const dm::grid<pod>& g) { return dm::zeros<dm::tensor<float, by_batch, batch>>(g); }
#endif
