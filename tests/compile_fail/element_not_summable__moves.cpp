// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Addends of which ranks know no sum, on the way to another layout.
#include <dimesh/dimesh.hpp>
#include <dimesh/op/shard_along.hpp>

#include "names.hpp"

struct vertex {
  float x, y, z;
};
using sums = dm::layout<pod, dm::partial<rows>>;
using by_rows = dm::layout<pod, dm::split<hidden, rows>>;
using ids = dm::tensor<int, whole, batch>;

// mistake: element_not_summable__relayout
// expect: relayout: ranks cannot add up elements of this type; cast the tensor first
// expect: element_not_summable<vertex>
#ifdef COMPILE_FAIL
using table = dm::tensor<vertex, by_rows, hidden>;
#else
using table = dm::tensor<float, by_rows, hidden>;
#endif
auto f(const table& t, const ids& i) { return dm::relayout<whole>(dm::take<hidden>(t, i)); }

// mistake: element_not_summable__reduce_scatter
// expect: reduce_scatter: ranks cannot add up elements of this type; cast the tensor first
// expect: element_not_summable<bool>
#ifdef COMPILE_FAIL
using found = dm::tensor<bool, sums, hidden>;
#else
using found = dm::tensor<dm::index_t, sums, hidden>;
#endif
auto f(const found& x) { return dm::reduce_scatter<hidden, rows>(x); }

// mistake: element_not_summable__shard
// expect: shard: ranks cannot add up elements of this type; cast the tensor first
// expect: element_not_summable<bool>
#ifdef COMPILE_FAIL
using found = dm::tensor<bool, sums, hidden>;
#else
using found = dm::tensor<dm::index_t, sums, hidden>;
#endif
auto f(const found& x) { return dm::shard<dm::split<hidden, cols>>(x); }

// mistake: element_not_summable__replicate
// expect: replicate: ranks cannot add up elements of this type; cast the tensor first
// expect: element_not_summable<bool>
#ifdef COMPILE_FAIL
using found = dm::tensor<bool, sums, hidden>;
#else
using found = dm::tensor<dm::index_t, sums, hidden>;
#endif
auto f(const found& x) { return dm::replicate(x); }

// mistake: element_not_summable__shard_along
// expect: shard_along: ranks cannot add up elements of this type; cast the tensor first
// expect: element_not_summable<bool>
#ifdef COMPILE_FAIL
using found = dm::tensor<bool, sums, hidden>;
#else
using found = dm::tensor<dm::index_t, sums, hidden>;
#endif
auto f(const found& x) { return dm::shard_along<hidden, rows>(x); }
