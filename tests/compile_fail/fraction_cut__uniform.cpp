// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random whole numbers.
// expect: uniform: the numbers drawn are fractions, and the tensor's elements whole; draw floats and round them: cast<std::int32_t>(floor(uniform<X>(grid, key, 0, 10)))
// expect: fraction_cut<double, int>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) {
  return dm::uniform<dm::tensor<int, whole, batch>>(g, dm::random_key{1}, 0, 4);
}
#else
auto f(const dm::grid<pod>& g) {
  return dm::cast<int>(
      dm::floor(dm::uniform<dm::tensor<float, whole, batch>>(g, dm::random_key{1}, 0, 4)));
}
#endif
