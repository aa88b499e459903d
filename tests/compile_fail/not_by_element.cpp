// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An element read by its indices.
// expect: tensor: elements are not reached one by one; broadcast_element(x, {3, 4}) gives one to every rank, to_rank(x) all to one rank, data() this rank's block
// expect: not_by_element<
// lines: 13
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return x(3, 4); }
#else
auto f(const matrix& x) { return dm::broadcast_element(x, {3, 4}); }
#endif
