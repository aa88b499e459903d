// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sorted along a dim that is split.
// expect: sort, argsort, top_k, nth_largest, nth_smallest: the dim is split; go over the ranks with sort_all_to_all, top_k_all_gather ..., or gather it with whole<dim>
// expect: dim_is_split<hidden, cols>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/sort.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, hybrid, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::argsort<hidden>(x); }
#else
auto f(const matrix& x) { return dm::argsort<hidden>(dm::whole<hidden>(x)); }
#endif
