// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parameters first, then the function.
// expect: value_and_grad: the function comes first, then its parameters; the inputs go to what it returns: value_and_grad(f, params)(x, y)
// expect: wrong_arguments<
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
constexpr auto loss = [](const auto& w) { return dm::mean(w * w); };
#ifdef COMPILE_FAIL
auto f(const row& w) { return dm::value_and_grad(w, loss)(); }
#else
auto f(const row& w) { return dm::value_and_grad(loss, w)(); }
#endif
