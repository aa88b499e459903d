// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tangent of whole numbers.
// expect: jvp: an argument's elements are no real numbers; let the function capture it
// expect: element_not_differentiable<int>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/jvp.hpp>

#include "names.hpp"

using table = dm::tensor<float, whole, pixel, hidden>;
using places = dm::tensor<int, by_batch, batch>;
#ifdef COMPILE_FAIL
auto f(const table& t, const places& at) {
  return dm::jvp([](const auto& x, const auto& i) { return dm::take<pixel>(x, i); }, t, at, t, at)
      .value;
}
#else
auto f(const table& t, const places& at) {
  return dm::jvp([&](const auto& x) { return dm::take<pixel>(x, at); }, t, t).value;
}
#endif
