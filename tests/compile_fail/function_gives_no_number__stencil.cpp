// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A stencil that returns its accessor.
// expect: stencil: the function returns no number; return the new element, made of at<>(u) and its neighbours
// expect: function_gives_no_number<void>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) {
  return dm::stencil([](const auto& u) { return u; }, x);
}
#else
auto f(const matrix& x) {
  return dm::stencil([](const auto& u) { return dm::at<>(u); }, x);
}
#endif
