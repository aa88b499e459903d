// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements of a recorded tensor.
// expect: tensor: the tensor is recorded, and what is done with its elements would have no gradient; compute with the tensor, or take stop_gradient(x)
// expect: value_is_recorded<float>
// lines: 18
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
#ifdef COMPILE_FAIL
constexpr auto loss = [](const auto& w) { return dm::mean(w * w.data()[0]); };
auto f(const row& w) { return dm::value_and_grad(loss, w)(); }
#else
constexpr auto loss = [](const auto& w) { return dm::mean(w * 2); };
auto f(const row& w) { return dm::value_and_grad(loss, w)(); }
#endif
