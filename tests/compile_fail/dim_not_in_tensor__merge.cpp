// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dim merged that the tensor lacks.
// expect: merge: the tensor lacks a dim to be merged; name dims of its own
// expect: dim_not_in_tensor<label>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/merge.hpp>

#include "names.hpp"

struct all : dm::dim<48> {};
struct part : dm::dim<3> {};
struct longer : dm::dim<9> {};
using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::merge<longer, batch, label>(x); }
#else
auto f(const matrix& x) { return dm::merge<all, batch, hidden>(x); }
#endif
