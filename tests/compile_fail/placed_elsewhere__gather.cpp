// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements at one stage, numbers at another.
// expect: gather, scatter_add: the operands live on different ranks of this axis; place or send one
// expect: placed_elsewhere<rows, 0, 1>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/gather.hpp>

#include "names.hpp"

using first = dm::tensor<float, dm::layout<pod, dm::placed<rows, 0>>, batch, hidden>;
using second = dm::tensor<int, dm::layout<pod, dm::placed<rows, 1>>, batch, label>;
#ifdef COMPILE_FAIL
auto f(const first& x, const second& ids) { return dm::gather<hidden, label>(x, ids); }
#else
auto f(const first& x, const second& ids) {
  return dm::gather<hidden, label>(dm::send<rows, 1>(x), ids);
}
#endif
