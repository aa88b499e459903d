// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays of other elements than the tensor's.
#include <dimesh/dimesh.hpp>

#include <vector>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;

// mistake: elements_differ__fill_from
// expect: fill_from: the array has other elements than the tensor; copy it into a vector of
// expect: elements_differ<float, double>
#ifdef COMPILE_FAIL
void f(row& x, const std::vector<double>& v) { dm::fill_from(x, v); }
#else
void f(row& x, const std::vector<float>& v) { dm::fill_from(x, v); }
#endif

// mistake: elements_differ__fill_block
// expect: fill_block: the array has other elements than the tensor; copy it into a vector of
// expect: elements_differ<float, int>
#ifdef COMPILE_FAIL
void f(row& x, const std::vector<int>& v) { dm::fill_block(x, v); }
#else
void f(row& x, const std::vector<float>& v) { dm::fill_block(x, v); }
#endif
