// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// least: -O1
// options: -O2
#include "dimesh/local/reduce_over.hpp"

#include "support/plans.hpp"
#include "support/shuffled.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <tuple>

using namespace dimesh_test;
using dimesh::bfloat16;
using dimesh::local::greatest;
using dimesh::local::least;
using dimesh::local::loops;
using dimesh::local::map_reduce_over;
using dimesh::local::plus;
using dimesh::local::times;

namespace {

struct itself {
  template <class A> KOKKOS_FUNCTION auto operator()(A a) const { return a; }
};
/// Their products are exact.
struct power_of_two {
  template <class A> KOKKOS_FUNCTION A operator()(A a) const { return a > A(0) ? A(2) : A(-1); }
};
struct product_of_signs {
  template <class A> KOKKOS_FUNCTION A operator()(A a) const { return a > A(0) ? A(1) : A(-1); }
};
struct product {
  template <class A, class B> KOKKOS_FUNCTION auto operator()(A a, B b) const { return a * b; }
};
struct three {
  template <class A, class B, class C> KOKKOS_FUNCTION auto operator()(A a, B b, C c) const {
    return a * b + c;
  }
};

/// Sums of these elements are exact in T: their order only decides about the sign of a zero.
template <class Op, class Y, class... X, class F, std::size_t... K>
void check_plan(const F& f, const plan<1 + sizeof...(X)>& p, bool threads,
                std::index_sequence<K...>) {
  using T = dimesh::computed<Y>;
  const std::tuple<std::vector<X>...> in{elements<X>(p.size[K + 1], K)...};
  std::vector<T> sums(static_cast<std::size_t>(p.size[0]), Op::template identity<T>());
  for (index_t e = 0; e < p.l.size(); ++e) {
    T& to = sums[static_cast<std::size_t>(p.offset(0, e))];
    to = Op::join(to, static_cast<T>(f(static_cast<dimesh::computed<X>>(
                          std::get<K>(in)[static_cast<std::size_t>(p.offset(K + 1, e))])...)));
  }
  std::vector<Y> want(sums.size());
  for (std::size_t k = 0; k < sums.size(); ++k) dimesh::store(want[k], sums[k]);
  auto got = spoilt<Y>(p.size[0]);
  map_reduce_over(Op{}, p.l, f, got.data(), std::get<K>(in).data()...);
  CHECK(got == want);
  got = spoilt<Y>(p.size[0]);
  map_reduce_over<reversed>(Op{}, p.l, f, got.data(), std::get<K>(in).data()...);
  CHECK(got == want);
  if (threads) {
    got = spoilt<Y>(p.size[0]);
    map_reduce_over<threaded>(Op{}, p.l, f, got.data(), std::get<K>(in).data()...);
    CHECK(got == want);
  }
  auto on_device = spoilt<T>(p.size[0]);
  dimesh::local::detail::reduce_parts<Kokkos::Serial, Op>(p.l, f, on_device.data(),
                                                          std::get<K>(in).data()...);
  CHECK(on_device == sums);
}

template <class Op, class Y, class... X, class F> void check(const F& f, unsigned seed) {
  draws draw(seed);
  std::array<lacks, 1 + sizeof...(X)> how;
  how.fill(lacks::anything);
  if (seed % 2 == 0) how[1] = lacks::nothing;
  for (int k = 0; k < 150; ++k) {
    check_plan<Op, Y, X...>(f, random_plan<1 + sizeof...(X)>(draw, how), k % 10 == 0,
                            std::index_sequence_for<X...>{});
  }
}

/// Elements whose sums depend on their order.
std::vector<float> uneven(index_t n) {
  auto x = elements<float>(n, 0);
  for (index_t k = 0; k < n; ++k)
    x[static_cast<std::size_t>(k)] += 1e-3f * static_cast<float>(k % 997);
  return x;
}

/// Rows and columns of a matrix, by the kernel of one row: its bits, row after row. (On one
/// thread: several share a long row.)
template <class Op> void check_bits(index_t m, index_t n) {
  using dimesh::local::row_of;
  using dimesh::local::value_of_row;
  using dimesh::local::detail::keep;
  using dimesh::local::detail::reduce_row;
  const auto x = uneven(m * n), w = elements<float>(m * n, 2);
  auto want = spoilt<float>(std::max(m, n)), got = want;
  for (index_t i = 0; i < m; ++i)
    reduce_row<Op, keep::nothing, product>{}(n, value_of_row<float>{want.data() + i},
                                             row_of<const float>{x.data() + i * n},
                                             row_of<const float>{w.data() + i * n});
  map_reduce_over<Kokkos::Serial>(Op{}, loops<3>{2, {m, n}, {{1, 0}, {n, 1}, {n, 1}}}, product{},
                                  got.data(), x.data(), w.data());
  CHECK(same_bits(got, want));
  for (index_t i = 0; i < m; ++i)
    reduce_row<Op, keep::nothing, product>{}(n, value_of_row<float>{want.data() + i},
                                             row_of<const float>{x.data() + i * n},
                                             value_of_row<const float>{w.data() + i});
  map_reduce_over<Kokkos::Serial>(Op{}, loops<3>{2, {m, n}, {{1, 0}, {n, 1}, {1, 0}}}, product{},
                                  got.data(), x.data(), w.data());
  CHECK(same_bits(got, want));
  std::fill_n(want.data(), n, Op::template identity<float>());
  for (index_t i = 0; i < m; ++i)
    reduce_row<Op, keep::joined, itself>{}(n, row_of<float>{want.data()},
                                           row_of<const float>{x.data() + i * n});
  map_reduce_over<Kokkos::Serial>(Op{}, loops<2>{2, {m, n}, {{0, 1}, {n, 1}}}, itself{}, got.data(),
                                  x.data());
  CHECK(std::equal(got.begin(), got.begin() + n, want.begin()));
}

}  // namespace

TEST_CASE("map_reduce_over: sums over any loops") {
  check<plus, double, double>(itself{}, 1);
  check<plus, double, double>(itself{}, 2);
  check<plus, double, double, double>(product{}, 3);
  check<plus, double, float, double>(product{}, 4);
  check<plus, double, double, float, double>(three{}, 5);
  check<plus, int, int>(itself{}, 6);
  check<plus, index_t, int, int>(product{}, 8);
}

TEST_CASE("map_reduce_over: sums of bfloat16 are rounded once") {
  check<plus, bfloat16, bfloat16>(itself{}, 10);
  check<plus, bfloat16, float>(itself{}, 11);
  check<plus, float, bfloat16>(itself{}, 12);
}

TEST_CASE("map_reduce_over: extremes over any loops") {
  check<greatest, float, float>(itself{}, 20);
  check<least, float, float>(itself{}, 22);
  check<greatest, double, double, double>(product{}, 23);
  check<greatest, int, int>(itself{}, 24);
}

TEST_CASE("map_reduce_over: products over any loops") {
  check<times, double, double>(power_of_two{}, 26);
  check<times, std::int64_t, std::int64_t>(product_of_signs{}, 27);
}

TEST_CASE("map_reduce_over: products go from the first to the last, and so stay within the type") {
  const std::vector<double> x{1e200, 1e-200, 1e200, 1e-200, 1e200, 1e-200, 1e200, 1e-200, 3};
  double y = 0;
  map_reduce_over(times{}, loops<2>{1, {9}, {{0}, {1}}}, itself{}, &y, x.data());
  CHECK(y == doctest::Approx(3));
}

TEST_CASE("map_reduce_over: the bits of one row after another") {
  for (const auto& [m, n] : {std::pair<index_t, index_t>{1, 1},
                             {3, 10},
                             {17, 64},
                             {40, 300},
                             {5, 5000},
                             {2, 40000},
                             {300, 7}}) {
    check_bits<plus>(m, n);
    check_bits<greatest>(m, n);
    check_bits<least>(m, n);
  }
}

TEST_CASE("map_reduce_over: NaN propagates") {
  const index_t m = 3, n = 70;
  auto x = elements<float>(m * n, 0);
  x[static_cast<std::size_t>(n + 3)] = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> y(3);
  map_reduce_over(greatest{}, loops<2>{2, {m, n}, {{1, 0}, {n, 1}}}, itself{}, y.data(), x.data());
  CHECK(!std::isnan(y[0]));
  CHECK(std::isnan(y[1]));
  CHECK(!std::isnan(y[2]));
}

TEST_CASE("map_reduce_over: pieces, each with a result of its own, whatever runs first") {
  for (const auto& [m, n] : {std::pair<index_t, index_t>{1, 40}, {13, 40}, {130, 10}, {2, 5}}) {
    const auto x = elements<double>(m * n, 0);
    std::vector<double> want(static_cast<std::size_t>(n)), got = want, again = want;
    double all = 0, sum = 0;
    for (index_t k = 0; k < m * n; ++k) {
      want[static_cast<std::size_t>(k % n)] += x[static_cast<std::size_t>(k)];
      all += x[static_cast<std::size_t>(k)];
    }
    const loops<2> columns{2, {m, n}, {{0, 1}, {n, 1}}}, one{1, {m * n}, {{0}, {1}}};
    map_reduce_over<threaded>(plus{}, columns, itself{}, got.data(), x.data());
    map_reduce_over<reversed>(plus{}, columns, itself{}, again.data(), x.data());
    CHECK(got == want);
    CHECK(again == want);
    map_reduce_over<threaded>(plus{}, one, itself{}, &sum, x.data());
    CHECK(sum == all);
  }
}

TEST_CASE("reduce_parts: columns, rows side by side, rows apart, whole; parts joined in turns") {
  using dimesh::local::detail::reduce_parts;
  using serial = Kokkos::Serial;
  for (const auto& [m, n] :
       {std::pair<index_t, index_t>{1, 40000}, {7, 9000}, {9000, 7}, {300, 260}, {5, 33}, {2, 0}}) {
    const auto x = elements<double>(m * n, 0);  // whole numbers
    std::vector<double> rows(static_cast<std::size_t>(m)), columns(static_cast<std::size_t>(n));
    double all = 0;
    for (index_t k = 0; k < m * n; ++k) {
      rows[static_cast<std::size_t>(k / n)] += x[static_cast<std::size_t>(k)];
      columns[static_cast<std::size_t>(k % n)] += x[static_cast<std::size_t>(k)];
      all += x[static_cast<std::size_t>(k)];
    }
    std::vector<double> by_rows(rows.size(), -1), by_columns(columns.size(), -1);
    double sum = -1;
    reduce_parts<serial, plus>(loops<2>{2, {m, n}, {{1, 0}, {n, 1}}}, itself{}, by_rows.data(),
                               x.data());
    reduce_parts<serial, plus>(loops<2>{2, {m, n}, {{0, 1}, {n, 1}}}, itself{}, by_columns.data(),
                               x.data());
    reduce_parts<serial, plus>(loops<2>{1, {m * n}, {{0}, {1}}}, itself{}, &sum, x.data());
    CHECK(by_rows == rows);
    CHECK(by_columns == columns);
    CHECK(sum == all);
    // Of terms in two groups.
    std::vector<double> with_ones(rows.size(), -1);
    reduce_parts<serial, plus>(loops<2>{3, {m, n, 1}, {{1, 0, 0}, {n, 1, 1}}}, itself{},
                               with_ones.data(), x.data());
    CHECK(with_ones == rows);
    if (n % 2 == 0 && n > 0) {
      const loops<2> halves{3, {2, m, n / 2}, {{0, 1, 0}, {n / 2, n, 1}}};
      reduce_parts<serial, plus>(halves, itself{}, by_rows.data(), x.data());
      CHECK(by_rows == rows);
    }
  }
}
