// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An annotation names an axis of another mesh.
// expect: shard: a rule names an axis that the tensor's mesh lacks; name one of its axes
// expect: axis_not_in_mesh<depth, pod>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/shard.hpp>

#include "names.hpp"

struct depth : dm::axis<2> {};
auto f(const dm::tensor<float, whole, batch>& x) {
#ifdef COMPILE_FAIL
  return dm::shard<dm::split<batch, depth>>(x);
#else
  return dm::shard<dm::split<batch, rows>>(x);
#endif
}
