// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A block that is to be recomputed uses a parameter behind the back of `recompute`.
// expect: recompute: the function uses a recorded tensor that is not among its arguments; pass it as one
// expect: recorded_tensor_not_passed<
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/recompute.hpp>

#include "names.hpp"

using weights = dm::tensor<float, hybrid, label>;
using recorded = dm::tracked_tensor<weights>;
#ifdef COMPILE_FAIL
auto f(const recorded& w, const recorded& x) {
  return dm::recompute([&w](const auto& v) { return v * w; })(x);
}
#else
auto f(const recorded& w, const recorded& x) {
  return dm::recompute([](const auto& u, const auto& v) { return v * u; })(w, x);
}
#endif
