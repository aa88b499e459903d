// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments beside the function.
// expect: recompute: it takes a function alone, and what it returns takes the arguments: recompute(f)(x, y)
// expect: wrong_arguments<
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/recompute.hpp>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
constexpr auto loss = [](const auto& w) { return dm::mean(w * w); };
#ifdef COMPILE_FAIL
auto f(const row& w) { return dm::recompute(loss, w); }
#else
auto f(const row& w) { return dm::recompute(loss)(w); }
#endif
