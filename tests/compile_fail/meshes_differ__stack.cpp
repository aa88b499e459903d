// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors of two meshes stacked.
// expect: concat, stack: the operands live on different meshes; put them on one
// expect: meshes_differ<
#include <dimesh/dimesh.hpp>
#include <dimesh/op/concat.hpp>

#include "names.hpp"

struct two : dm::dim<2> {};
struct other : dm::mesh<cols> {};
using matrix = dm::tensor<float, by_batch, batch, hidden>;
using foreign = dm::tensor<float, dm::layout<other>, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x, [[maybe_unused]] const foreign& y) { return dm::stack<two>(x, y); }
#else
auto f(const matrix& x, [[maybe_unused]] const foreign& y) { return dm::stack<two>(x, x); }
#endif
