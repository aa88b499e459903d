// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements by number, and added up where they came from: numbers of all types, those that are no
// place among them. Whole places, to others.
#include "dimesh/local/gather.hpp"

#include "support/shuffled.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace {
using dimesh::index_t;
namespace dl = dimesh::local;

/// Numbers near the places of l, and the type's own extremes.
template <class I> std::vector<I> numbers(const dl::picked_lines& l, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<I> ids(static_cast<std::size_t>(l.outer * l.to * l.inner));
  for (I& k : ids) {
    const unsigned kind = static_cast<unsigned>(random()) % 8;
    k = kind == 0   ? static_cast<I>(-1)
        : kind == 1 ? std::numeric_limits<I>::min()
        : kind == 2 ? std::numeric_limits<I>::max()
        : kind == 3 ? static_cast<I>((std::uint64_t{1} << 32) + 1)  // of 64 bits: no place
        : kind == 4 ? static_cast<I>(l.first + l.from)
        : kind == 5
            ? static_cast<I>(l.first - 1)
            : static_cast<I>(l.first + static_cast<index_t>(random()) % (l.from > 0 ? l.from : 1));
  }
  return ids;
}
template <class T, class I> void check(const dl::picked_lines& l) {
  CAPTURE(l.from);
  CAPTURE(l.to);
  CAPTURE(l.inner);
  CAPTURE(l.first);
  CAPTURE(sizeof(I));
  std::vector<T> x(static_cast<std::size_t>(l.outer * l.from * l.inner));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(i + 1);
  const auto ids = numbers<I>(l, 5);
  std::vector<T> y(ids.size(), T(-1)), turned(y), expected(y), back(x.size(), T(-1)),
      sums(x.size(), T(0));
  for (index_t o = 0; o < l.outer; ++o)
    for (index_t k = 0; k < l.to; ++k)
      for (index_t j = 0; j < l.inner; ++j) {
        const auto i = static_cast<std::size_t>((o * l.to + k) * l.inner + j);
        expected[i] = T(0);
        if (std::cmp_less(ids[i], l.first) || std::cmp_greater_equal(ids[i], l.first + l.from))
          continue;
        const auto at = static_cast<std::size_t>(
            (o * l.from + static_cast<index_t>(ids[i]) - l.first) * l.inner + j);
        expected[i] = x[at];
        sums[at] = static_cast<T>(sums[at] + x[at]);
      }
  dl::gather_along(l, x.data(), ids.data(), y.data());
  dl::gather_along<dimesh_test::reversed>(l, x.data(), ids.data(), turned.data());
  CHECK(y == expected);
  CHECK(turned == expected);
  dl::scatter_along(l, y.data(), ids.data(), back.data());
  CHECK(back == sums);
}
template <class T, class I> void check_all() {
  for (const index_t outer : {0, 1, 4})
    for (const index_t from : {0, 1, 5, 100})
      for (const index_t to : {0, 1, 7, 33})
        for (const index_t inner : {0, 1, 2, 19})
          for (const index_t first :
               {index_t{0}, index_t{3}, (index_t{1} << 31) - 50, index_t{1} << 32})
            check<T, I>({outer, from, to, inner, first});
}

/// Some places of x to some of y: both said, one of them, none.
void check_moved(const dl::moved_places& l) {
  CAPTURE(l.count);
  CAPTURE(l.inner);
  std::mt19937 random(7);
  const auto order = [&random](index_t n) {
    std::vector<index_t> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), index_t{0});
    std::shuffle(all.begin(), all.end(), random);
    return all;
  };
  const std::vector<index_t> from = order(l.from), to = order(l.to);
  std::vector<double> x(static_cast<std::size_t>(l.outer * l.from * l.inner));
  std::iota(x.begin(), x.end(), 1.0);
  for (const index_t* const a : {from.data(), static_cast<const index_t*>(nullptr)})
    for (const index_t* const b : {to.data(), static_cast<const index_t*>(nullptr)}) {
      std::vector<double> y(static_cast<std::size_t>(l.outer * l.to * l.inner), -1), turned(y),
          on_device(y), expected(y);
      for (index_t o = 0; o < l.outer; ++o)
        for (index_t k = 0; k < l.count; ++k)
          for (index_t j = 0; j < l.inner; ++j)
            expected[static_cast<std::size_t>((o * l.to + (b ? b[k] : k)) * l.inner + j)] =
                x[static_cast<std::size_t>((o * l.from + (a ? a[k] : k)) * l.inner + j)];
      dl::move_places(l, a, b, x.data(), y.data());
      dl::move_places<dimesh_test::reversed>(l, a, b, x.data(), turned.data());
      dl::detail::each_for_itself<Kokkos::Serial>(
          l.outer * l.count * l.inner,
          dl::detail::moved_element<double>{l, a, b, x.data(), on_device.data()});
      CHECK(y == expected);
      CHECK(turned == expected);
      CHECK(on_device == expected);
    }
}
}  // namespace

TEST_CASE("whole places: on one thread, in pieces, element by element") {
  for (const index_t outer : {0, 1, 3})
    for (const index_t inner : {0, 1, 5}) {
      check_moved({outer, 0, 4, 2, inner});
      check_moved({outer, 1, 1, 1, inner});
      check_moved({outer, 7, 9, 7, inner});
      check_moved({outer, 12, 12, 20, inner});
    }
}

TEST_CASE("gather and scatter: numbers of all types; 0 and nowhere where there is no place here") {
  check_all<float, std::int8_t>();
  check_all<float, std::uint8_t>();
  check_all<float, std::int16_t>();
  check_all<float, std::int32_t>();
  check_all<float, std::uint32_t>();
  check_all<float, std::int64_t>();
  check_all<double, std::int32_t>();
  check_all<std::int64_t, std::int64_t>();
  check_all<std::int8_t, std::int32_t>();
}
