// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sorted along a dim that the tensor lacks.
// expect: sort, argsort, top_k, nth_largest, nth_smallest: the tensor lacks this dim; name one of its own
// expect: dim_not_in_tensor<pixel>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/sort.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::sort<pixel>(x); }
#else
auto f(const matrix& x) { return dm::sort<hidden>(x); }
#endif
