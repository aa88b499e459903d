// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A part called like another dim.
// expect: cut: the tensor has a dim of a new name already; choose another name
// expect: dim_already_in_tensor<batch>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/merge.hpp>

#include "names.hpp"

struct two : dm::dim<2> {};
struct part : dm::dim<3> {};
struct longer : dm::dim<9> {};
using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::cut<hidden, batch, part>(x); }
#else
auto f(const matrix& x) { return dm::cut<hidden, two, part>(x); }
#endif
