// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Merged dims called like a third.
// expect: merge: the tensor has a dim of the new name already; choose another name
// expect: dim_already_in_tensor<label>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/merge.hpp>

#include "names.hpp"

struct all : dm::dim<48> {};
using matrix = dm::tensor<float, by_batch, batch, hidden, label>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::merge<label, batch, hidden>(x); }
#else
auto f(const matrix& x) { return dm::merge<all, batch, hidden>(x); }
#endif
