// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/layout/block.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "support/layouts.hpp"

using namespace dimesh;
namespace {

struct batch : dim<24> {};
struct odd : dim<10> {};
struct none : dim<0> {};
struct length : dim<> {};
struct rows : axis<2> {};
struct cols : axis<3> {};
struct wide : axis<> {};
struct pod : mesh<rows, cols, wide> {};

template <class D, class... Rule> using S = detail::make_spec<float, layout<pod, Rule...>, D>;

// ---- what the compiler knows of a block's length ------------------------------------------------
static_assert(detail::static_block_length<S<batch>, batch>() == 24);
static_assert(detail::static_block_length<S<batch, split<batch, rows>>, batch>() == 12);
static_assert(detail::static_block_length<S<batch, split<batch, cols, rows>>, batch>() == 4);
static_assert(detail::static_block_length<S<batch, split<batch, wide>>, batch>() == dynamic);
static_assert(detail::static_block_length<S<batch, split<batch, rows, wide>>, batch>() == dynamic);
static_assert(detail::static_block_length<S<odd, split<uneven<odd>, cols>>, odd>() == dynamic);
static_assert(detail::static_block_length<S<odd, split<uneven<odd>, rows>>, odd>() ==
              5);  // comes out even
static_assert(detail::static_block_length<S<none, split<none, cols>>, none>() == 0);
static_assert(detail::static_block_length<S<length>, length>() == dynamic);
static_assert(detail::static_block_length<S<length, split<length, rows>>, length>() == dynamic);
static_assert(detail::static_block_length<S<batch, split<halo<batch, 2>, rows>>, batch>() == 16);
static_assert(detail::static_block_length<S<batch, split<halo<batch, 2, 1>, rows>>, batch>() == 15);
static_assert(detail::static_block_length<S<batch, partial<wide>>, batch>() == 24);

// ---- blocks by hand -----------------------------------------------------------------------------
using U1 = S<length, split<uneven<length>, wide>>;
using U2 = S<length, split<uneven<length>, wide, rows>>;  // wide major
constexpr block at(const detail::table& t, index_t n, std::array<index_t, 3> sizes,
                   std::array<index_t, 3> coords) {
  return detail::block_at(t, 0, n, sizes.data(), coords.data());
}
// 10 over 4: blocks of 3 3 3 1.
static_assert(at(U1::table, 10, {2, 3, 4}, {0, 0, 0}) == block{0, 3});
static_assert(at(U1::table, 10, {2, 3, 4}, {1, 2, 2}) == block{6, 3});
static_assert(at(U1::table, 10, {2, 3, 4}, {0, 0, 3}) == block{9, 1});
// 5 over 4: 2 2 1 0: the empty block begins at the end.
static_assert(at(U1::table, 5, {2, 3, 4}, {0, 0, 2}) == block{4, 1});
static_assert(at(U1::table, 5, {2, 3, 4}, {0, 0, 3}) == block{5, 0});
// More ranks than elements, and none at all.
static_assert(at(U1::table, 2, {2, 3, 7}, {0, 0, 1}) == block{1, 1});
static_assert(at(U1::table, 2, {2, 3, 7}, {0, 0, 6}) == block{2, 0});
static_assert(at(U1::table, 0, {2, 3, 7}, {0, 0, 0}) == block{0, 0});
// 10 over 4 x 2: blocks of 3 are cut into 2 and 1; the block of 1 into 1 and 0.
static_assert(at(U2::table, 10, {2, 3, 4}, {0, 0, 1}) == block{3, 2});
static_assert(at(U2::table, 10, {2, 3, 4}, {1, 0, 1}) == block{5, 1});
static_assert(at(U2::table, 10, {2, 3, 4}, {0, 0, 3}) == block{9, 1});
static_assert(at(U2::table, 10, {2, 3, 4}, {1, 0, 3}) == block{10, 0});

static_assert(detail::ranks_over(U2::table, 0, std::array<index_t, 3>{2, 3, 4}.data()) == 8);
static_assert(detail::ranks_over(S<batch>::table, 0, std::array<index_t, 3>{2, 3, 4}.data()) == 1);

// ---- laws over many extents and sizes -----------------------------------------------------------

/// The blocks of a dim of n elements at all coordinates, in the order major to minor.
template <class Table>
std::vector<block> all_blocks(const Table& t, index_t n, const std::vector<index_t>& sizes) {
  std::vector<block> blocks;
  std::vector<index_t> coords(sizes.size(), 0);
  const int levels = t.split_count(0);
  for (;;) {
    blocks.push_back(detail::block_at(t, 0, n, sizes.data(), coords.data()));
    int level = levels - 1;
    for (; level >= 0; --level) {
      const auto a = static_cast<std::size_t>(t.axis_at(0, level));
      if (++coords[a] < sizes[a]) break;
      coords[a] = 0;
    }
    if (level < 0) return blocks;
  }
}

void check_blocks(const detail::table& t, index_t n, const std::vector<index_t>& sizes) {
  index_t next = 0;
  index_t ranks = 1;
  for (const index_t p : sizes) ranks *= p;
  for (const block b : all_blocks(t, n, sizes)) {
    INFO("n = ", n, ", block at ", b.offset, " of ", b.length);
    REQUIRE(b.length >= 0);
    REQUIRE(b.offset == next);  // in order, without gaps or overlaps
    next += b.length;
    if (n % ranks == 0) REQUIRE(b.length == n / ranks);
  }
  REQUIRE(next == n);
}

TEST_CASE("blocks are disjoint, in order, and cover the dim") {
  using test_support::p;
  using one =
      detail::make_spec<int, layout<test_support::line, split<uneven<p>, test_support::x>>, p>;
  using two = detail::make_spec<
      int, layout<test_support::plane, split<uneven<p>, test_support::y, test_support::x>>, p>;
  using three =
      detail::make_spec<int,
                        layout<test_support::cube,
                               split<uneven<p>, test_support::z, test_support::x, test_support::y>>,
                        p>;
  for (index_t n = 0; n <= 40; ++n)
    for (index_t i = 1; i <= 9; ++i) {
      check_blocks(one::table, n, {i});
      for (index_t j = 1; j <= 5; ++j) {
        check_blocks(two::table, n, {i, j});
        for (index_t k = 1; k <= 3; ++k) check_blocks(three::table, n, {i, j, k});
      }
    }
}

TEST_CASE("gathering the minor axis gives the coarser split") {
  using test_support::p;
  using test_support::plane;
  using coarse = detail::make_spec<int, layout<plane, split<uneven<p>, test_support::x>>, p>;
  using fine =
      detail::make_spec<int, layout<plane, split<uneven<p>, test_support::x, test_support::y>>, p>;
  for (index_t n = 0; n <= 60; ++n)
    for (index_t major = 1; major <= 8; ++major)
      for (index_t minor = 1; minor <= 8; ++minor) {
        const index_t sizes[] = {major, minor};
        for (index_t i = 0; i < major; ++i) {
          const index_t here[] = {i, 0};
          const block whole = detail::block_at(coarse::table, 0, n, sizes, here);
          index_t next = whole.offset;
          index_t longest = 0;
          for (index_t j = 0; j < minor; ++j) {
            const index_t there[] = {i, j};
            const block part = detail::block_at(fine::table, 0, n, sizes, there);
            REQUIRE(part.offset == next);
            next += part.length;
            if (j == 0) longest = part.length;
            REQUIRE(part.length <= longest);  // the first is the largest: the origin stands for all
          }
          REQUIRE(next == whole.offset + whole.length);
        }
      }
}

TEST_CASE("no block is larger than that of the origin") {
  using test_support::p;
  using fine = detail::make_spec<
      int, layout<test_support::plane, split<uneven<p>, test_support::y, test_support::x>>, p>;
  for (index_t n = 0; n <= 50; ++n)
    for (index_t i = 1; i <= 6; ++i)
      for (index_t j = 1; j <= 6; ++j) {
        const std::vector<block> blocks = all_blocks(fine::table, n, {i, j});
        for (const block b : blocks) REQUIRE(b.length <= blocks.front().length);
      }
}

}  // namespace
