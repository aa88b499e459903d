// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function that returns nothing, for jvp.
// expect: jvp: the function returns nothing; return a tensor
// expect: function_gives_no_tensor<void>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/jvp.hpp>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
#ifdef COMPILE_FAIL
constexpr auto loss = [](const auto& w) { (void)dm::mean(w); };
auto f(const row& w) { return dm::jvp(loss, w, w); }
#else
constexpr auto loss = [](const auto& w) { return dm::mean(w); };
auto f(const row& w) { return dm::jvp(loss, w, w); }
#endif
