// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dim is to be gathered that the tensor has not.
// expect: whole: the tensor lacks the dim to be gathered; name one of its dims
// expect: dim_not_in_tensor<label>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, whole, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::whole<label>(x); }
#else
auto f(const matrix& x) { return dm::whole<hidden>(x); }
#endif
