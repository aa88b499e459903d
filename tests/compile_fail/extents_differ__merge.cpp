// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dims merged into one of another extent.
// expect: merge: the extents of the dims do not multiply to that of the new one
// expect: extents_differ<fifty, batch>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/merge.hpp>

#include "names.hpp"

struct fifty : dm::dim<50> {};
struct all : dm::dim<48> {};
using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::merge<fifty, batch, hidden>(x); }
#else
auto f(const matrix& x) { return dm::merge<all, batch, hidden>(x); }
#endif
