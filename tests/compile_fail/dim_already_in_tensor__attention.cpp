// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Self-attention whose keys still have the queries' dim.
// expect: attention: the queries have the key dim, or keys or values the query dim; rename<query, key> what belongs to keys and values
// expect: dim_already_in_tensor<pixel>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/attention.hpp>

#include "names.hpp"

using states = dm::tensor<float, by_batch, batch, pixel, hidden>;
struct key : dm::dim<12> {};
#ifdef COMPILE_FAIL
auto f(const states& x) { return dm::attention<pixel, key, hidden>(x, x, x); }
#else
auto f(const states& x) {
  const auto k = dm::rename<pixel, key>(x);
  return dm::attention<pixel, key, hidden>(x, k, k);
}
#endif
