// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/local/reduce.hpp"

#include "support/nests.hpp"
#include "support/shuffled.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace dimesh_test;
using dimesh::local::greatest;
using dimesh::local::least;
using dimesh::local::map_reduce;
using dimesh::local::nest;
using dimesh::local::plus;
using dimesh::local::reduce;

namespace {

template <class Op, class T, class Out> void expect(const auto& extent, Out& want, auto& x) {
  std::vector<char> fresh(want.data.size(), 1);
  each(extent, [&](const auto& at) {
    T& total = want(at);
    char& first = fresh[static_cast<std::size_t>(&total - want.data.data())];
    if (first)
      total = x(at);
    else if constexpr (std::is_same_v<Op, plus>)
      total += x(at);
    else if constexpr (std::is_same_v<Op, greatest>)
      total = std::max<T>(total, x(at));
    else
      total = std::min<T>(total, x(at));
    first = 0;
  });
}

template <class Op, index_t Inner, class T, step... O, step... X>
void check_op(std::array<index_t, sizeof...(O)> extent, sample<T, O...> out, sample<T, X...> x) {
  constexpr int G = sizeof...(O);
  const nest<G, Inner> space{extent};
  auto want = out;
  const auto blank = out.data;
  expect<Op, T>(extent, want, x);
  reduce(Op{}, space, out.out(), x.in());
  CHECK(out.data == want.data);

  namespace detail = dimesh::local::detail;
  using Out = decltype(out.out());
  using In = decltype(x.in());
  out.data = blank;
  reduce<reversed>(Op{}, space, out.out(), x.in());
  CHECK(out.data == want.data);
  out.data = blank;
  reduce<threaded>(Op{}, space, out.out(), x.in());
  CHECK(out.data == want.data);

  out.data = blank;
  each(extent, [&](const auto& at) { out(at) = Op::template identity<T>(); });
  using row = detail::reduce_row<Op, detail::keep::atomic, detail::itself>;
  const detail::by_element<G, Inner, row, Out, In> one{space, row{}, {out.out(), x.in()}};
  for (index_t e = 0; e < space.size(); ++e) one(e);
  CHECK(out.data == want.data);
}

template <index_t Inner = dimesh::dynamic, class Out, class X>
void check(const typename Out::extents& e, const Out& out, const X& x) {
  check_op<plus, Inner>(e, out, x);
  check_op<greatest, Inner>(e, out, x);
  check_op<least, Inner>(e, out, x);
}

const std::vector<std::array<index_t, 2>> matrices{{1, 1}, {3, 10}, {17, 1}, {33, 70}, {5, 1000}};

}  // namespace

TEST_CASE("reduce: to one number") {
  for (const index_t n : {1, 2, 15, 16, 17, 255, 256, 257, 1000, 70000}) {
    const std::array e{n};
    check(e, sample<double, zero>(e), sample<double, unit>(e));
    check(e, sample<double, zero>(e), sample<double, strided>(e));
  }
  check({}, sample<double>({}), sample<double>({}));
}

TEST_CASE("reduce: rows, columns, everything, nothing") {
  for (const auto& e : matrices) {
    using plain = sample<double, strided, unit>;
    using turned = sample<double, unit, strided>;
    check(e, sample<double, strided, zero>(e), plain(e));
    check(e, sample<double, unit, zero>(e), turned(e));
    check(e, sample<double, zero, unit>(e), plain(e));
    check(e, sample<double, zero, unit>(e), turned(e));
    check(e, sample<double, zero, zero>(e), plain(e));
    check(e, plain(e), plain(e));
  }
}

TEST_CASE("reduce: the middle, and alternating groups") {
  for (const auto& e : std::vector<std::array<index_t, 3>>{{2, 3, 4}, {3, 17, 65}, {5, 1, 20}}) {
    using full = sample<double, strided, strided, unit>;
    check(e, sample<double, strided, zero, unit>(e), full(e));
    check(e, sample<double, zero, unit, zero>(e), full(e));
  }
  const std::array<index_t, 4> e{2, 3, 4, 5};
  check(e, sample<double, zero, strided, zero, unit>(e),
        sample<double, strided, strided, strided, unit>(e));
}

TEST_CASE("reduce: a short static row") {
  const std::array<index_t, 2> e{9, 10};
  check<10>(e, sample<double, strided, zero>(e), sample<double, strided, unit>(e));
  check<10>(e, sample<double, zero, unit>(e), sample<double, strided, unit>(e));
  check<10>(e, sample<double, zero, zero>(e), sample<double, unit, strided>(e));
}

TEST_CASE("reduce: whole numbers") {
  const std::array<index_t, 2> e{7, 40};
  check(e, sample<int, strided, zero>(e), sample<int, strided, unit>(e));
  check(e, sample<index_t, zero, unit>(e), sample<index_t, strided, unit>(e));
}

TEST_CASE("reduce: over nothing is the identity") {
  const double inf = std::numeric_limits<double>::infinity();
  const std::array<index_t, 2> e{3, 0};
  sample<double, strided, unit> x(e);
  sample<double, strided, zero> out(e);
  reduce(plus{}, nest<2>{e}, out.out(), x.in());
  for (index_t i = 0; i < 3; ++i) CHECK(out({i, 0}) == 0);
  reduce(greatest{}, nest<2>{e}, out.out(), x.in());
  for (index_t i = 0; i < 3; ++i) CHECK(out({i, 0}) == -inf);
  reduce(least{}, nest<2>{e}, out.out(), x.in());
  for (index_t i = 0; i < 3; ++i) CHECK(out({i, 0}) == inf);
  CHECK(greatest::identity<int>() == std::numeric_limits<int>::min());
  CHECK(least::identity<int>() == std::numeric_limits<int>::max());
}

TEST_CASE("reduce: the extreme of infinities is infinite") {
  const float inf = std::numeric_limits<float>::infinity();
  for (const index_t n : {1, 10, 100}) {
    const std::array<index_t, 1> e{n};
    sample<float, unit> x(e);
    sample<float, zero> out(e);
    std::fill(x.data.begin(), x.data.end(), -inf);
    reduce(greatest{}, nest<1>{e}, out.out(), x.in());
    CHECK(out({0}) == -inf);
    std::fill(x.data.begin(), x.data.end(), inf);
    reduce(least{}, nest<1>{e}, out.out(), x.in());
    CHECK(out({0}) == inf);
  }
}

TEST_CASE("reduce: NaN propagates from anywhere") {
  for (const index_t n : {5, 300, 5000}) {
    for (const index_t where : {index_t(0), index_t(3), n / 2, n - 1}) {
      const std::array<index_t, 2> e{2, n};
      sample<float, strided, unit> x(e);
      sample<float, strided, zero> out(e);
      x({1, where}) = std::numeric_limits<float>::quiet_NaN();
      reduce(greatest{}, nest<2>{e}, out.out(), x.in());
      CHECK(!std::isnan(out({0, 0})));
      CHECK(std::isnan(out({1, 0})));
      reduce(least{}, nest<2>{e}, out.out(), x.in());
      CHECK(std::isnan(out({1, 0})));
      reduce(plus{}, nest<2>{e}, out.out(), x.in());
      CHECK(std::isnan(out({1, 0})));
    }
  }
}

TEST_CASE("map_reduce: a function of several arrays, fused") {
  const std::array<index_t, 2> e{11, 90};
  sample<double, strided, unit> x(e);
  sample<double, zero, unit> y(e);
  sample<double, strided, zero> out(e);
  map_reduce(
      plus{}, nest<2>{e}, [](double a, double b) { return a * b; }, out.out(), x.in(), y.in());
  for (index_t i = 0; i < 11; ++i) {
    double sum = 0;
    for (index_t j = 0; j < 90; ++j) sum += x({i, j}) * y({i, j});
    CHECK(out({i, 0}) == sum);
  }
}

TEST_CASE("reduce: pieces, each with a result of its own") {
  namespace detail = dimesh::local::detail;
  const std::array<index_t, 2> e{13, 40}, narrow{130, 10};
  sample<double, strided, unit> x(e), y(narrow);
  sample<double, zero, zero> out(e), want(e);
  sample<double, zero, unit> row(narrow), want_row(narrow);
  expect<plus, double>(e, want, x);
  expect<plus, double>(narrow, want_row, y);
  for (const index_t most : {1, 3, 100}) {
    out({0, 0}) = 0;
    detail::reduce_apart<threaded, plus>(most, nest<2>{e}, detail::itself{}, out.out(), x.in());
    CHECK(out({0, 0}) == want({0, 0}));
    for (index_t j = 0; j < 10; ++j) row({0, j}) = 0;
    detail::reduce_apart<reversed, plus>(most, nest<2, 10>{narrow}, detail::itself{}, row.out(),
                                         y.in());
    CHECK(row.data == want_row.data);
  }
}

TEST_CASE("reduce: a long sum of floats keeps its digits") {
  const std::array<index_t, 1> e{4'000'000};
  sample<float, unit> x(e);
  sample<float, zero> out(e);
  for (float& v : x.data) v = 0.1f;
  reduce(plus{}, nest<1>{e}, out.out(), x.in());
  const double exact = 4e6 * static_cast<double>(0.1f);
  float loop = 0;
  for (int i = 0; i < 4'000'000; ++i) loop += 0.1f;
  CHECK(std::abs(out({0}) - exact) < 0.1 * std::abs(static_cast<double>(loop) - exact));
  CHECK(out({0}) == doctest::Approx(exact).epsilon(1e-3));
}
