// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dim cut that the tensor lacks.
// expect: cut: the tensor lacks the dim to be cut; name one of its dims
// expect: dim_not_in_tensor<label>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/merge.hpp>

#include "names.hpp"

struct two : dm::dim<2> {};
struct pair : dm::dim<2> {};
struct part : dm::dim<3> {};
struct longer : dm::dim<9> {};
using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::cut<label, two, pair>(x); }
#else
auto f(const matrix& x) { return dm::cut<hidden, two, part>(x); }
#endif
