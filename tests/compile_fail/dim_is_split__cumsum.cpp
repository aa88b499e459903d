// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running sums along a dim that is split.
// expect: cumsum, cumprod, cummax, cummin, scan, linear_recurrence: the dim is split; go over the ranks with cumsum_exscan and so on, or gather it with whole<dim>
// expect: dim_is_split<batch, rows>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/scan.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::cumsum<batch>(x); }
#else
auto f(const matrix& x) { return dm::cumsum_exscan<batch>(x); }
#endif
