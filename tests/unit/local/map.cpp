// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/local/map.hpp"

#include "dimesh/local/math.hpp"
#include "dimesh/local/tile.hpp"
#include "support/plans.hpp"
#include "support/shuffled.hpp"

#include <doctest/doctest.h>

#include <numeric>

using namespace dimesh_test;
using dimesh::bfloat16;

namespace {

struct blend {
  template <class A, class B> KOKKOS_FUNCTION auto operator()(A a, B b) const { return a * b + a; }
};
struct above {
  template <class A, class B> KOKKOS_FUNCTION bool operator()(A a, B b) const { return a > b; }
};

const std::vector<index_t> lengths{0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 1000, 4099};

/// map against the definition: at once, in pieces, on threads, and element by element. What lies
/// behind the arrays stays as it is.
template <class Y, class A, class B, class F> void check(const F& f) {
  for (const index_t n : lengths) {
    const auto a = elements<A>(n, 0);
    const auto b = elements<B>(n, 1);
    auto want = spoilt<Y>(n + 3);
    for (std::size_t k = 0; k < a.size(); ++k)
      dimesh::store(want[k], f(static_cast<dimesh::computed<A>>(a[k]),
                               static_cast<dimesh::computed<B>>(b[k])));
    const auto run = [&](const auto& map) {
      auto got = spoilt<Y>(n + 3);
      map(got.data());
      CHECK(same_bits(got, want));
    };
    run([&](Y* y) { dimesh::local::map(n, f, y, a.data(), b.data()); });
    run([&](Y* y) { dimesh::local::map<reversed>(n, f, y, a.data(), b.data()); });
    run([&](Y* y) { dimesh::local::map<threaded>(n, f, y, a.data(), b.data()); });
    run([&](Y* y) {
      for (index_t i = n; i-- > 0;)
        dimesh::local::detail::map_range(f, 1, y + i, a.data() + i, b.data() + i);
    });
  }
}

/// A rule of an optimizer: three arrays change.
struct rule {
  template <class T> KOKKOS_FUNCTION void operator()(T& x, T& y, T& z, const T& s) const {
    y = T(0.5) * y + s;
    z = T(0.25) * z + s * s;
    x -= T(0.5) * y + z;
  }
};
template <class Space, class T> void check_rule() {
  for (const index_t n : lengths) {
    auto p = elements<T>(n, 0), m = elements<T>(n, 1), v = elements<T>(n, 2);
    const auto g = elements<T>(n, 3);
    auto p1 = p, m1 = m, v1 = v;
    for (std::size_t k = 0; k < g.size(); ++k) rule{}(p1[k], m1[k], v1[k], g[k]);
    dimesh::local::for_each<Space>(n, rule{}, p.data(), m.data(), v.data(), g.data());
    CHECK(p == p1);
    CHECK(m == m1);
    CHECK(v == v1);
  }
}

}  // namespace

TEST_CASE("map: flat arrays of every length, in any pieces") {
  check<float, float, float>(blend{});
  check<double, double, double>(blend{});
  check<long double, long double, float>(blend{});
}

TEST_CASE("map: types of operands and of results may differ") {
  check<double, int, double>(blend{});
  check<int, std::int8_t, int>(blend{});
  check<unsigned char, double, float>(above{});
  check<bfloat16, bfloat16, bfloat16>(blend{});
  check<float, bfloat16, float>(blend{});
  check<bfloat16, float, bfloat16>(blend{});
}

TEST_CASE("map: the output may be an input") {
  for (const index_t n : lengths) {
    auto x = elements<double>(n, 0);
    const auto b = elements<double>(n, 1), before = x;
    dimesh::local::map(n, blend{}, x.data(), static_cast<const double*>(x.data()), b.data());
    bool same = true;
    for (std::size_t k = 0; k < x.size(); ++k) same = same && x[k] == blend{}(before[k], b[k]);
    CHECK(same);
  }
}

TEST_CASE("for_each: several arrays change in one pass") {
  check_rule<dimesh::local::default_space, float>();
  check_rule<dimesh::local::default_space, double>();
  check_rule<reversed, float>();
  check_rule<threaded, double>();
}

TEST_CASE("transpose_tile: every size, words and others") {
  auto check_type = []<class T>(T) {
    std::vector<T> src(70 * 70), dst(70 * 70);
    std::iota(src.begin(), src.end(), T(0));
    for (const index_t rows : {1, 7, 16, 33, 64}) {
      for (const index_t cols : {1, 8, 17, 32, 64}) {
        dimesh::local::transpose_tile(src.data(), 70, dst.data(), 66, rows, cols);
        bool same = true;
        for (index_t r = 0; r < rows; ++r) {
          for (index_t c = 0; c < cols; ++c) same = same && dst[r * 66 + c] == src[c * 70 + r];
        }
        CHECK(same);
      }
    }
  };
  check_type(float{});
  check_type(double{});
  check_type(std::int16_t{});
}
