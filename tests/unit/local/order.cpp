// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Orders of all types of elements, beside a stable sort by comparisons: of NaN, of zeros, of
// equals, of few and of many.
#include "dimesh/local/order.hpp"

#include "support/shuffled.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <random>

namespace {
using dimesh::index_t;
namespace dl = dimesh::local;
using places = std::vector<std::int32_t>;

template <class T> bool less(T a, T b) { return a < b || (a == a && b != b); }

/// (outer, to, inner) of x (outer, from, inner).
template <class T>
places expected_of(const dl::picked_lines& l, const std::vector<T>& x, bool descending) {
  places ids(static_cast<std::size_t>(l.outer * l.to * l.inner)),
      line(static_cast<std::size_t>(l.from));
  for (index_t o = 0; o < l.outer; ++o)
    for (index_t j = 0; j < l.inner; ++j) {
      const auto value = [&](std::int32_t k) {
        return x[static_cast<std::size_t>((o * l.from + k) * l.inner + j)];
      };
      std::iota(line.begin(), line.end(), 0);
      std::stable_sort(line.begin(), line.end(), [&](std::int32_t a, std::int32_t b) {
        return descending ? less<T>(value(b), value(a)) : less<T>(value(a), value(b));
      });
      for (index_t k = 0; k < l.to; ++k)
        ids[static_cast<std::size_t>((o * l.to + k) * l.inner + j)] =
            line[static_cast<std::size_t>(k)];
    }
  return ids;
}
template <class T> void check(const dl::picked_lines& l, const std::vector<T>& x) {
  for (const bool descending : {false, true}) {
    CAPTURE(l.from);
    CAPTURE(l.to);
    CAPTURE(l.inner);
    CAPTURE(descending);
    CAPTURE(sizeof(T));
    const places expected = expected_of(l, x, descending);
    places ids(expected.size(), -1), turned(ids);
    dl::order_along(l, x.data(), descending, ids.data());
    dl::order_along<dimesh_test::reversed>(l, x.data(), descending, turned.data());
    CHECK((ids == expected));
    CHECK((turned == expected));
  }
}
/// Elements among `kinds` of them, made by `element` of a random number.
template <class T, class F> void check_all(unsigned kinds, const F& element) {
  std::mt19937 random(7);
  for (const index_t inner : {1, 3})
    for (const index_t from : {0, 1, 2, 63, 64, 65, 300})
      for (const index_t to : {0, 1, 8, 63, 64, 65, 200, 300}) {
        if (to > from) continue;
        std::vector<T> x(static_cast<std::size_t>(3 * from * inner));
        for (T& v : x) v = element(static_cast<unsigned>(random()) % kinds);
        check<T>({3, from, to, inner}, x);
      }
}
/// More lines beside one another than are staged at a time, and long ones, of which fewer are.
template <class T> void check_columns() {
  std::mt19937 random(11);
  for (const dl::picked_lines& l :
       {dl::picked_lines{2, 40, 40, 37}, {2, 40, 3, 37}, {1, 9000, 9000, 7}, {1, 9000, 5, 7}}) {
    std::vector<T> x(static_cast<std::size_t>(l.outer * l.from * l.inner));
    for (T& v : x) v = static_cast<T>(random() % 1000u);
    check<T>(l, x);
  }
}
template <class T> void check_numbers() {
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN(),
          tiny = std::numeric_limits<T>::denorm_min(), most = std::numeric_limits<T>::max();
  const T special[] = {T(0),  -T(0), nan,   -nan, inf,   -inf, tiny,
                       -tiny, most,  -most, T(1), T(-1), T(2), std::nextafter(T(1), T(2))};
  check_all<T>(std::size(special), [&](unsigned i) { return special[i]; });
  check_all<T>(1u << 24, [](unsigned i) { return static_cast<T>(i) / 1000 - 5000; });
}
template <class T> void check_integers() {
  check_all<T>(1u << 31, [](unsigned i) {
    return static_cast<T>(static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15u >> 11);
  });
  check_all<T>(3, [](unsigned i) {
    return i == 0 ? std::numeric_limits<T>::min() : i == 1 ? std::numeric_limits<T>::max() : T(1);
  });
}
}  // namespace

TEST_CASE("orders of floating-point numbers: NaN last, zeros equal") {
  check_numbers<float>();
  check_numbers<double>();
}
TEST_CASE("orders of integers and truths") {
  check_integers<std::int8_t>();
  check_integers<std::uint8_t>();
  check_integers<std::int16_t>();
  check_integers<std::int32_t>();
  check_integers<std::uint32_t>();
  check_integers<std::int64_t>();
  check_integers<std::uint64_t>();
  std::mt19937 random(3);
  for (const index_t from : {5, 100}) {
    const auto truths = std::make_unique<bool[]>(static_cast<std::size_t>(from));
    std::vector<std::uint8_t> same;
    for (index_t i = 0; i < from; ++i)
      same.push_back(truths[static_cast<std::size_t>(i)] = random() % 2 != 0);
    const dl::picked_lines l{1, from, from, 1};
    places ids(same.size());
    dl::order_along(l, truths.get(), true, ids.data());
    CHECK((ids == expected_of(l, same, true)));
  }
}
TEST_CASE("orders of columns, several at a time") {
  check_columns<float>();
  check_columns<double>();
  check_columns<std::int16_t>();
  check_columns<long double>();
}
TEST_CASE("the few greatest of lines that rise and that fall") {
  for (const bool rising : {false, true})
    for (const index_t to : {1, 8, 64, 65}) {
      std::vector<float> x(5000);
      for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<float>(rising ? i : x.size() - i) * 0.5f;
      check<float>({1, 5000, to, 1}, x);
    }
}
