// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A contraction that is not told how blocks move.
// expect: contract: how blocks move stands first in the angle brackets, before the dims: contract<by::best<>, m, n>(x, y)
// expect: not_a_schedule<batch>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/contract.hpp>

#include "names.hpp"

using inputs = dm::tensor<float, by_batch, batch, pixel>;
using weights = dm::tensor<float, whole, pixel, hidden>;
#ifdef COMPILE_FAIL
auto f(const inputs& x, const weights& w) { return dm::contract<batch, hidden>(x, w); }
#else
auto f(const inputs& x, const weights& w) {
  return dm::contract<dm::by::best<>, batch, hidden>(x, w);
}
#endif
