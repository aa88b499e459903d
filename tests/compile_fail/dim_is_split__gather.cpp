// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements by number along a dim that is split.
// expect: gather: needs the whole dim, and it is split; whole<dim> it, or split another
// expect: dim_is_split<hidden, cols>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/gather.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, hybrid, batch, hidden>;
using numbers = dm::tensor<int, by_batch, batch, label>;
#ifdef COMPILE_FAIL
auto f(const matrix& x, const numbers& ids) { return dm::gather<hidden, label>(x, ids); }
#else
auto f(const matrix& x, const numbers& ids) {
  return dm::gather<hidden, label>(dm::whole<hidden>(x), ids);
}
#endif
