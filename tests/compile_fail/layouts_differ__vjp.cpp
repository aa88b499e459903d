// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A pullback that is given a tensor of the value's own layout: the cotangent of what is replicated
// is partial.
// expect: vjp: the pullback's argument is no cotangent of the value: it has another layout; relayout it to that of the value's gradient
// expect: layouts_differ<
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/vjp.hpp>

#include "names.hpp"

using weights = dm::tensor<float, by_batch, hidden>;
#ifdef COMPILE_FAIL
using given = weights;
#else
using given = dm::tensor<float, dm::gradient<by_batch>, hidden>;
#endif
constexpr auto doubled = [](const auto& p) { return 2 * p; };
auto f(const weights& p, const given& ybar) { return dm::vjp(doubled, p).pullback(ybar); }
