// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The extent of a dim that the tensor lacks.
// expect: tensor: extent, local and block are asked of a dim that the tensor lacks; name one of its own
// expect: dim_not_in_tensor<label>
// lines: 13
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return x.extent<label>(); }
#else
auto f(const matrix& x) { return x.extent<hidden>(); }
#endif
