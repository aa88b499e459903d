// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An order of dims that leaves one out.
// expect: permute: the new order leaves out a dim of the tensor; name all
// expect: dim_not_in_order<batch>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, whole, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::permute<hidden>(x); }
#else
auto f(const matrix& x) { return dm::permute<hidden, batch>(x); }
#endif
