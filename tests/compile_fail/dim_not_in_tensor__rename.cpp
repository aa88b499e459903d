// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dim is to be renamed that the tensor has not.
// expect: rename: the tensor lacks the dim to be renamed; name one of its dims
// expect: dim_not_in_tensor<pixel>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, whole, batch, hidden>;
struct hidden_out : dm::dim<6> {};
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::rename<pixel, hidden_out>(x); }
#else
auto f(const matrix& x) { return dm::rename<hidden, hidden_out>(x); }
#endif
