// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A minor dim that is split, merged.
// expect: merge: only the first dim may be split, and evenly; whole<dim> the others
// expect: dim_is_split<batch, rows>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/merge.hpp>

#include "names.hpp"

struct both : dm::dim<48> {};
using turned = dm::tensor<float, by_batch, hidden, batch>;
#ifdef COMPILE_FAIL
auto f(const turned& x) { return dm::merge<both, hidden, batch>(x); }
#else
auto f(const turned& x) { return dm::merge<both, batch, hidden>(dm::permute<batch, hidden>(x)); }
#endif
