// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which frequencies of real numbers, in rows and columns, are conjugates of others.
#include "dimesh/local/half_frequencies.hpp"

#include <doctest/doctest.h>

#include <vector>

using dimesh::index_t;
using dimesh::local::conjugate_mirrored;
using dimesh::local::half_frequencies;

namespace {

/// The frequencies that rows 0 .. rows / 2 do not have, or that are of the other half.
static_assert(!half_frequencies{1, 1, 9, 1, 0, 8, 16, 4}.is_mirrored(2));
static_assert(half_frequencies{1, 1, 9, 1, 0, 8, 16, 4}.is_mirrored(3));
static_assert(!half_frequencies{1, 1, 9, 1, 0, 8, 16, 4}.is_mirrored(8));
static_assert(half_frequencies{1, 1, 9, 1, 0, 8, 16, 4}.is_mirrored(9));
static_assert(half_frequencies{1, 1, 8, 1, 0, 3, 15, 3}.is_mirrored(2));
static_assert(half_frequencies{1, 1, 9, 1, 0, 8, 16, 4}.is_end(8));
static_assert(!half_frequencies{1, 1, 8, 1, 0, 3, 15, 3}.is_end(7));

using number = std::complex<double>;

std::vector<number> some(index_t n) {
  std::vector<number> x;
  for (index_t i = 0; i < n; ++i)
    x.emplace_back(static_cast<double>(i + 1), static_cast<double>(3 - i));
  return x;
}
number weighed(const number& x, bool conjugated, double by) {
  return by * (conjugated ? std::conj(x) : x);
}

}  // namespace

TEST_CASE("a block of a half: frequencies 3 .. 8 of 16 in 4 rows") {
  const half_frequencies l{2, 1, 6, 3, 3, 0, 16, 4};
  const std::vector<number> x = some(36);
  std::vector<number> y(36), in_place = x;
  conjugate_mirrored(l, 5.0, 2.0, x.data(), y.data());
  for (index_t i = 0; i < 36; ++i) {
    const index_t k = 3 + i / 3 % 6;
    const auto at = static_cast<std::size_t>(i);
    CHECK(y[at] == weighed(x[at], k == 3 || k == 7, k == 8 ? 5 : 2));
  }
  conjugate_mirrored(l, 5.0, 2.0, in_place.data(), in_place.data());
  CHECK(in_place == y);
}

TEST_CASE("a block of columns: rows 0 and 1 of 3, of 5 columns") {
  const half_frequencies l{1, 5, 2, 2, 0, 3, 15, 3};
  const std::vector<number> x = some(20);
  std::vector<number> y(20);
  conjugate_mirrored(l, 1.0, 2.0, x.data(), y.data());
  for (index_t i = 0; i < 20; ++i) {
    const index_t k = i / 4 * 3 + i / 2 % 2;
    const auto at = static_cast<std::size_t>(i);
    CHECK(y[at] == weighed(x[at], k > 7, k == 0 ? 1 : 2));
  }
}
