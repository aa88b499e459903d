// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inputs beside the parameters.
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
constexpr auto loss = [](const auto& w, const auto& x) { return dm::mean(w * x); };

// mistake: called
// expect: value_and_grad: it takes a function and its parameters; what it returns takes the inputs: value_and_grad(f, params)(x, y)
// expect: wrong_arguments<
#ifdef COMPILE_FAIL
auto f(const row& w) { return dm::value_and_grad(loss, w, w); }
#else
auto f(const row& w) { return dm::value_and_grad(loss, w)(w); }
#endif

// mistake: in_a_step
// expect: value_and_grad: it takes a function and its parameters; what it returns takes the inputs: value_and_grad(f, params)(x, y)
// expect: wrong_arguments<
#ifdef COMPILE_FAIL
void f(row& w, const row& x) {
  const auto [value, gradient] = dm::complete(dm::value_and_grad(loss, w, x));
  dm::sgd{.rate = 0.1}(w, gradient);
}
#else
void f(row& w, const row& x) {
  const auto [value, gradient] = dm::complete(dm::value_and_grad(loss, w)(x));
  dm::sgd{.rate = 0.1}(w, gradient);
}
#endif
