// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A result declared with its dims in another order.
// expect: tensor: the type declared has other dims than the value, or another order; sum, rename or permute, or declare it auto
// expect: dims_differ<
// lines: 12
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
using turned = dm::tensor<float, by_batch, hidden, batch>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) -> turned { return x; }
#else
auto f(const matrix& x) -> turned { return dm::permute<hidden, batch>(x); }
#endif
