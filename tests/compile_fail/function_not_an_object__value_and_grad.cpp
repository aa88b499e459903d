// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function where an object is wanted.
// expect: value_and_grad: a function has one type for each parameter, and gets recorded tensors; write a function object: [](const auto& p, const auto& x) { ... }
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
#ifdef COMPILE_FAIL
auto loss(const row& w) { return dm::mean(w); }
auto f(const row& w) { return dm::value_and_grad(loss, w)(); }
#else
constexpr auto loss = [](const auto& w) { return dm::mean(w); };
auto f(const row& w) { return dm::value_and_grad(loss, w)(); }
#endif
