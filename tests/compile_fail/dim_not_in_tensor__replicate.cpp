// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dim that the tensor lacks is to be whole.
// expect: replicate: the tensor lacks a dim that is to be whole; name dims of the tensor
// expect: dim_not_in_tensor<hidden>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/shard.hpp>

#include "names.hpp"

auto f(const dm::tensor<float, by_batch, batch, pixel>& x) {
#ifdef COMPILE_FAIL
  return dm::replicate<hidden>(x);
#else
  return dm::replicate<batch>(x);
#endif
}
