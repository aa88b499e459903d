// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two tensors with the same static dim end to end.
// expect: concat: the dim's extent is part of its type; name the dims of result and operands: concat<both, left, right>(x, y)
// expect: extent_is_static<hidden>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/concat.hpp>

#include "names.hpp"

struct part : dm::dim<3> {};
struct both : dm::dim<12> {};
using matrix = dm::tensor<float, by_batch, batch, hidden>;
using other = dm::tensor<float, by_batch, batch, part>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::concat<hidden>(x, x); }
#else
auto f(const matrix& x) { return dm::concat<both, hidden, hidden>(x, x); }
#endif
