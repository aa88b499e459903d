// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An annotation splits a dim over an axis that splits another one already.
// expect: shard: the annotation splits a dim over an axis that another dim or place has; replicate<dim> that one first
// expect: dims_share_mesh_axis<batch, hidden, rows>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/shard.hpp>

#include "names.hpp"

auto f(const dm::tensor<float, by_batch, batch, hidden>& x) {
#ifdef COMPILE_FAIL
  return dm::shard<dm::split<hidden, rows>>(x);
#else
  return dm::shard<dm::split<hidden, rows>>(dm::replicate<batch>(x));
#endif
}
