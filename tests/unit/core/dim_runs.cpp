// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where do a tensor's extents and blocks stand? In place or beyond, copies have their own.
#include "dimesh/core/dim_runs.hpp"

#include <doctest/doctest.h>

#include <utility>

namespace {
using dimesh::index_t;
using dimesh::detail::dim_runs;

dim_runs filled(int dims, index_t first) {
  dim_runs r;
  r.resize(dims);
  for (int d = 0; d < dims; ++d) {
    r.extents()[d] = first + d;
    r.own()[d] = {d, first};
  }
  return r;
}
bool is_filled(const dim_runs& r, int dims, index_t first) {
  for (int d = 0; d < dims; ++d)
    if (r.extents()[d] != first + d || r.own()[d].offset != d || r.own()[d].length != first)
      return false;
  return true;
}

TEST_CASE("dim_runs: copies and assignments, in place and beyond, in both directions") {
  for (const int from : {0, 2, 6, 7, 16})
    for (const int to : {0, 2, 6, 7, 16}) {
      CAPTURE(from);
      CAPTURE(to);
      const dim_runs x = filled(from, 10);
      dim_runs y = filled(to, 20);
      const dim_runs before(y);
      y = x;
      CHECK(is_filled(y, from, 10));
      CHECK(is_filled(before, to, 20));
      if (from > 0) {
        y.extents()[0] = 5;  // nobody else's
        CHECK(is_filled(x, from, 10));
      }
      y.resize(16);
      y.extents()[15] = 3;
      CHECK(y.extents()[15] == 3);
    }
  dim_runs z = filled(9, 30);
  const dim_runs& same = z;
  z = same;
  CHECK(is_filled(z, 9, 30));
  CHECK(is_filled(dim_runs(std::move(z)), 9, 30));
}

constexpr index_t last_of(int dims) {
  dim_runs r;
  r.resize(dims);
  r.extents()[dims - 1] = dims;
  const dim_runs copy(r);
  return copy.extents()[dims - 1];
}
static_assert(last_of(3) == 3 && last_of(12) == 12);  // while compiling, too

}  // namespace
