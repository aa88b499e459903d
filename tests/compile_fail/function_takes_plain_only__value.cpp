// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loss whose parameters are written out, of which the value alone is asked.
// expect: value_and_grad: the function takes plain tensors, and gets recorded ones; take const auto&, or be a template of the parameters' layout
// expect: function_takes_plain_only<
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
#ifdef COMPILE_FAIL
constexpr auto loss = [](const row& w, const row& x) { return dm::mean(w * x); };
auto f(const row& w, const row& x) { return dm::value_and_grad(loss, w).value(x); }
#else
constexpr auto loss = [](const auto& w, const auto& x) { return dm::mean(w * x); };
auto f(const row& w, const row& x) { return dm::value_and_grad(loss, w).value(x); }
#endif
