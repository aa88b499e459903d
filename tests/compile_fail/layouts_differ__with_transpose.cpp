// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A cotangent in the layout of its operand: that of what is replicated is partial.
// expect: with_transpose: a cotangent that the transpose gives has not the layout of its operand's gradient; relayout it
// expect: layouts_differ<
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/with_transpose.hpp>

#include "names.hpp"

using weights = dm::tensor<float, dm::tracked<whole>, hidden>;
constexpr auto doubled = [](const auto& x) { return 2 * x; };
#ifdef COMPILE_FAIL
constexpr auto back = [](const auto& ybar, const auto&, const auto&) {
  return dm::complete(2 * ybar);
};
#else
constexpr auto back = [](const auto& ybar, const auto&, const auto&) { return 2 * ybar; };
#endif
auto f(const weights& p) { return dm::with_transpose(doubled, back)(p); }
