// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The result has a dim that no operand has.
// expect: einsum: an output dimension appears in none of the inputs; leave it out, or pass the operand that has it
// expect: output_dim_not_in_any_input<pixel>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
using weights = dm::tensor<float, whole, hidden, label>;
#ifdef COMPILE_FAIL
auto f(const matrix& x, const weights& w) { return dm::einsum<batch, pixel>(x, w); }
#else
auto f(const matrix& x, const weights& w) { return dm::einsum<batch, label>(x, w); }
#endif
