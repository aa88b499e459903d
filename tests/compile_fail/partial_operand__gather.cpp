// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers that are yet to be summed.
// expect: gather, scatter_add: the numbers are a sum yet to be made (or the elements an extreme); complete them first
// expect: partial_operand<cols>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/gather.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, whole, batch, hidden>;
using numbers = dm::tensor<int, dm::layout<pod, dm::partial<cols>>, batch, label>;
#ifdef COMPILE_FAIL
auto f(const matrix& x, const numbers& ids) { return dm::gather<hidden, label>(x, ids); }
#else
auto f(const matrix& x, const numbers& ids) {
  return dm::gather<hidden, label>(x, dm::complete(ids));
}
#endif
