// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An annotation names a dim that the tensor lacks.
// expect: shard: the tensor lacks a dim that the annotation splits; name one of its dims
// expect: dim_not_in_tensor<hidden>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/shard.hpp>

#include "names.hpp"

auto f(const dm::tensor<float, whole, batch, pixel>& x) {
#ifdef COMPILE_FAIL
  return dm::shard<dm::split<hidden, cols>>(x);
#else
  return dm::shard<dm::split<pixel, cols>>(x);
#endif
}
