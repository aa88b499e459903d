// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows with halos.
// expect: grouped_einsum: blocks of a dim carry a halo; take the tensor without it
// expect: dim_has_halo<batch>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/grouped_einsum.hpp>

#include "names.hpp"

struct expert : dm::dim<4> {};
using tokens = dm::tensor<float, by_batch, batch, pixel>;
using weights = dm::tensor<float, whole, expert, pixel, hidden>;
using lengths = dm::tensor<int, whole, expert>;
using haloed =
    dm::tensor<float, dm::layout<pod, dm::split<dm::halo<batch, 1>, rows>>, batch, pixel>;
#ifdef COMPILE_FAIL
auto f(const haloed& x, const weights& w, const lengths& l) {
  return dm::grouped_einsum<batch, expert, batch, hidden>(x, w, l);
}
#else
auto f(const tokens& x, const weights& w, const lengths& l) {
  return dm::grouped_einsum<batch, expert, batch, hidden>(x, w, l);
}
#endif
