// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The argument first, then the function.
// expect: vjp: the function comes first, then its arguments, tensors or structs of them: vjp(f, params, x)
// expect: wrong_arguments<
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/vjp.hpp>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
constexpr auto loss = [](const auto& w) { return dm::mean(w * w); };
#ifdef COMPILE_FAIL
auto f(const row& w) { return dm::vjp(w, loss); }
#else
auto f(const row& w) { return dm::vjp(loss, w); }
#endif
