// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A result that is dropped; tensors are values, nothing happens in place.
// expect: ignoring return
// lines: 14
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
#pragma GCC diagnostic error "-Wunused-result"
void f(const matrix& x) { dm::sum<batch>(x); }
#else
auto f(const matrix& x) { return dm::sum<batch>(x); }
#endif
