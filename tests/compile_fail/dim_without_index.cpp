// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An element of a matrix by one index.
// expect: tensor: an element has an index for every dim; give the missing one
// expect: dim_without_index<hidden>
// lines: 12
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return x.at(batch{3}); }
#else
auto f(const matrix& x) { return x.at(batch{3}, hidden{4}); }
#endif
