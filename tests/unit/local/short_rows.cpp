// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: -O1
// Every kernel over loops, with rows of each length from 1 to 16 and arrays that move in every way:
// g++ 12 used to take some kernels for functions that write nothing, and dropped the calls
// (docs/decisions/0010-kernels-say-that-they-write.md).
#include "dimesh/local/map.hpp"
#include "dimesh/local/map_transpose_over.hpp"
#include "dimesh/local/reduce_over.hpp"

#include "support/plans.hpp"

#include <doctest/doctest.h>

using namespace dimesh_test;

namespace {

using orders = std::vector<int>;

struct product {
  template <class A, class B> auto operator()(A a, B b) const { return a * b; }
};
struct itself {
  template <class A> auto operator()(A a) const { return a; }
};

/// y, which has all groups in their order, is the product of x and w; and the way back.
template <class T>
void check_product(const std::vector<index_t>& e, const orders& x_order, const orders& w_order) {
  orders all;
  for (std::size_t g = 0; g < e.size(); ++g) all.push_back(static_cast<int>(g));
  const auto p = plan_of<3>(e, {all, x_order, w_order});
  const auto x = elements<T>(p.size[1], 0), w = elements<T>(p.size[2], 1),
             ybar = elements<T>(p.size[0], 2);
  auto want = spoilt<T>(p.size[0]), y = want;
  std::vector<T> want_x(x.size()), want_w(w.size());
  for (index_t i = 0; i < p.l.size(); ++i) {
    const auto at = [&](int k) { return static_cast<std::size_t>(p.offset(k, i)); };
    want[at(0)] = x[at(1)] * w[at(2)];
    want_x[at(1)] += ybar[at(0)] * w[at(2)];
    want_w[at(2)] += ybar[at(0)] * x[at(1)];
  }
  dimesh::local::map_over(p.l, product{}, y.data(), x.data(), w.data());
  CHECK_MESSAGE(same_bits(y, want), "a row of ", e.back());
  auto xbar = spoilt<T>(p.size[1]), wbar = spoilt<T>(p.size[2]);
  dimesh::local::map_transpose_over(p.l, product{}, ybar.data(), {xbar.data(), wbar.data()},
                                    x.data(), w.data());
  CHECK_MESSAGE(xbar == want_x, "a row of ", e.back());
  CHECK_MESSAGE(wbar == want_w, "a row of ", e.back());
}

template <class T>
void check_sum(const std::vector<index_t>& e, const orders& y_order, const orders& x_order) {
  const auto p = plan_of<2>(e, {y_order, x_order});
  const auto x = elements<T>(p.size[1], 0);
  std::vector<T> want(static_cast<std::size_t>(p.size[0]));
  for (index_t i = 0; i < p.l.size(); ++i)
    want[static_cast<std::size_t>(p.offset(0, i))] += x[static_cast<std::size_t>(p.offset(1, i))];
  auto y = spoilt<T>(p.size[0]);
  dimesh::local::map_reduce_over(dimesh::local::plus{}, p.l, itself{}, y.data(), x.data());
  CHECK_MESSAGE(y == want, "a row of ", e.back());
}

template <class T> void check_all() {
  for (index_t n = 1; n <= 16; ++n) {
    check_product<T>({3, 7, 2, n}, {0, 1, 2, 3}, {1});
    check_product<T>({3, 7, 2, n}, {0, 1, 3, 2}, {1});
    check_product<T>({3, 7, 2, n}, {1, 2, 3, 0}, {3});
    check_product<T>({3, 7, 2, n}, {0, 2, 3, 1}, {2});
    check_product<T>({5, n}, {1, 0}, {1});
    check_product<T>({5, n}, {0, 1}, {0});
    check_product<T>({4, 3, n}, {0, 2, 1}, {1});
    check_product<T>({n}, {0}, {});
    check_sum<T>({5, 3, n}, {0, 1}, {0, 1, 2});
    check_sum<T>({5, 3, n}, {1, 2}, {0, 2, 1});
    check_sum<T>({5, 3, n}, {0, 2}, {0, 2, 1});
    check_sum<T>({5, 3, n}, {2}, {0, 1, 2});
    check_sum<T>({5, 3, n}, {1}, {0, 2, 1});
    check_sum<T>({n}, {}, {0});
  }
}

}  // namespace

TEST_CASE("short rows: maps, sums and cotangents") {
  check_all<float>();
  check_all<double>();
}

TEST_CASE("short rows: in place") {
  for (index_t n = 1; n <= 16; ++n) {
    auto x = elements<double>(n, 0), want = x;
    for (double& v : want) v = 3 * v + 1;
    dimesh::local::for_each(n, [](auto& v) { v = 3 * v + 1; }, x.data());
    CHECK_MESSAGE(x == want, "a row of ", n);
    auto y = elements<float>(n, 0);
    const auto before = y;
    dimesh::local::map(n, [](auto v) { return 3 * v + 1; }, y.data(), before.data());
    bool same = true;
    for (std::size_t k = 0; k < y.size(); ++k) same = same && y[k] == 3 * before[k] + 1;
    CHECK_MESSAGE(same, "a row of ", n);
  }
}
