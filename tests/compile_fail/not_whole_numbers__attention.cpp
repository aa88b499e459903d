// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lengths in float.
// expect: attention: lengths, flags and segment ids are whole numbers; cast them to an integer type
#include <dimesh/dimesh.hpp>
#include <dimesh/op/attention.hpp>

#include "names.hpp"

using queries = dm::tensor<float, by_batch, batch, pixel, hidden>;
using keys = dm::tensor<float, by_batch, batch, label, hidden>;
using lengths = dm::tensor<float, by_batch, batch>;
#ifdef COMPILE_FAIL
auto f(const queries& q, const keys& k, const lengths& n) {
  return dm::attention<pixel, label, hidden>(q, k, k, {}, n);
}
#else
auto f(const queries& q, const keys& k, const lengths& n) {
  return dm::attention<pixel, label, hidden>(q, k, k, {}, dm::cast<int>(n));
}
#endif
