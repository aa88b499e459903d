// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A slice of a dim that the tensor lacks.
// expect: slice: the tensor lacks the dim to be sliced; name one of its dims
// expect: dim_not_in_tensor<label>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/slice.hpp>

#include "names.hpp"

struct part : dm::dim<3> {};
struct longer : dm::dim<9> {};
using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::slice<label, part>(x, 0); }
#else
auto f(const matrix& x) { return dm::slice<hidden, part>(x, 0); }
#endif
