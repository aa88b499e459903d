// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An order for a dim that is split.
// expect: shuffle: needs the whole dim, and it is split; take shuffle_exchange<dim>, or whole<dim> it first
// expect: dim_is_split<batch, rows>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/shuffle.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::shuffle<batch>(dm::random_key{1}, x); }
#else
auto f(const matrix& x) { return dm::shuffle<hidden>(dm::random_key{1}, x); }
#endif
