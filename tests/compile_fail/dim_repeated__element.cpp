// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two indices for one dim.
// expect: tensor: two indices are given for one dim; leave one out
// expect: dim_repeated<batch>
// lines: 12
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return x.holds(batch{3}, hidden{4}, batch{1}); }
#else
auto f(const matrix& x) { return x.holds(batch{3}, hidden{4}); }
#endif
