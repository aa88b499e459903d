// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lengths that are no whole numbers.
// expect: grouped_einsum: lengths are whole numbers; cast the tensor to an integer type first
// expect: holds_places
#include <dimesh/dimesh.hpp>
#include <dimesh/op/grouped_einsum.hpp>

#include "names.hpp"

struct expert : dm::dim<4> {};
using tokens = dm::tensor<float, by_batch, batch, pixel>;
using weights = dm::tensor<float, whole, expert, pixel, hidden>;
using lengths = dm::tensor<int, whole, expert>;
using reals = dm::tensor<float, whole, expert>;
#ifdef COMPILE_FAIL
auto f(const tokens& x, const weights& w, const reals& l) {
  return dm::grouped_einsum<batch, expert, batch, hidden>(x, w, l);
}
#else
auto f(const tokens& x, const weights& w, const lengths& l) {
  return dm::grouped_einsum<batch, expert, batch, hidden>(x, w, l);
}
#endif
