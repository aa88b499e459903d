// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks are to change places along an axis that makes none.
// expect: permute_along: the axis splits no dim of the tensor, so that there are no blocks to exchange along it
// expect: axis_splits_nothing<cols>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::permute_along<cols>(x, std::array{1, 0}); }
#else
auto f(const matrix& x) { return dm::permute_along<rows>(x, std::array{1, 0}); }
#endif
