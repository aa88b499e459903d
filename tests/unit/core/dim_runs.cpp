// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where do extents and blocks stand? Six dims in place, more elsewhere: copies have their own,
// while compiling and in a program.
#include "dimesh/core/dim_runs.hpp"

#include <doctest/doctest.h>

#include <utility>

namespace {
using dimesh::detail::dim_runs;

constexpr dim_runs numbered(int size) {
  dim_runs r;
  r.resize(size);
  for (int d = 0; d < size; ++d) {
    r.extents()[d] = 10 + d;
    r.own()[d] = {d, 5};
  }
  return r;
}
constexpr bool is_numbered(const dim_runs& r, int size) {
  for (int d = 0; d < size; ++d)
    if (r.extents()[d] != 10 + d || r.own()[d].offset != d || r.own()[d].length != 5) return false;
  return true;
}
constexpr bool copies(int size) {
  const dim_runs from = numbered(size);
  dim_runs copied(from), assigned, larger = numbered(16), smaller = numbered(1);
  assigned = from;
  larger = from;
  smaller = std::move(copied);
  const dim_runs& same = smaller;
  smaller = same;
  const dim_runs moved(std::move(assigned));
  larger.extents()[0] = 10;  // each has numbers of its own
  return is_numbered(from, size) && is_numbered(larger, size) && is_numbered(smaller, size) &&
         is_numbered(moved, size);
}
constexpr bool copies_of_all() {
  for (const int size : {1, 6, 7, 8, 16})
    if (!copies(size)) return false;
  return true;
}
static_assert(copies_of_all());
constexpr bool apart() {
  const dim_runs from = numbered(8);
  dim_runs to(from);
  to.extents()[7] = 99;
  to.own()[7].length = 1;
  return is_numbered(from, 8);
}
static_assert(apart());

TEST_CASE("dim_runs: copies and assignments, in place and beyond, in both directions") {
  CHECK(copies_of_all());
  for (const int from : {1, 6, 7, 16})
    for (const int to : {1, 6, 7, 16}) {
      CAPTURE(from);
      CAPTURE(to);
      const dim_runs x = numbered(from);
      dim_runs y = numbered(to);
      y = x;
      CHECK(is_numbered(y, from));
      y.resize(16);
      y.extents()[15] = 3;
      CHECK(y.extents()[15] == 3);
      CHECK(is_numbered(x, from));
    }
}

}  // namespace
