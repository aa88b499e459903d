// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function of the standard library, of a tensor.
// expect: exp: that of std takes one number; of a tensor write dm::exp(x)
// expect: not_by_element<
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
#ifdef COMPILE_FAIL
auto f(const row& x) { return std::exp(x); }
#else
auto f(const row& x) { return dm::exp(x); }
#endif
