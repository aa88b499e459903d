// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An annotation is no list of splits.
// expect: shard: an annotation is a list of split<dim, axis> or split_if_free<dim, axis>; to make a dim whole, say replicate<dim>(x)
// expect: not_a_rule<dimesh::partial<rows>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/shard.hpp>

#include "names.hpp"

auto f(const dm::tensor<float, whole, batch>& x) {
#ifdef COMPILE_FAIL
  return dm::shard<dm::partial<rows>>(x);
#else
  return dm::shard<dm::split<batch, rows>>(x);
#endif
}
