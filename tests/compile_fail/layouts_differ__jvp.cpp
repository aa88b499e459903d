// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tangent in the layout of a gradient.
// expect: jvp: a tangent has another layout than its argument; relayout it
// expect: layouts_differ<
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/jvp.hpp>

#include "names.hpp"

using weights = dm::tensor<float, by_batch, hidden>;
#ifdef COMPILE_FAIL
using given = dm::tensor<float, dm::gradient<by_batch>, hidden>;
#else
using given = weights;
#endif
constexpr auto doubled = [](const auto& p) { return 2 * p; };
auto f(const weights& p, const given& v) { return dm::jvp(doubled, p, v).tangent; }
