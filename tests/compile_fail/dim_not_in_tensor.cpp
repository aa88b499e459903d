// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dim is to be summed that the tensor has not.
// expect: sum: the tensor lacks this dim; name its own dims
// expect: dim_not_in_tensor<label>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, whole, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::sum<label>(x); }
#else
auto f(const matrix& x) { return dm::sum<hidden>(x); }
#endif
