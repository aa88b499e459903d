// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums over ranks in double of elements in float.
// expect: scan: the function gives another type than the elements, which would cut it; cast the tensor to that type first, or what the function returns to theirs
// expect: elements_differ<float, double>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/scan.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) {
  return dm::scan_exscan<batch>([](auto a, auto b) { return a + 1.0 * b; }, 0, x);
}
#else
auto f(const matrix& x) {
  return dm::scan_exscan<batch>([](auto a, auto b) { return a + 1.0f * b; }, 0, x);
}
#endif
