// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts of a dim under its own name, whose type says another extent.
// expect: split_into: the dim's extent is part of its type; name the dims of the parts: split_into<both, left, right>(x)
// expect: extent_is_static<hidden>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/split_into.hpp>

#include "names.hpp"

struct one : dm::dim<2> {};
struct other : dm::dim<4> {};
using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::split_into<hidden>(x, 2, 4); }
#else
auto f(const matrix& x) { return dm::split_into<hidden, one, other>(x); }
#endif
