// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dims merged that do not stand side by side.
// expect: merge: the dims do not lie side by side in this order; permute them first
// expect: dim_not_in_order<batch>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/merge.hpp>

#include "names.hpp"

struct both : dm::dim<48> {};
using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::merge<both, hidden, batch>(dm::whole<batch>(x)); }
#else
auto f(const matrix& x) { return dm::merge<both, batch, hidden>(x); }
#endif
