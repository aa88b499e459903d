// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dim of one operand alone is left out of the result.
// expect: einsum: a dim is in one input only and not in the output; sum it first, or name it in the output
// expect: dim_in_one_input_only<label>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
using weights = dm::tensor<float, whole, hidden, label>;
#ifdef COMPILE_FAIL
auto f(const matrix& x, const weights& w) { return dm::einsum<batch>(x, w); }
#else
auto f(const matrix& x, const weights& w) { return dm::einsum<batch>(x, dm::sum<label>(w)); }
#endif
