// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fractions as places.
// expect: gather, scatter_add, bincount: places are whole numbers; cast the tensor to an integer type first
#include <dimesh/dimesh.hpp>
#include <dimesh/op/gather.hpp>

#include "names.hpp"

using fractions = dm::tensor<float, by_batch, batch, label>;
using matrix = dm::tensor<float, by_batch, batch, hidden>;
using numbers = dm::tensor<int, by_batch, batch, label>;
#ifdef COMPILE_FAIL
auto f(const fractions& x) { return dm::bincount<batch, hidden>(x); }
#else
auto f(const fractions& x) { return dm::bincount<batch, hidden>(dm::cast<int>(x)); }
#endif
