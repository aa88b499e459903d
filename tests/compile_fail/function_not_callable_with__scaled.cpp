// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A scaled loss is called as the loss is: with no input more.
// expect: value_and_grad: the function cannot be called with the parameters and these inputs; give it one parameter for each of them, const auto&
// expect: function_not_callable_with<
#include <dimesh/dimesh.hpp>
#include <dimesh/optim/loss_scale.hpp>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
constexpr auto loss = [](const auto& w) { return dm::mean(w); };
constexpr dm::loss_scale scale{2};
#ifdef COMPILE_FAIL
auto f(const row& w) { return dm::value_and_grad(scale.scaled(loss), w)(w); }
#else
auto f(const row& w) { return dm::value_and_grad(scale.scaled(loss), w)(); }
#endif
