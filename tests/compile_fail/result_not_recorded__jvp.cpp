// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tangent of a constant.
// expect: jvp: no argument reaches the value of the function; compute it from them
// expect: result_not_recorded<
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/jvp.hpp>

#include "names.hpp"

using weights = dm::tensor<float, hybrid, hidden>;
#ifdef COMPILE_FAIL
constexpr auto doubled = [](const auto& p) { return 2 * dm::stop_gradient(p); };
#else
constexpr auto doubled = [](const auto& p) { return 2 * p; };
#endif
auto f(const weights& p) { return dm::jvp(doubled, p, p).value; }
