// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/local/map_transpose.hpp"

#include "support/nests.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string_view>

using namespace dimesh_test;
using dimesh::local::map_transpose;
using dimesh::local::nest;
using dimesh::local::wanted;

namespace {

/// A polynomial: with elements that are multiples of 1/8, all results below are exact.
struct formula {
  template <class A, class B, class C> KOKKOS_FUNCTION auto operator()(A a, B b, C c) const {
    return a * b + 2 * c - a * c;
  }
};

/// What xbar should be: the sum of ybar times the derivative by argument K, by central differences,
/// which are exact for a polynomial of degree one in each argument.
template <int K, class Bar>
void expect(const auto& extent, auto& ybar, Bar& bar, auto& a, auto& b, auto& c) {
  each(extent, [&](const auto& at) { bar(at) = 0; });
  each(extent, [&](const auto& at) {
    double lo[] = {a(at), b(at), c(at)}, hi[] = {a(at), b(at), c(at)};
    lo[K] -= 0.5;
    hi[K] += 0.5;
    bar(at) += ybar(at) * (formula{}(hi[0], hi[1], hi[2]) - formula{}(lo[0], lo[1], lo[2]));
  });
}

/// All seven choices of wanted inputs would be too many to compile for each shape: all, and each.
template <index_t Inner, step... Y, step... A, step... B, step... C>
void check_nest(std::array<index_t, sizeof...(A)> extent, sample<double, Y...> ybar,
                sample<double, A...> a, sample<double, B...> b, sample<double, C...> c) {
  constexpr int G = sizeof...(A);
  const nest<G, Inner> space{extent};
  auto abar = a, want_a = a;
  auto bbar = b, want_b = b;
  auto cbar = c, want_c = c;
  const auto blank_a = a.data, blank_b = b.data, blank_c = c.data;
  expect<0>(extent, ybar, want_a, a, b, c);
  expect<1>(extent, ybar, want_b, a, b, c);
  expect<2>(extent, ybar, want_c, a, b, c);
  if (space.size() == 0) return;

  map_transpose(space, formula{}, ybar.in(), wanted{a.in(), abar.out()}, wanted{b.in(), bbar.out()},
                wanted{c.in(), cbar.out()});
  CHECK(abar.data == want_a.data);
  CHECK(bbar.data == want_b.data);
  CHECK(cbar.data == want_c.data);

  abar.data = blank_a, cbar.data = blank_c;
  map_transpose(space, formula{}, ybar.in(), wanted{a.in(), abar.out()}, b.in(), c.in());
  map_transpose(space, formula{}, ybar.in(), a.in(), b.in(), wanted{c.in(), cbar.out()});
  CHECK(abar.data == want_a.data);
  CHECK(cbar.data == want_c.data);

  bbar.data = blank_b, cbar.data = blank_c;
  map_transpose(space, formula{}, ybar.in(), a.in(), wanted{b.in(), bbar.out()},
                wanted{c.in(), cbar.out()});
  CHECK(bbar.data == want_b.data);
  CHECK(cbar.data == want_c.data);
}

template <step... Y, step... A, step... B, step... C>
void check(std::array<index_t, sizeof...(A)> extent, sample<double, Y...> ybar,
           sample<double, A...> a, sample<double, B...> b, sample<double, C...> c) {
  check_nest<dimesh::dynamic>(extent, ybar, a, b, c);
}

using plain = sample<double, strided, unit>;
using row = sample<double, zero, unit>;
using column = sample<double, strided, zero>;
using turned = sample<double, unit, strided>;
using number = sample<double, zero, zero>;

const std::vector<std::array<index_t, 2>> matrices{{1, 1}, {3, 10}, {17, 1}, {16, 64}, {33, 70}};

}  // namespace

TEST_CASE("map_transpose: a single element, and one group") {
  check({}, sample<double>({}), sample<double>({}), sample<double>({}), sample<double>({}));
  for (const index_t n : {1, 17, 300}) {
    const std::array e{n};
    using line = sample<double, unit>;
    using single = sample<double, zero>;
    check(e, line(e), line(e), single(e), line(e));
    check(e, single(e), line(e), single(e), sample<double, strided>(e));
  }
}

TEST_CASE("map_transpose: what an input lacks is summed over") {
  for (const auto& e : matrices) {
    check(e, plain(e), plain(e), row(e), plain(e));
    check(e, plain(e), plain(e), column(e), row(e));
    check(e, plain(e), number(e), column(e), plain(e));
    check(e, row(e), plain(e), row(e), number(e));
    check(e, number(e), row(e), plain(e), column(e));
  }
}

TEST_CASE("map_transpose: transposed inputs, their cotangents, and transposed ybar") {
  for (const auto& e : matrices) {
    check(e, plain(e), turned(e), row(e), plain(e));
    check(e, turned(e), plain(e), column(e), turned(e));
  }
}

TEST_CASE("map_transpose: three and four groups") {
  for (const auto& e : std::vector<std::array<index_t, 3>>{{2, 3, 4}, {3, 17, 65}, {5, 1, 20}}) {
    using full = sample<double, strided, strided, unit>;
    check(e, full(e), full(e), sample<double, zero, strided, zero>(e),
          sample<double, strided, zero, unit>(e));
    check(e, full(e), sample<double, strided, unit, strided>(e),
          sample<double, zero, zero, unit>(e), full(e));
    check(e, full(e), sample<double, zero, unit, strided>(e), full(e),
          sample<double, unit, zero, zero>(e));
  }
  const std::array<index_t, 4> e{2, 3, 4, 5};
  using full = sample<double, strided, strided, strided, unit>;
  check(e, full(e), full(e), sample<double, zero, strided, zero, unit>(e),
        sample<double, strided, zero, strided, zero>(e));
}

TEST_CASE("map_transpose: a short static row") {
  for (const index_t n : {1, 9}) {
    const std::array<index_t, 2> e{n, 10};
    check_nest<10>(e, plain(e), plain(e), row(e), column(e));
    check_nest<10>(e, plain(e), turned(e), number(e), plain(e));
  }
}

TEST_CASE("map_transpose: over no elements, sums are zero") {
  for (const auto& e : std::vector<std::array<index_t, 2>>{{0, 5}, {5, 0}}) {
    plain ybar(e), x(e), xbar(e);
    row b(e), bbar(e);
    column c(e), cbar(e);
    const auto before = xbar.data;
    map_transpose(nest<2>{e}, formula{}, ybar.in(), wanted{x.in(), xbar.out()},
                  wanted{b.in(), bbar.out()}, wanted{c.in(), cbar.out()});
    CHECK(xbar.data == before);
    for (index_t j = 0; j < e[1]; ++j) CHECK(bbar({0, j}) == 0);
    for (index_t i = 0; i < e[0]; ++i) CHECK(cbar({i, 0}) == 0);
  }
}

TEST_CASE("map_transpose: more than four row sums") {
  auto f = [](auto a, auto b, auto c, auto d, auto e, auto g, auto h) {
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * g + h * h;
  };
  const std::array<index_t, 2> e{3, 50};
  plain ybar(e), h(e), hbar(e);
  column x(e), bars[] = {x, x, x, x, x, x};
  auto with = [&](int k) { return wanted{x.in(), bars[k].out()}; };
  map_transpose(nest<2>{e}, f, ybar.in(), with(0), with(1), with(2), with(3), with(4), with(5),
                wanted{h.in(), hbar.out()});
  for (index_t i = 0; i < 3; ++i) {
    double sum = 0;
    for (index_t j = 0; j < 50; ++j) sum += ybar({i, j});
    for (int k = 0; k < 6; ++k) CHECK(bars[k]({i, 0}) == (k + 1) * sum);
    for (index_t j = 0; j < 50; ++j) CHECK(hbar({i, j}) == 2 * h({i, j}) * ybar({i, j}));
  }
}

TEST_CASE(
    "map_transpose: inputs that are not wanted keep their type; constants have no derivative") {
  const std::array<index_t, 1> e{20};
  sample<double, unit> ybar(e), x(e), xbar(e);
  sample<int, unit> mask(e);
  auto masked = [](auto v, int m) { return dimesh::select(m > 0, v, 0.0); };
  map_transpose(nest<1>{e}, masked, ybar.in(), wanted{x.in(), xbar.out()}, mask.in());
  each(e, [&](const auto& at) { CHECK(xbar(at) == (mask(at) > 0 ? ybar(at) : 0)); });
  map_transpose(nest<1>{e}, [](auto) { return 1.0; }, ybar.in(), wanted{x.in(), xbar.out()});
  each(e, [&](const auto& at) { CHECK(xbar(at) == 0); });
}

TEST_CASE("map_transpose: pieces on threads, and element by element with atomic sums") {
  namespace detail = dimesh::local::detail;
  const std::array<index_t, 2> e{19, 70};
  plain ybar(e), a(e), abar(e), want_a(e);
  row b(e), bbar(e), want_b(e);
  number c(e), cbar(e), want_c(e);
  expect<0>(e, ybar, want_a, a, b, c);
  expect<1>(e, ybar, want_b, a, b, c);
  expect<2>(e, ybar, want_c, a, b, c);
  const nest<2> space{e};
  CHECK(dimesh::local::cut_of<decltype(abar.out()), decltype(bbar.out())>(space) == 1);
  CHECK(dimesh::local::cut_of<decltype(bbar.out()), decltype(cbar.out())>(space) == -1);

  using detail::deposit;
  using two =
      detail::pullback<double, std::integer_sequence<int, 0, 1, -1>, deposit::write, deposit::add>;
  using two_row = detail::pullback_row<false, two, formula>;
  using Y = decltype(ybar.in());
  using B = decltype(b.in());
  using C = decltype(c.in());
  using ABar = decltype(abar.out());
  using BBar = decltype(bbar.out());
  using CBar = decltype(cbar.out());
  each(e, [&](const auto& at) { bbar(at) = 0; });
  on_threads(
      detail::by_piece<2, dimesh::dynamic, two_row, Y, Y, B, C, ABar, BBar>{
          space, 1, 4, two_row{}, {ybar.in(), a.in(), b.in(), c.in(), abar.out(), bbar.out()}},
      4);
  CHECK(abar.data == want_a.data);
  CHECK(bbar.data == want_b.data);

  using all = detail::pullback<double, std::integer_sequence<int, 0, 1, 2>, deposit::write,
                               deposit::add, deposit::sum>;
  using all_row = detail::pullback_row<true, all, formula>;
  each(e, [&](const auto& at) { abar(at) = bbar(at) = cbar(at) = 0; });
  const detail::by_element<2, dimesh::dynamic, all_row, Y, Y, B, C, ABar, BBar, CBar> one{
      space, all_row{}, {ybar.in(), a.in(), b.in(), c.in(), abar.out(), bbar.out(), cbar.out()}};
  struct chunk {
    const decltype(one)& body;
    index_t size;
    void operator()(index_t p) const {
      for (index_t k = p; k < size; k += 3) body(k);
    }
  };
  const chunk part{one, space.size()};
  // Kokkos' atomic operations are none where no backend of its has threads.
#if KOKKOS_VERSION < 40000
  const bool atomic =
      std::string_view(Kokkos::atomic_query_version()) != "KOKKOS_ENABLE_SERIAL_ATOMICS";
#elif defined(KOKKOS_ENABLE_ATOMICS_BYPASS)
  const bool atomic = false;
#else
  const bool atomic = true;
#endif
  if (!atomic)
    for (index_t p = 0; p < 3; ++p) part(p);
  else
    on_threads(part, 3);
  CHECK(abar.data == want_a.data);
  CHECK(bbar.data == want_b.data);
  CHECK(cbar.data == want_c.data);
}

TEST_CASE("map_transpose: sums over many rows are as accurate as a plain loop") {
  const std::array<index_t, 2> e{20000, 3};
  sample<float, strided, unit> ybar(e);
  sample<float, zero, unit> b(e), bbar(e);
  sample<float, zero, zero> s(e), sbar(e);
  for (float& v : ybar.data) v = 0.1f;
  map_transpose(
      nest<2>{e}, [](auto x, auto y) { return x + y; }, ybar.in(), wanted{b.in(), bbar.out()},
      wanted{s.in(), sbar.out()});
  float loop = 0;
  for (int i = 0; i < 20000; ++i) loop += 0.1f;
  const double exact = 20000 * double(0.1f);
  CHECK(std::abs(bbar({0, 1}) - exact) <= std::abs(loop - exact));
  float all = 0;
  for (int i = 0; i < 60000; ++i) all += 0.1f;
  CHECK(std::abs(sbar({0, 0}) - 3 * exact) <= std::abs(all - 3 * exact));
}
