// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loss that returns what it was computed from, too.
// expect: value_and_grad: the function returns nothing, or more than the loss; return the loss alone
// expect: function_gives_no_tensor<std::pair<
#include <dimesh/dimesh.hpp>

#include <utility>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
#ifdef COMPILE_FAIL
constexpr auto loss = [](const auto& w) { return std::pair(dm::mean(w), w * 2); };
auto f(const row& w) { return dm::value_and_grad(loss, w)(); }
#else
constexpr auto loss = [](const auto& w) { return dm::mean(w); };
auto f(const row& w) { return dm::value_and_grad(loss, w)(); }
#endif
