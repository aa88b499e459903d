// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The new dim stands in the elements, too.
// expect: gather, scatter_add: the elements have the new dim already; rename it in one of the operands
// expect: dim_already_in_tensor<label>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/gather.hpp>

#include "names.hpp"

using cube = dm::tensor<float, by_batch, batch, hidden, label>;
using matrix = dm::tensor<float, by_batch, batch, hidden>;
using numbers = dm::tensor<int, by_batch, batch, label>;
#ifdef COMPILE_FAIL
auto f(const cube& x, const numbers& ids) { return dm::gather<hidden, label>(x, ids); }
#else
auto f(const matrix& x, const numbers& ids) { return dm::gather<hidden, label>(x, ids); }
#endif
