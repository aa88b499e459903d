// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tensor first, then the function of a stencil.
// expect: stencil: the function comes first, then the tensors that it looks at: stencil(f, u)
// expect: wrong_arguments<
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
#ifdef COMPILE_FAIL
auto f(const row& x) {
  return dm::stencil(x, [](const auto& u) { return dm::at<>(u); });
}
#else
auto f(const row& x) {
  return dm::stencil([](const auto& u) { return dm::at<>(u); }, x);
}
#endif
