// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/local/copy.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <vector>

using dimesh::index_t;

namespace {

using list = std::vector<index_t>;

/// Room for a box with the given strides.
index_t span(const list& extent, const list& stride) {
  index_t last = 0;
  for (std::size_t d = 0; d < extent.size(); ++d)
    last += std::max<index_t>(extent[d] - 1, 0) * stride[d];
  return last + 1;
}

/// visit(offset in the source, offset in the target)
template <class Visit>
void each_pair(const list& extent, const list& from, const list& to, const Visit& visit,
               std::size_t d = 0, index_t f = 0, index_t t = 0) {
  if (d == extent.size()) {
    visit(f, t);
    return;
  }
  for (index_t i = 0; i < extent[d]; ++i)
    each_pair(extent, from, to, visit, d + 1, f + i * from[d], t + i * to[d]);
}

template <class T> void check(const list& extent, const list& from, const list& to) {
  std::vector<T> src(span(extent, from)), dst(span(extent, to));
  std::iota(src.begin(), src.end(), T(1));
  std::iota(dst.begin(), dst.end(), T(5));
  auto copied = dst, added = dst, filled = dst;
  each_pair(extent, from, to, [&](index_t f, index_t t) {
    copied[t] = src[f];
    added[t] = static_cast<T>(added[t] + src[f]);
    filled[t] = T(3);
  });
  const int rank = static_cast<int>(extent.size());
  auto got = dst;
  dimesh::local::copy_box(rank, extent.data(), src.data(), from.data(), got.data(), to.data());
  CHECK(got == copied);
  got = dst;
  dimesh::local::add_box(rank, extent.data(), src.data(), from.data(), got.data(), to.data());
  CHECK(got == added);
  got = dst;
  dimesh::local::fill_box(rank, extent.data(), T(3), got.data(), to.data());
  CHECK(got == filled);
  const dimesh::local::box_move again(rank, extent.data(), from.data(), to.data());
  for (int turn = 0; turn < 2; ++turn) {
    got = dst;
    dimesh::local::copy_box(again, src.data(), got.data());
    CHECK(got == copied);
    got = dst;
    dimesh::local::add_box(again, src.data(), got.data());
    CHECK(got == added);
    got = dst;
    dimesh::local::fill_box(again, T(3), got.data());
    CHECK(got == filled);
  }
}

void check_all(const list& extent, const list& from, const list& to) {
  check<float>(extent, from, to);
  check<double>(extent, from, to);
  check<std::int16_t>(extent, from, to);
}

}  // namespace

TEST_CASE("copy_box: contiguous, strided and merged dims") {
  check_all({}, {}, {});
  check_all({1}, {1}, {1});
  check_all({7}, {1}, {3});
  check_all({7}, {2}, {1});
  check_all({3, 5}, {5, 1}, {5, 1});
  check_all({3, 5}, {9, 1}, {5, 1});
  check_all({3, 5}, {9, 1}, {7, 1});
  check_all({2, 3, 4}, {12, 4, 1}, {30, 5, 1});
  check_all({2, 1, 4}, {100, 50, 1}, {4, 4, 1});
  check_all({2, 2, 3, 4}, {24, 12, 4, 1}, {100, 40, 10, 2});
}

TEST_CASE("copy_box: empty boxes touch nothing") {
  check_all({0}, {1}, {1});
  check_all({3, 0, 2}, {4, 2, 1}, {4, 2, 1});
}

TEST_CASE("copy_box: permuted dims") {
  check_all({40, 70}, {1, 40}, {70, 1});
  check_all({40, 70}, {70, 1}, {1, 40});
  check_all({3, 20, 33}, {1, 3, 60}, {660, 33, 1});
  check_all({3, 20, 33}, {20, 1, 60}, {660, 33, 1});
  check_all({3, 20, 33}, {33, 99, 1}, {1, 99, 3});
  check_all({4, 5, 6, 7}, {1, 4, 20, 120}, {210, 42, 7, 1});
  check_all({4, 5, 6, 7}, {210, 42, 7, 1}, {42, 168, 7, 1});
  check_all({17, 17}, {2, 40}, {40, 2});
}

TEST_CASE("copy_box: an input that does not move is repeated") {
  check_all({3, 8}, {0, 1}, {8, 1});
  check_all({3, 8}, {1, 0}, {8, 1});
  check_all({3, 8}, {0, 0}, {8, 1});
}

TEST_CASE("copy_box: sixteen dims") {
  list extent(16, 1), from(16), to(16);
  extent[0] = 2, extent[5] = 3, extent[9] = 2, extent[15] = 4;
  index_t next = 1;
  for (int d = 15; d >= 0; --d) {
    from[d] = next;
    next = next * extent[d] + 1;
  }
  dimesh::local::row_major_strides(16, extent.data(), to.data());
  check_all(extent, from, to);
}

TEST_CASE("pack and unpack: there and back") {
  const list extent{3, 4, 5}, stride{100, 10, 1};
  std::vector<float> whole(300), packed(60), again(300, -1.0f);
  std::iota(whole.begin(), whole.end(), 0.0f);
  dimesh::local::pack(3, extent.data(), whole.data() + 12, stride.data(), packed.data());
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 4; ++j) {
      for (int k = 0; k < 5; ++k)
        CHECK(packed[(i * 4 + j) * 5 + k] == whole[12 + i * 100 + j * 10 + k]);
    }
  }
  dimesh::local::unpack(3, extent.data(), packed.data(), again.data() + 12, stride.data());
  dimesh::local::unpack_add(3, extent.data(), packed.data(), again.data() + 12, stride.data());
  list dense(3);
  dimesh::local::row_major_strides(3, extent.data(), dense.data());
  CHECK(dense == list{20, 5, 1});
  auto want = std::vector<float>(300, -1.0f);
  each_pair(extent, dense, stride, [&](index_t f, index_t t) { want[12 + t] = 2 * packed[f]; });
  CHECK(again == want);
}
