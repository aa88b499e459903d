// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/layout/box.hpp"

#include <doctest/doctest.h>

namespace {

using namespace dimesh::detail;
using dimesh::index_t;

constexpr table split_over(int dim, int axis) {
  table t;
  t.axes = 2;
  t.set_split(axis, dim);
  t.uneven[dim] = true;
  return t;
}
constexpr index_t extent[] = {10, 6}, sizes[] = {4, 2}, origin[] = {0, 0}, last[] = {3, 1};
constexpr box first_rows = box_at(split_over(0, 0), 2, extent, sizes, origin);
constexpr box last_rows = box_at(split_over(0, 0), 2, extent, sizes, last);
constexpr box right_half = box_at(split_over(1, 1), 2, extent, sizes, last);

static_assert(first_rows.size() == 3 * 6 && last_rows.size() == 1 * 6 && last_rows.begin[0] == 9);
static_assert(intersection(first_rows, last_rows).size() == 0);
static_assert(intersection(first_rows, right_half).size() == 3 * 3);
static_assert(offset_in(first_rows, intersection(first_rows, right_half)) == 3);
static_assert(!is_run(first_rows, intersection(first_rows, right_half)));
static_assert(is_run(right_half, intersection(first_rows, right_half)));
static_assert(box{}.size() == 1);  // a tensor without dims has one element

static_assert(talking(0b11, sizes) == 0b11 && talking(0b11, origin) == 0);
static_assert(group_size(0b11, sizes) == 8 && group_size(0b10, sizes) == 2 &&
              group_size(0, sizes) == 1);

constexpr index_t mine[dimesh::max_axes] = {2, 1};
static_assert(peer(5, 0b11, sizes, mine).coords[0] == 2 &&
              peer(5, 0b11, sizes, mine).coords[1] == 1);
static_assert(peer(3, 0b01, sizes, mine).coords[0] == 3 &&
              peer(3, 0b01, sizes, mine).coords[1] == 1);
static_assert(peer(0, 0, sizes, nullptr).coords[0] == 0);

TEST_CASE("the blocks of all ranks tile the whole") {
  placement where;
  where.rank = 2;
  where.extent[0] = 10;
  where.extent[1] = 6;
  where.sizes = sizes;
  const table t = split_over(0, 0);
  index_t elements = 0, next = 0;
  for (index_t r = 0; r < 4; ++r) {
    const box b = where.peers(t, r, 0b01);
    CHECK(b.begin[0] == next);
    next = b.begin[0] + b.length[0];
    elements += b.size();
  }
  CHECK(elements == where.whole().size());
  CHECK(where.own(t).size() == where.origins(t).size());
}

}  // namespace
