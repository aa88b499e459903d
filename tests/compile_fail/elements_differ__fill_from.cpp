// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays of other elements than the tensor's.
#include <dimesh/dimesh.hpp>

#include <vector>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;

// mistake: elements_differ__fill_from
// expect: from an array: the tensor's elements are of another type than the array's; convert them: std::vector<float>(a.begin(), a.end())
// levels: 1
// expect: elements_differ<float, double>
#ifdef COMPILE_FAIL
void f(row& x, const std::vector<double>& v) { dm::fill_from(x, v); }
#else
void f(row& x, const std::vector<float>& v) { dm::fill_from(x, v); }
#endif

// mistake: elements_differ__fill_block
// expect: from an array: the tensor's elements are of another type than the array's; convert them: std::vector<float>(a.begin(), a.end())
// levels: 1
// expect: elements_differ<float, int>
#ifdef COMPILE_FAIL
void f(row& x, const std::vector<int>& v) { dm::fill_block(x, v); }
#else
void f(row& x, const std::vector<float>& v) { dm::fill_block(x, v); }
#endif
