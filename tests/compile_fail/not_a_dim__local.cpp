// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A block asked of an axis.
// expect: tensor: extent, local and block are asked of a dim; name one of the tensor's
// expect: not_a_dim<rows>
// lines: 13
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return x.block<rows>().length; }
#else
auto f(const matrix& x) { return x.block<batch>().length; }
#endif
