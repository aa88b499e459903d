// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors end to end along a dim that is split.
// expect: concat: needs the joined dims whole, and one is split; whole<dim> it first
// expect: dim_is_split<both, rows>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/concat.hpp>
#include <dimesh/op/slice.hpp>

#include "names.hpp"

struct part : dm::dim<3> {};
struct both : dm::dim<12> {};
using matrix = dm::tensor<float, by_batch, batch, hidden>;
using other = dm::tensor<float, by_batch, batch, part>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) {
  return dm::concat<both, batch, batch>(dm::pick<hidden>(x, 0), dm::pick<hidden>(x, 1));
}
#else
auto f(const matrix& x) { return dm::concat<both, hidden, hidden>(x, x); }
#endif
