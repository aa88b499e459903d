// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tensor made without its grid.
// expect: zeros: a tensor or a struct of them stands in the angle brackets, the grid and open extents in the parentheses: zeros<X>(grid, length{7})
// expect: wrong_arguments<>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>&) { return dm::zeros<matrix>(); }
#else
auto f(const dm::grid<pod>& g) { return dm::zeros<matrix>(g); }
#endif
