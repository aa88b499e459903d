// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers for each batch of elements that have none.
// expect: gather, scatter_add: an operand lacks this dim; the numbers have the dims of the elements, but for the one that they number
// expect: dim_not_in_tensor<batch>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/gather.hpp>

#include "names.hpp"

using row = dm::tensor<float, by_batch, hidden>;
using matrix = dm::tensor<float, by_batch, batch, hidden>;
using numbers = dm::tensor<int, by_batch, batch, label>;
#ifdef COMPILE_FAIL
auto f(const row& x, const numbers& ids) { return dm::gather<hidden, label>(x, ids); }
#else
auto f(const matrix& x, const numbers& ids) { return dm::gather<hidden, label>(x, ids); }
#endif
