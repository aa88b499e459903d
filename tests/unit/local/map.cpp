// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/local/map.hpp"

#include "dimesh/local/math.hpp"
#include "support/nests.hpp"
#include "support/shuffled.hpp"

#include <doctest/doctest.h>

#include <numeric>

using namespace dimesh_test;
using dimesh::local::nest;

namespace {

struct blend {
  template <class A, class B> KOKKOS_FUNCTION auto operator()(A a, B b) const { return a * b + a; }
};

/// map against the definition, by the walk of the space, in threads and element by element.
template <index_t Inner, step... O, step... A, step... B>
void check_map(std::array<index_t, sizeof...(O)> extent, sample<float, O...> out,
               sample<float, A...> a, sample<float, B...> b) {
  constexpr int G = sizeof...(O);
  auto want = out;
  each(extent, [&](const auto& at) { want(at) = blend{}(a(at), b(at)); });
  const nest<G, Inner> space{extent};
  const auto blank = out.data;

  dimesh::local::map(space, blend{}, out.out(), a.in(), b.in());
  CHECK(out.data == want.data);
  if (space.size() == 0) return;

  namespace detail = dimesh::local::detail;
  using row = detail::map_row<blend>;
  out.data = blank;
  dimesh::local::map<reversed>(space, blend{}, out.out(), a.in(), b.in());
  CHECK(out.data == want.data);
  out.data = blank;
  dimesh::local::map<threaded>(space, blend{}, out.out(), a.in(), b.in());
  CHECK(out.data == want.data);

  out.data = blank;
  const detail::by_element<G, Inner, row, decltype(out.out()), decltype(a.in()), decltype(b.in())>
      one{space, row{}, {out.out(), a.in(), b.in()}};
  for (index_t e = 0; e < space.size(); ++e) one(e);
  CHECK(out.data == want.data);
}

template <step... O, step... A, step... B>
void check(std::array<index_t, sizeof...(O)> extent, sample<float, O...> out, sample<float, A...> a,
           sample<float, B...> b) {
  check_map<dimesh::dynamic>(extent, out, a, b);
}

using sizes2 = std::vector<std::array<index_t, 2>>;
const sizes2 matrices{{0, 5}, {5, 0}, {1, 1}, {3, 10}, {17, 1}, {16, 64}, {33, 70}, {1, 200}};

}  // namespace

TEST_CASE("map: a single element") {
  check({}, sample<float>({}), sample<float>({}), sample<float>({}));
}

TEST_CASE("map: one group") {
  for (const index_t n : {0, 1, 15, 16, 17, 1000}) {
    const std::array e{n};
    using plain = sample<float, unit>;
    check(e, plain(e), plain(e), plain(e));
    check(e, plain(e), sample<float, zero>(e), sample<float, strided>(e));
    check(e, sample<float, strided>(e), plain(e), plain(e));
  }
}

TEST_CASE("map: two groups") {
  for (const auto& e : matrices) {
    using plain = sample<float, strided, unit>;
    check(e, plain(e), plain(e), plain(e));
    check(e, plain(e), plain(e), sample<float, zero, unit>(e));
    check(e, plain(e), sample<float, strided, zero>(e), plain(e));
    check(e, plain(e), sample<float, unit, zero>(e), sample<float, zero, zero>(e));
    check(e, plain(e), sample<float, strided, strided>(e), plain(e));
  }
}

TEST_CASE("map: transposed operands go through tiles") {
  for (const auto& e : matrices) {
    using plain = sample<float, strided, unit>;
    using turned = sample<float, unit, strided>;
    check(e, plain(e), plain(e), turned(e));
    check(e, plain(e), turned(e), turned(e));
    check(e, turned(e), plain(e), turned(e));
    check(e, plain(e), turned(e), sample<float, zero, unit>(e));
    check(e, plain(e), turned(e), sample<float, strided, zero>(e));
  }
}

TEST_CASE("map: three and four groups") {
  for (const auto& e :
       std::vector<std::array<index_t, 3>>{{2, 3, 4}, {1, 17, 65}, {4, 0, 2}, {5, 1, 20}}) {
    using plain = sample<float, strided, strided, unit>;
    check(e, plain(e), plain(e), sample<float, zero, strided, zero>(e));
    check(e, plain(e), sample<float, strided, zero, unit>(e), plain(e));
    check(e, plain(e), plain(e), sample<float, unit, strided, strided>(e));
    check(e, plain(e), plain(e), sample<float, strided, unit, strided>(e));
    check(e, plain(e), sample<float, unit, zero, strided>(e),
          sample<float, strided, unit, strided>(e));
  }
  for (const auto& e :
       std::vector<std::array<index_t, 4>>{{2, 3, 4, 5}, {3, 18, 1, 70}, {1, 2, 0, 3}}) {
    using plain = sample<float, strided, strided, strided, unit>;
    check(e, plain(e), sample<float, zero, strided, zero, unit>(e),
          sample<float, strided, zero, strided, zero>(e));
    check(e, plain(e), plain(e), sample<float, strided, unit, strided, strided>(e));
  }
}

TEST_CASE("map: a short static row") {
  for (const index_t n : {0, 1, 7}) {
    const std::array<index_t, 2> e{n, 10};
    using plain = sample<float, strided, unit>;
    check_map<10>(e, plain(e), plain(e), sample<float, zero, unit>(e));
    check_map<10>(e, plain(e), sample<float, unit, strided>(e), sample<float, strided, zero>(e));
  }
  const std::array<index_t, 1> e{10};
  check_map<10>(e, sample<float, unit>(e), sample<float, unit>(e), sample<float, zero>(e));
  static_assert(dimesh::local::inner_extent(10) == 10);
  static_assert(dimesh::local::inner_extent(1000) == dimesh::dynamic);
}

TEST_CASE("map: the output may be an input") {
  const std::array<index_t, 2> e{9, 33};
  sample<double, strided, unit> x(e), want(e);
  sample<double, zero, unit> b(e);
  each(e, [&](const auto& at) { want(at) = blend{}(x(at), b(at)); });
  dimesh::local::map(nest<2>{e}, blend{}, x.out(), x.in(), b.in());
  CHECK(x.data == want.data);
}

TEST_CASE("map: types of operands and of results may differ") {
  const std::array<index_t, 1> e{40};
  sample<int, unit> a(e);
  sample<double, unit> b(e), y(e);
  dimesh::local::map(nest<1>{e}, [](int i, double x) { return i + x; }, y.out(), a.in(), b.in());
  each(e, [&](const auto& at) { CHECK(y(at) == a(at) + b(at)); });
  bool c[40] = {};
  dimesh::local::map(
      nest<1>{e}, [](double x) { return x > 0; }, dimesh::local::operand<bool, unit>{c, {1}},
      b.in());
  each(e, [&](const auto& at) { CHECK(c[at[0]] == (b(at) > 0)); });
}

TEST_CASE("for_each: several arrays change in one pass") {
  for (const auto& e : matrices) {
    sample<float, strided, unit> p(e), m(e), g(e);
    sample<float, unit, strided> v(e);
    sample<float, zero, zero> rate(e);
    auto p1 = p, m1 = m;
    auto v1 = v;
    auto rule = [](float& x, float& y, float& z, const float& s, const float& r) {
      y = 0.5f * y + s;
      z = 0.25f * z + s * s;
      x -= r * y + z;
    };
    each(e, [&](const auto& at) { rule(p1(at), m1(at), v1(at), g(at), rate(at)); });
    dimesh::local::for_each(nest<2>{e}, rule, p.out(), m.out(), v.out(), g.in(), rate.in());
    CHECK(p.data == p1.data);
    CHECK(m.data == m1.data);
    CHECK(v.data == v1.data);
  }
}

TEST_CASE("fill") {
  const std::array<index_t, 3> e{3, 4, 5};
  sample<float, strided, strided, unit> x(e);
  auto want = x;
  each(e, [&](const auto& at) { want(at) = 2; });
  dimesh::local::fill(nest<3>{e}, 2, x.out());
  CHECK(x.data == want.data);
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
