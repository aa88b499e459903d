// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ends where a dim says how many elements there are.
#include <dimesh/dimesh.hpp>
#include <dimesh/op/slice.hpp>

#include "names.hpp"

struct part : dm::dim<3> {};
using matrix = dm::tensor<float, by_batch, batch, hidden>;

// mistake: habits_of_slices__static_end
// expect: slice: as many elements as the second dim has are taken from where it begins: slice<token, part>(x, 2); with a step, slice<token, part>(x, 2, 3, part{})
// expect: wrong_arguments<dimesh::basic_tensor<
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::slice<hidden, part>(x, 2, 5); }
#else
auto f(const matrix& x) { return dm::slice<hidden, part>(x, 2); }
#endif
