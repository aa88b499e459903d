// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights on another mesh than the rows.
// expect: grouped_einsum: the operands live on different meshes; put them on one
// expect: meshes_differ<pod, pool>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/grouped_einsum.hpp>

#include "names.hpp"

struct expert : dm::dim<4> {};
using tokens = dm::tensor<float, by_batch, batch, pixel>;
using weights = dm::tensor<float, whole, expert, pixel, hidden>;
using lengths = dm::tensor<int, whole, expert>;
struct pool : dm::mesh<rows> {};
using elsewhere = dm::tensor<float, dm::layout<pool>, expert, pixel, hidden>;
#ifdef COMPILE_FAIL
auto f(const tokens& x, const elsewhere& w, const lengths& l) {
  return dm::grouped_einsum<batch, expert, batch, hidden>(x, w, l);
}
#else
auto f(const tokens& x, const weights& w, const lengths& l) {
  return dm::grouped_einsum<batch, expert, batch, hidden>(x, w, l);
}
#endif
