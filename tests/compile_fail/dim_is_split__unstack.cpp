// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The elements of a dim of which ranks hold blocks.
// expect: split_into, unstack: needs the whole dim, and it is split; take split_into_exchange, or whole<dim> it first
// expect: dim_is_split<batch, rows>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/split_into.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::unstack<batch>(x); }
#else
auto f(const matrix& x) { return dm::unstack<hidden>(x); }
#endif
