// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A result declared with other elements.
// expect: tensor: the type declared has other elements than the value; cast<type>(x), or declare it auto
// expect: elements_differ<double, float>
// lines: 12
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
using doubles = dm::tensor<double, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
doubles f(const matrix& x) { return x; }
#else
doubles f(const matrix& x) { return dm::cast<double>(x); }
#endif
