// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tensor first, then the function.
// expect: map: the function comes first, then the tensors whose elements it takes: map(f, x, y)
// expect: wrong_arguments<
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
#ifdef COMPILE_FAIL
auto f(const row& x) {
  return dm::map(x, [](auto v) { return v; });
}
#else
auto f(const row& x) {
  return dm::map([](auto v) { return v; }, x);
}
#endif
