// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function of two tensors, and one for vjp.
// expect: vjp: the function cannot be called with these arguments; give it one parameter for each of them, const auto&
// expect: function_not_callable_with<
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/vjp.hpp>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
#ifdef COMPILE_FAIL
constexpr auto loss = [](const auto& w, const auto& x) { return dm::mean(w * x); };
auto f(const row& w) { return dm::vjp(loss, w); }
#else
constexpr auto loss = [](const auto& w) { return dm::mean(w * w); };
auto f(const row& w) { return dm::vjp(loss, w); }
#endif
