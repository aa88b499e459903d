// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// least: -O1
// options: -O2
#include "dimesh/local/map_transpose_over.hpp"

#include "dimesh/local/math.hpp"
#include "dimesh/local/pull_loop.hpp"
#include "support/plans.hpp"
#include "support/shuffled.hpp"

#include <doctest/doctest.h>

#include <tuple>

using namespace dimesh_test;
using dimesh::bfloat16;
using dimesh::local::loops;
using dimesh::local::map_transpose_over;

namespace {

struct cube {
  template <class A> KOKKOS_FUNCTION auto operator()(A a) const { return a * a * a; }
};
struct product {
  template <class A, class B> KOKKOS_FUNCTION auto operator()(A a, B b) const { return a * b + a; }
};
struct chosen {
  template <class A, class B> KOKKOS_FUNCTION auto operator()(bool c, A a, B b) const {
    return dimesh::select(c, a * b, a);
  }
};
struct shifted {
  template <class A> KOKKOS_FUNCTION auto operator()(A a, int k) const { return a * a * float(k); }
};
struct gate {
  template <class A, class B, class C> KOKKOS_FUNCTION auto operator()(A a, B b, C c) const {
    return (a + b) * c;
  }
};

template <class T> using stored = std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>;
template <class T> const T* read(const std::vector<stored<T>>& x) {
  return reinterpret_cast<const T*>(x.data());
}
template <class T> std::vector<stored<T>> input(index_t n, int salt) {
  auto x = elements<stored<T>>(n, salt);
  for (index_t k = 0; k < n && std::is_same_v<T, bool>; ++k)
    x[static_cast<std::size_t>(k)] = (k * 7 + salt) % 3 == 0;
  return x;
}

/// The cotangent of input K by the definition, in double.
template <int K, class B, class... X, class F, class In, std::size_t... J>
auto oracle(const F& f, const plan<1 + sizeof...(X)>& p, const std::vector<B>& ybar, const In& in,
            std::index_sequence<J...>) {
  using dimesh::local::detail::seeded;
  std::vector<double> want(static_cast<std::size_t>(p.size[K + 1]), 0.0);
  for (index_t e = 0; e < p.l.size(); ++e) {
    const auto y = f(seeded < dimesh::dual<double, 1>, static_cast<int>(J) == K ? 0 : -1 > ([&] {
                       const dimesh::computed<X> v = read<X>(std::get<J>(in))[p.offset(J + 1, e)];
                       if constexpr (dimesh::is_real<X>)
                         return static_cast<double>(v);
                       else
                         return v;
                     }())...);
    want[static_cast<std::size_t>(p.offset(K + 1, e))] +=
        static_cast<double>(ybar[static_cast<std::size_t>(p.offset(0, e))]) * y.partial[0];
  }
  return want;
}

template <class Bars> std::array<void*, std::tuple_size_v<Bars>> places(Bars& bars, unsigned mask) {
  return std::apply(
      [&](auto&... b) {
        unsigned k = 0;
        return std::array<void*, sizeof...(b)>{
            (mask >> k++ & 1u) != 0 ? static_cast<void*>(b.data()) : nullptr...};
      },
      bars);
}

template <class X> bool agrees(const std::vector<stored<X>>& got, const std::vector<double>& want) {
  if constexpr (dimesh::is_real<X>) {
    for (std::size_t k = 0; k < got.size(); ++k) {
      X rounded;
      dimesh::store(rounded, static_cast<dimesh::computed<X>>(want[k]));
      if (!(static_cast<double>(got[k]) == static_cast<double>(rounded))) return false;
    }
  }
  return true;
}

template <class B, class... X, class F, std::size_t... K>
void check_plan(const F& f, const plan<1 + sizeof...(X)>& p, unsigned mask, bool threads,
                std::index_sequence<K...> all) {
  const std::tuple<std::vector<stored<X>>...> in{input<X>(p.size[K + 1], K)...};
  const auto ybar = elements<B>(p.size[0], 9);
  const auto run = [&](const auto& transpose) {
    std::tuple<std::vector<stored<X>>...> bars{spoilt<stored<X>>(p.size[K + 1])...};
    transpose(places(bars, mask));
    const auto one = [&]<std::size_t J>(std::integral_constant<std::size_t, J>) {
      using Input = std::tuple_element_t<J, std::tuple<X...>>;
      if constexpr (dimesh::is_real<Input>) {
        if ((mask >> J & 1u) != 0)
          CHECK(agrees<Input>(std::get<J>(bars), oracle<J, B, X...>(f, p, ybar, in, all)));
        else
          CHECK(same_bits(std::get<J>(bars), spoilt<stored<Input>>(p.size[J + 1])));
      }
    };
    (one(std::integral_constant<std::size_t, K>{}), ...);
  };
  run([&](const auto& to) {
    map_transpose_over(p.l, f, ybar.data(), to, read<X>(std::get<K>(in))...);
  });
  run([&](const auto& to) {
    map_transpose_over<~0u, reversed>(p.l, f, ybar.data(), to, read<X>(std::get<K>(in))...);
  });
  if (threads) {
    run([&](const auto& to) {
      map_transpose_over<~0u, threaded>(p.l, f, ybar.data(), to, read<X>(std::get<K>(in))...);
    });
  }
  run([&](const auto& to) {
    constexpr int reals = dimesh::local::detail::real_inputs<~0u, X...>::count;
    dimesh::local::detail::pull_back_parts<~0u, Kokkos::Serial>(
        p.l, f, ybar.data(), to, std::make_integer_sequence<int, reals>{},
        read<X>(std::get<K>(in))...);
  });
}

template <class B, class... X, class F> void check(const F& f, unsigned seed) {
  draws draw(seed);
  constexpr unsigned reals = [] {
    unsigned mask = 0, bit = 1;
    ((mask |= dimesh::is_real<X> ? bit : 0u, bit *= 2), ...);
    return mask;
  }();
  std::array<lacks, 1 + sizeof...(X)> how;
  how.fill(lacks::anything);
  how[0] = lacks::nothing;
  for (int k = 0; k < 150; ++k) {
    how[1] = k % 2 == 0 ? lacks::nothing : lacks::anything;
    const unsigned some = reals & static_cast<unsigned>(draw.engine());
    check_plan<B, X...>(f, random_plan<1 + sizeof...(X)>(draw, how), k % 2 == 0 ? reals : some,
                        k % 10 == 0, std::index_sequence_for<X...>{});
  }
}

}  // namespace

TEST_CASE("map_transpose_over: one, two and three inputs over any loops") {
  check<double, double>(cube{}, 1);
  check<double, double, double>(product{}, 2);
  check<double, double, double, double>(gate{}, 3);
}

TEST_CASE("map_transpose_over: inputs that have no cotangent, mixed types") {
  check<double, bool, double, double>(chosen{}, 4);
  check<double, double, int>(shifted{}, 5);
  check<float, float, double>(product{}, 6);
}

TEST_CASE("map_transpose_over: sums of bfloat16 are rounded once") {
  check<bfloat16, bfloat16>(cube{}, 7);
  check<bfloat16, bfloat16, bfloat16>(product{}, 8);
}

TEST_CASE("map_transpose_over: many inputs that rows are summed for") {
  const auto f = [](auto a, auto b, auto c, auto d, auto e, auto g, auto h) {
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * g + h * h;
  };
  const index_t m = 3, n = 50;
  const auto ybar = elements<double>(m * n, 0), h = elements<double>(m * n, 1),
             x = elements<double>(m, 2);
  std::vector<std::vector<double>> bars(6, spoilt<double>(m));
  auto hbar = spoilt<double>(m * n);
  loops<8> l{2, {m, n}, {{n, 1}}};
  for (int k = 0; k < 6; ++k) l.stride[1 + k][0] = 1;
  l.stride[7][0] = n, l.stride[7][1] = 1;
  const double* c = x.data();
  map_transpose_over(l, f, ybar.data(),
                     {bars[0].data(), bars[1].data(), bars[2].data(), bars[3].data(),
                      bars[4].data(), bars[5].data(), hbar.data()},
                     c, c, c, c, c, c, h.data());
  for (index_t i = 0; i < m; ++i) {
    const auto row = static_cast<std::size_t>(i * n);
    double sum = 0;
    for (std::size_t j = 0; j < 50; ++j) sum += ybar[row + j];
    for (std::size_t k = 0; k < 6; ++k)
      CHECK(bars[k][static_cast<std::size_t>(i)] == static_cast<double>(k + 1) * sum);
    for (std::size_t j = 0; j < 50; ++j) CHECK(hbar[row + j] == 2 * h[row + j] * ybar[row + j]);
  }
}

TEST_CASE("map_transpose_over: a constant has no derivative") {
  const index_t n = 20;
  const auto ybar = elements<double>(n, 0), x = elements<double>(n, 1);
  auto xbar = spoilt<double>(n);
  map_transpose_over(
      loops<2>{1, {n}, {{1}, {1}}}, [](auto) { return 1.0; }, ybar.data(), {xbar.data()}, x.data());
  CHECK(xbar == std::vector<double>(20, 0.0));
}

TEST_CASE("map_transpose_over: over no elements, sums are zero") {
  for (const auto& [m, n] : {std::pair<index_t, index_t>{0, 5}, {5, 0}}) {
    const auto x = elements<double>(1, 0), b = elements<double>(n, 1), c = elements<double>(m, 2);
    auto bbar = spoilt<double>(n), cbar = spoilt<double>(m);
    double xbar = 77;
    map_transpose_over(loops<4>{2, {m, n}, {{n, 1}, {n, 1}, {0, 1}, {1, 0}}}, gate{}, x.data(),
                       {&xbar, bbar.data(), cbar.data()}, x.data(), b.data(), c.data());
    CHECK(xbar == 77);
    CHECK(bbar == std::vector<double>(bbar.size(), 0.0));
    CHECK(cbar == std::vector<double>(cbar.size(), 0.0));
  }
}

TEST_CASE("map_transpose_over: sums over many rows are as accurate as a plain loop") {
  const index_t m = 20000, n = 3;
  const std::vector<float> ybar(60000, 0.1f), b(3, 1.0f);
  std::vector<float> bbar(3);
  float s = 1, sbar = 0, loop = 0, all = 0;
  map_transpose_over(
      loops<3>{2, {m, n}, {{n, 1}, {0, 1}, {0, 0}}}, [](auto x, auto y) { return x + y; },
      ybar.data(), {bbar.data(), &sbar}, b.data(), &s);
  for (int i = 0; i < 20000; ++i) loop += 0.1f;
  for (int i = 0; i < 60000; ++i) all += 0.1f;
  const double exact = 20000 * double(0.1f);
  CHECK(std::abs(bbar[1] - exact) <= std::abs(loop - exact));
  CHECK(std::abs(sbar - 3 * exact) <= std::abs(all - 3 * exact));
}

/// Elements whose products and sums are rounded.
static std::vector<float> uneven(index_t n, int salt) {
  auto x = elements<float>(n, salt);
  for (index_t k = 0; k < n; ++k)
    x[static_cast<std::size_t>(k)] += 1e-3f * static_cast<float>(k % 997) + 0.37f;
  return x;
}

TEST_CASE("map_transpose_over: the bits of one row after another, where a direct kernel fits") {
  using namespace dimesh::local::detail;
  using dimesh::local::row_of;
  using dimesh::local::value_of_row;
  for (const auto& [m, n] : {std::pair<index_t, index_t>{3, 100}, {17, 64}, {40, 300}, {5, 3000}}) {
    const auto g = uneven(m * n, 0), x = uneven(m * n, 1), w = uneven(m * n, 2);
    const auto b = uneven(n, 3), s = uneven(m, 4);
    auto want = spoilt<float>(2 * m * n + m + n), got = want;
    float *wx = want.data(), *ww = wx + m * n, *wb = ww + m * n, *ws = wb + n;
    float *gx = got.data(), *gw = gx + m * n, *gb = gw + m * n, *gs = gb + n;
    const auto in = [n = n](const std::vector<float>& v, index_t i) {
      return row_of<const float>{v.data() + i * n};
    };
    using three = pullback<float, std::integer_sequence<int, 0, 1, 2>, deposit::write, deposit::add,
                           deposit::write>;
    using summed = pullback<float, std::integer_sequence<int, 0, 1>, deposit::write, deposit::sum>;
    using both = pullback<float, std::integer_sequence<int, 0, 1>, deposit::write, deposit::write>;
    std::fill_n(wb, n, 0.0f), std::fill_n(ws, m, 0.0f);
    for (index_t i = 0; i < m; ++i)
      pullback_row<three, gate>{}(n, in(g, i), in(x, i), row_of<const float>{b.data()}, in(w, i),
                                  row_of<float>{wx + i * n}, row_of<float>{wb},
                                  row_of<float>{ww + i * n});
    std::fill_n(gs, m, 0.0f);
    map_transpose_over(loops<4>{2, {m, n}, {{n, 1}, {n, 1}, {0, 1}, {n, 1}}}, gate{}, g.data(),
                       {gx, gb, gw}, x.data(), b.data(), w.data());
    CHECK(same_bits(got, want));
    for (index_t i = 0; i < m; ++i)
      pullback_row<summed, product>{}(n, in(g, i), in(x, i),
                                      value_of_row<const float>{s.data() + i},
                                      row_of<float>{wx + i * n}, value_of_row<float>{ws + i});
    map_transpose_over(loops<3>{2, {m, n}, {{n, 1}, {n, 1}, {1, 0}}}, product{}, g.data(), {gx, gs},
                       x.data(), s.data());
    CHECK(same_bits(got, want));
    for (index_t i = 0; i < m; ++i)
      pullback_row<both, product>{}(n, in(g, i), in(x, i), in(w, i), row_of<float>{wx + i * n},
                                    row_of<float>{ww + i * n});
    const loops<3> alike{2, {m, n}, {{n, 1}, {n, 1}, {n, 1}}};
    map_transpose_over(alike, product{}, g.data(), {gx, gw}, x.data(), w.data());
    CHECK(same_bits(got, want));
    std::fill_n(gx, m * n, 0.0f);
    map_transpose_over(alike, product{}, g.data(), {gx, nullptr}, x.data(), w.data());
    CHECK(same_bits(got, want));
  }
}
