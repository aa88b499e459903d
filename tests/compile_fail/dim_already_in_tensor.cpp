// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dim gets the name of another.
// expect: rename: the tensor has a dim of the new name already; choose another name
// expect: dim_already_in_tensor<hidden>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, whole, batch, hidden>;
struct batch_out : dm::dim<8> {};
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::rename<batch, hidden>(x); }
#else
auto f(const matrix& x) { return dm::rename<batch, batch_out>(x); }
#endif
