// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Padding of a dim that is split.
// expect: pad: needs the whole dim, and it is split; whole<dim> it, or split another
// expect: dim_is_split<batch, rows>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/slice.hpp>

#include "names.hpp"

struct part : dm::dim<3> {};
struct both : dm::dim<12> {};
using matrix = dm::tensor<float, by_batch, batch, hidden>;
using other = dm::tensor<float, by_batch, batch, part>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::pad<batch, both>(x, 1); }
#else
auto f(const matrix& x) { return dm::pad<hidden, both>(x, 1); }
#endif
