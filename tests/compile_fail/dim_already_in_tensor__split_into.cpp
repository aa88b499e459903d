// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A part with the name of another dim.
// expect: split_into: the tensor has a dim of a part's name already; choose another name
// expect: dim_already_in_tensor<batch>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/split_into.hpp>

#include "names.hpp"

struct one : dm::dim<2> {};
struct other : dm::dim<4> {};
using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::split_into<hidden, one, batch>(x); }
#else
auto f(const matrix& x) { return dm::split_into<hidden, one, other>(x); }
#endif
