// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One element of a dim that is split.
// expect: pick: needs the whole dim, and it is split; whole<dim> it, or split another
// expect: dim_is_split<batch, rows>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/slice.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::pick<batch>(x, 3); }
#else
auto f(const matrix& x) { return dm::pick<hidden>(x, 3); }
#endif
