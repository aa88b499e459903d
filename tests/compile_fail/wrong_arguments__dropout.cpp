// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tensor first.
// expect: dropout: the arguments are a rate, a key and a tensor: dropout(0.1, random_key{1}, x)
// expect: wrong_arguments<dimesh::basic_tensor<
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::dropout(x, 0.1, dm::random_key{1}); }
#else
auto f(const matrix& x) { return dm::dropout(0.1, dm::random_key{1}, x); }
#endif
