// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Queries whose blocks carry a halo.
// expect: attention: an operand's blocks carry a halo; take the tensor without it
// expect: dim_has_halo<pixel>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/attention.hpp>

#include "names.hpp"

using queries = dm::tensor<float, by_batch, batch, pixel, hidden>;
using keys = dm::tensor<float, by_batch, batch, label, hidden>;
#ifdef COMPILE_FAIL
auto f(const queries& q, const keys& k) {
  return dm::attention<pixel, label, hidden>(dm::halo_exchange<1, pixel>(q), k, k);
}
#else
auto f(const queries& q, const keys& k) { return dm::attention<pixel, label, hidden>(q, k, k); }
#endif
