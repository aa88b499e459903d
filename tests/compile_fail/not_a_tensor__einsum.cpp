// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dims of a product in a string, as in NumPy.
// expect: einsum: the dims of the result stand in the angle brackets, tensors in the parentheses: einsum<batch, label>(x, w)
// expect: not_a_tensor<char
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::einsum("bh,bh->b", x, x); }
#else
auto f(const matrix& x) { return dm::einsum<batch>(x, x); }
#endif
