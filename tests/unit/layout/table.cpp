// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/layout/table.hpp"

#include <doctest/doctest.h>

namespace {
using dimesh::use;
using dimesh::detail::table;

/// Axes: one splits dim 1, one splits dim 0, one cuts dim 1 further, a maximum, addends, nothing.
constexpr table sample() {
  table t;
  t.axes = 6;
  t.set_split(0, 1);
  t.set_split(1, 0);
  t.set_split(2, 1);
  t.axis[3].what = use::partial_max;
  t.axis[4].what = use::partial;
  return t;
}
static_assert(sample().axes_of(0) == 0b10 && sample().axes_of(1) == 0b101);
static_assert(sample().axes_of(2) == 0);
static_assert(sample().first_partial() == 3 && sample().first_partial(false) == 3);
static_assert(sample().any_partial() && !table{}.any_partial());

TEST_CASE("first_partial: addends count unless they are left out") {
  table t = sample();
  t.axis[3] = {};
  CHECK(t.first_partial() == 4);
  CHECK(t.first_partial(false) == -1);
  t.axis[4] = {};
  CHECK(t.first_partial() == -1);
}
}  // namespace
