// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An argument without a tangent.
// expect: jvp: the function comes first, then all its arguments, then a tangent for each: jvp(f, x, y, dx, dy)
// expect: wrong_arguments<
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/jvp.hpp>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
constexpr auto loss = [](const auto& w) { return dm::mean(w * w); };
#ifdef COMPILE_FAIL
auto f(const row& w) { return dm::jvp(loss, w); }
#else
auto f(const row& w) { return dm::jvp(loss, w, w); }
#endif
