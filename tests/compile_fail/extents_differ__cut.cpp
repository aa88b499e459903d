// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dim cut into parts that are more than it has.
// expect: cut: the extents of the parts do not multiply to that of the dim
// expect: extents_differ<hidden, two>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/merge.hpp>

#include "names.hpp"

struct two : dm::dim<2> {};
struct pair : dm::dim<2> {};
struct part : dm::dim<3> {};
struct both : dm::dim<12> {};
using matrix = dm::tensor<float, by_batch, batch, hidden>;
using other = dm::tensor<float, by_batch, batch, part>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::cut<hidden, two, pair>(x); }
#else
auto f(const matrix& x) { return dm::cut<hidden, two, part>(x); }
#endif
