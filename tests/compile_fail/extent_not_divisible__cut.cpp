// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A split dim cut so that parts do not come out even.
// expect: cut: the extent of the first part is not a multiple of the axes that split the dim; whole<dim> it, or cut it into others
// expect: extent_not_divisible<three
#include <dimesh/dimesh.hpp>
#include <dimesh/op/merge.hpp>

#include "names.hpp"

struct two : dm::dim<2> {};
struct three : dm::dim<3> {};
using matrix = dm::tensor<float, dm::layout<pod, dm::split<hidden, rows>>, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::cut<hidden, three, two>(x); }
#else
auto f(const matrix& x) { return dm::cut<hidden, two, three>(x); }
#endif
