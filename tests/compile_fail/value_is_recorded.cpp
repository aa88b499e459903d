// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A number taken out of a tensor whose gradient is wanted.
// expect: value: the tensor is recorded, and its number would be a constant to the gradient; compute with the tensor, or say value(stop_gradient(x))
// expect: value_is_recorded<float>
// levels: 1
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
constexpr auto loss = [](const auto& x) {
#ifdef COMPILE_FAIL
  return dm::mean(x) * dm::value(dm::mean(x));
#else
  return dm::mean(x) * dm::mean(x);
#endif
};
auto f(const row& x) { return dm::value_and_grad(loss, x)(); }
