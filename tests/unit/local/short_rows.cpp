// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: -O1
// Every kernel over nests, with rows of each static length from 1 to 16 and operands that move in
// every way: g++ 12 used to take some of these kernels for functions that write nothing, and
// dropped the calls (docs/decisions/0010-kernels-say-that-they-write.md).
#include "dimesh/local/map.hpp"
#include "dimesh/local/map_transpose.hpp"
#include "dimesh/local/reduce.hpp"

#include "support/nests.hpp"

#include <doctest/doctest.h>

#include <utility>

using namespace dimesh_test;
using dimesh::local::nest;

namespace {

/// Calls f(integral_constant<I>) for each length.
template <class F> void for_each_length(const F& f) {
  [&]<index_t... I>(std::integer_sequence<index_t, I...>) {
    (f(std::integral_constant<index_t, I + 1>{}), ...);
  }(std::make_integer_sequence<index_t, 16>{});
}

struct product {
  template <class T> T operator()(T a, T b) const { return a * b; }
};

template <index_t I, class Out, class X, class W> void check_map(const typename Out::extents& e) {
  Out y(e), want(e);
  X x(e);
  W w(e);
  each(e, [&](const auto& at) { want(at) = x(at) * w(at); });
  dimesh::local::map(nest<Out::groups, I>{e}, product{}, y.out(), x.in(), w.in());
  CHECK_MESSAGE(y.data == want.data, "a row of ", I);
}

template <index_t I, class Out, class X> void check_sum(const typename Out::extents& e) {
  Out y(e), want(e);
  X x(e);
  each(e, [&](const auto& at) { want(at) = 0; });
  each(e, [&](const auto& at) { want(at) += x(at); });
  dimesh::local::reduce(dimesh::local::plus{}, nest<Out::groups, I>{e}, y.out(), x.in());
  CHECK_MESSAGE(y.data == want.data, "a row of ", I);
}

template <index_t I, class X> void check_for_each(const typename X::extents& e) {
  X x(e), want(e);
  each(e, [&](const auto& at) { want(at) = 3 * want(at) + 1; });
  dimesh::local::for_each(nest<X::groups, I>{e}, [](auto& v) { v = 3 * v + 1; }, x.out());
  CHECK_MESSAGE(x.data == want.data, "a row of ", I);
}

template <class T> void check_maps() {
  for_each_length([](auto i) {
    constexpr index_t I = i;
    using rows = sample<T, strided, strided, strided, unit>;
    const std::array<index_t, 4> e{3, 7, 2, I};
    check_map<I, rows, rows, sample<T, zero, unit, zero, zero>>(e);
    check_map<I, rows, sample<T, strided, strided, unit, strided>,
              sample<T, zero, unit, zero, zero>>(e);
    check_map<I, rows, sample<T, unit, strided, strided, strided>,
              sample<T, zero, zero, zero, unit>>(e);
    check_map<I, sample<T, strided, unit, strided, strided>, rows,
              sample<T, zero, zero, unit, zero>>(e);
    check_map<I, sample<T, strided, unit>, sample<T, unit, strided>, sample<T, zero, unit>>({5, I});
    check_map<I, sample<T, strided, unit>, sample<T, strided, strided>, sample<T, unit, zero>>(
        {5, I});
  });
}

}  // namespace

TEST_CASE("short rows: map") {
  check_maps<float>();
  check_maps<double>();
}

TEST_CASE("short rows: sums") {
  for_each_length([](auto i) {
    constexpr index_t I = i;
    const std::array<index_t, 3> e{5, 3, I};
    using rows = sample<float, strided, strided, unit>;
    using turned = sample<float, strided, unit, strided>;
    check_sum<I, sample<float, strided, unit, zero>, rows>(e);
    check_sum<I, sample<float, zero, strided, unit>, turned>(e);
    check_sum<I, sample<float, strided, zero, unit>, turned>(e);
    check_sum<I, sample<float, zero, zero, unit>, rows>(e);
    check_sum<I, sample<float, zero, unit, zero>, turned>(e);
  });
}

TEST_CASE("short rows: in place") {
  for_each_length([](auto i) {
    constexpr index_t I = i;
    check_for_each<I, sample<double, strided, unit>>({7, I});
    check_for_each<I, sample<double, unit, strided>>({7, I});
    check_for_each<I, sample<float, strided, unit, strided>>({3, 7, I});
  });
}

TEST_CASE("short rows: cotangents") {
  namespace local = dimesh::local;
  for_each_length([](auto i) {
    constexpr index_t I = i;
    const std::array<index_t, 3> e{4, 3, I};
    using rows = sample<double, strided, strided, unit>;
    using turned = sample<double, strided, unit, strided>;
    rows ybar(e);
    turned x(e), xbar(e), want_x(e);
    sample<double, zero, unit, zero> w(e), wbar(e), want_w(e);
    each(e, [&](const auto& at) { want_w(at) = 0; });
    each(e, [&](const auto& at) {
      want_x(at) = ybar(at) * w(at);
      want_w(at) += ybar(at) * x(at);
    });
    local::map_transpose(
        nest<3, I>{e}, [](auto a, auto b) { return a * b; }, ybar.in(),
        local::wanted{x.in(), xbar.out()}, local::wanted{w.in(), wbar.out()});
    CHECK_MESSAGE(xbar.data == want_x.data, "a row of ", I);
    CHECK_MESSAGE(wbar.data == want_w.data, "a row of ", I);
  });
}
