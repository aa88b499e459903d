// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An order of dims with one that the tensor has not.
// expect: permute: the tensor lacks a dim of the new order; leave it out
// expect: dim_not_in_tensor<label>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, whole, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::permute<hidden, batch, label>(x); }
#else
auto f(const matrix& x) { return dm::permute<hidden, batch>(x); }
#endif
