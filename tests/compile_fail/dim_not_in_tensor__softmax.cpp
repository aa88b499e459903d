// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shares along a dim that the tensor has not.
// expect: softmax: the tensor lacks this dim, or it is named twice; name its own dims, each once
// expect: dim_not_in_tensor<label>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, whole, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::softmax<label>(x); }
#else
auto f(const matrix& x) { return dm::softmax<hidden>(x); }
#endif
