// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tangent in more digits than its argument.
// expect: jvp: a tangent has other elements than its argument; cast it
// expect: elements_differ<float, double>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/jvp.hpp>

#include "names.hpp"

using weights = dm::tensor<float, by_batch, hidden>;
#ifdef COMPILE_FAIL
using given = dm::tensor<double, by_batch, hidden>;
#else
using given = weights;
#endif
constexpr auto doubled = [](const auto& p) { return 2 * p; };
auto f(const weights& p, const given& v) { return dm::jvp(doubled, p, v).tangent; }
