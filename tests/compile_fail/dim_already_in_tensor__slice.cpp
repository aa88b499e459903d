// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A slice called like another dim.
// expect: slice: the tensor has a dim of the new name already; choose another name
// expect: dim_already_in_tensor<batch>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/slice.hpp>

#include "names.hpp"

struct part : dm::dim<3> {};
struct longer : dm::dim<9> {};
using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::slice<hidden, batch>(x, 0); }
#else
auto f(const matrix& x) { return dm::slice<hidden, part>(x, 0); }
#endif
