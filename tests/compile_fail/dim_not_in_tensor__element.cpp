// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An index for a dim that the tensor lacks.
// expect: tensor: an index is given for a dim that the tensor lacks; leave it out
// expect: dim_not_in_tensor<label>
// lines: 12
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return x.at(batch{3}, label{1}, hidden{4}); }
#else
auto f(const matrix& x) { return x.at(batch{3}, hidden{4}); }
#endif
