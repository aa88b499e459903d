// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: -O2
#include "dimesh/local/reduce.hpp"

#include "support/plans.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace dimesh_test;
using dimesh::local::greatest;
using dimesh::local::least;
using dimesh::local::plus;
using dimesh::local::row_of;
using dimesh::local::value_of_row;

namespace {

using dimesh::local::detail::itself;
using dimesh::local::detail::keep;

/// A row as one result, as every reduction has it.
template <class Op, class T> T reduced(const std::vector<T>& x) {
  T y{};
  dimesh::local::detail::reduce_row<Op, keep::nothing, itself>{}(
      static_cast<index_t>(x.size()), value_of_row<T>{&y}, row_of<const T>{x.data()});
  return y;
}
template <class Op, class T> void check_op(index_t n) {
  const auto x = elements<T>(n, 0), before = elements<T>(n, 1);
  T want = Op::template identity<T>();
  for (const T v : x) want = Op::join(want, v);
  CHECK(reduced<Op>(x) == want);
  T joined = 3;
  const dimesh::local::detail::reduce_row<Op, keep::joined, itself> more{};
  more(n, value_of_row<T>{&joined}, row_of<const T>{x.data()});
  CHECK(joined == Op::join(T(3), want));
  // A row joined to a row of results; a value to all of them.
  auto rows = before, all = before;
  more(n, row_of<T>{rows.data()}, row_of<const T>{x.data()});
  more(n, row_of<T>{all.data()}, value_of_row<const T>{&want});
  bool same = true;
  for (std::size_t k = 0; k < x.size(); ++k)
    same = same && rows[k] == Op::join(before[k], x[k]) && all[k] == Op::join(before[k], want);
  CHECK(same);
}
template <class T> void check() {
  for (const index_t n : {1, 2, 15, 16, 17, 255, 256, 257, 1000, 70000}) {
    check_op<plus, T>(n);
    check_op<greatest, T>(n);
    check_op<least, T>(n);
  }
}

}  // namespace

TEST_CASE("reduce: rows of every length") {
  check<double>();
  check<int>();
  check<index_t>();
}

TEST_CASE("reduce: over nothing is the identity") {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> nothing;
  CHECK(reduced<plus>(nothing) == 0);
  CHECK(reduced<greatest>(nothing) == -inf);
  CHECK(reduced<least>(nothing) == inf);
  CHECK(greatest::identity<int>() == std::numeric_limits<int>::min());
  CHECK(least::identity<int>() == std::numeric_limits<int>::max());
}

TEST_CASE("reduce: the extreme of infinities is infinite") {
  const float inf = std::numeric_limits<float>::infinity();
  for (const std::size_t n : {1u, 10u, 100u}) {
    CHECK(reduced<greatest>(std::vector<float>(n, -inf)) == -inf);
    CHECK(reduced<least>(std::vector<float>(n, inf)) == inf);
  }
}

TEST_CASE("reduce: NaN propagates from anywhere") {
  for (const index_t n : {5, 300, 5000, 40000}) {
    for (const index_t where : {index_t(0), index_t(3), n / 2, n - 1}) {
      auto x = elements<float>(n, 0);
      CHECK(!std::isnan(reduced<greatest>(x)));
      CHECK(!std::isnan(reduced<least>(x)));
      CHECK(!std::isnan(reduced<plus>(x)));
      x[static_cast<std::size_t>(where)] = std::numeric_limits<float>::quiet_NaN();
      CHECK(std::isnan(reduced<greatest>(x)));
      CHECK(std::isnan(reduced<least>(x)));
      CHECK(std::isnan(reduced<plus>(x)));
    }
  }
}

TEST_CASE("reduce: a long sum of floats keeps its digits") {
  const std::vector<float> x(4'000'000, 0.1f);
  const double exact = 4e6 * static_cast<double>(0.1f), sum = reduced<plus>(x);
  float loop = 0;
  for (const float v : x) loop += v;
  CHECK(std::abs(sum - exact) < 0.1 * std::abs(static_cast<double>(loop) - exact));
  CHECK(sum == doctest::Approx(exact).epsilon(1e-3));
}
