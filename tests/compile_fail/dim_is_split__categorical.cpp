// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A class drawn among those of one block.
// expect: categorical: the dim is split, and a rank sees its block only; take categorical_all_gather, or gather it with whole<dim> first
// expect: dim_is_split<batch, rows>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/categorical.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::categorical<batch>(dm::random_key{1}, x); }
#else
auto f(const matrix& x) { return dm::categorical<hidden>(dm::random_key{1}, x); }
#endif
