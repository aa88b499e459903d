// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A recorded tensor changed in place.
// expect: fill: the tensor is recorded, and what is written into it has no gradient; make a tensor of its own (zeros_like, map), or compute the value
// expect: value_is_recorded<
// lines: 12
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
#ifdef COMPILE_FAIL
constexpr auto loss = [](const auto& w) {
  auto y = w * w;
  dm::fill(y, 0);
  return dm::mean(y);
};
auto f(const row& w) { return dm::value_and_grad(loss, w)(); }
#else
constexpr auto loss = [](const auto& w) {
  auto y = w * w;
  return dm::mean(y * 0);
};
auto f(const row& w) { return dm::value_and_grad(loss, w)(); }
#endif
