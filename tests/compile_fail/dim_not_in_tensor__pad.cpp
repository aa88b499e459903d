// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Padding of a dim that the tensor lacks.
// expect: pad: the tensor lacks the dim to be padded; name one of its dims
// expect: dim_not_in_tensor<label>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/slice.hpp>

#include "names.hpp"

struct part : dm::dim<3> {};
struct longer : dm::dim<9> {};
using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::pad<label, longer>(x, 1); }
#else
auto f(const matrix& x) { return dm::pad<hidden, longer>(x, 1); }
#endif
