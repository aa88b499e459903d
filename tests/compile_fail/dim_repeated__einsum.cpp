// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The result of an einsum names a dim twice.
// expect: einsum: a dim stands twice in the result; name it once
// expect: dim_repeated<hidden>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, whole, batch, hidden>;
using weights = dm::tensor<float, whole, hidden, label>;
#ifdef COMPILE_FAIL
auto f(const matrix& x, const weights& w) { return dm::einsum<hidden, hidden>(x, w); }
#else
auto f(const matrix& x, const weights& w) { return dm::einsum<batch, label>(x, w); }
#endif
