// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A gradient that was not taken.
// expect: complete: value_and_grad(f, params) is a function, and has not been called; give it the inputs: complete(value_and_grad(f, params)(x, y))
// expect: wrong_arguments<
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
constexpr auto loss = [](const auto& w) { return dm::mean(w * w); };
#ifdef COMPILE_FAIL
auto f(const row& w) { return dm::complete(dm::value_and_grad(loss, w)); }
#else
auto f(const row& w) { return dm::complete(dm::value_and_grad(loss, w)()); }
#endif
