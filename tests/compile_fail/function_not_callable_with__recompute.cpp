// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function of two tensors, and one for recompute.
// expect: recompute: the function cannot be called with these arguments; take recorded tensors as const auto&, one parameter for each argument
// expect: function_not_callable_with<
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/recompute.hpp>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
#ifdef COMPILE_FAIL
constexpr auto loss = [](const auto& w, const auto& x) { return dm::mean(w * x); };
auto f(const row& w) { return dm::recompute(loss)(w); }
#else
constexpr auto loss = [](const auto& w) { return dm::mean(w * w); };
auto f(const row& w) { return dm::recompute(loss)(w); }
#endif
