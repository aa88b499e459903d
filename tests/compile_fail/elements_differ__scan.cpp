// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Averages of whole numbers, joined as if they were whole.
// expect: scan: the function gives another type than the elements, which would cut it; cast the tensor to that type first, or what the function returns to theirs
// expect: elements_differ<int, double>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/scan.hpp>

#include "names.hpp"

using counts = dm::tensor<int, by_batch, batch, hidden>;
const auto half_sum = [](auto a, auto b) { return 0.5 * (a + b); };
#ifdef COMPILE_FAIL
auto f(const counts& x) { return dm::scan<hidden>(half_sum, 0, x); }
#else
auto f(const counts& x) { return dm::scan<hidden>(half_sum, 0, dm::cast<double>(x)); }
#endif
