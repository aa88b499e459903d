// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function with written-out parameters, for jvp.
// expect: jvp: the function takes plain tensors, and gets recorded ones; take const auto&, or be a template of the arguments' layouts
// expect: function_takes_plain_only<
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/jvp.hpp>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
#ifdef COMPILE_FAIL
constexpr auto loss = [](const row& w) { return dm::mean(w * w); };
auto f(const row& w) { return dm::jvp(loss, w, w); }
#else
constexpr auto loss = [](const auto& w) { return dm::mean(w * w); };
auto f(const row& w) { return dm::jvp(loss, w, w); }
#endif
