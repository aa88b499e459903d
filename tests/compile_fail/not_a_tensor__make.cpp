// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A layout where a tensor is to be made.
// expect: make: a tensor or a struct of them stands in the angle brackets, the grid and open extents in the parentheses: make<X>(grid, length{7})
// expect: not_a_tensor<dimesh::layout<pod
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) { return dm::make<by_batch>(g); }
#else
auto f(const dm::grid<pod>& g) { return dm::make<matrix>(g); }
#endif
