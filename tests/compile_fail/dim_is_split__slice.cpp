// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A slice of a dim that is split.
// expect: slice: needs the whole dim, and it is split; whole<dim> it, or split another
// expect: dim_is_split<batch, rows>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/slice.hpp>

#include "names.hpp"

struct part : dm::dim<3> {};
struct both : dm::dim<12> {};
using matrix = dm::tensor<float, by_batch, batch, hidden>;
using other = dm::tensor<float, by_batch, batch, part>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::slice<batch, part>(x, 0); }
#else
auto f(const matrix& x) { return dm::slice<hidden, part>(x, 0); }
#endif
