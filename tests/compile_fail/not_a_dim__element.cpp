// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements by number.
// expect: tensor: elements are named by dims with a value; write x.at(batch{3}, hidden{4})
// expect: not_a_dim<int>
// lines: 12
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return x.at(3, 4); }
#else
auto f(const matrix& x) { return x.at(batch{3}, hidden{4}); }
#endif
