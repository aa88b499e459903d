// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies along a dim that the tensor has.
// expect: expand: the tensor has the new dim already; choose another name
// expect: dim_already_in_tensor<hidden>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/expand.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::expand<hidden>(x); }
#else
auto f(const matrix& x) { return dm::expand<label>(x); }
#endif
