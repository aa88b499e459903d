// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: -O2
#include "dimesh/local/map_transpose_over.hpp"

#include "dimesh/local/math.hpp"
#include "support/plans.hpp"
#include "support/shuffled.hpp"

#include <doctest/doctest.h>

#include <tuple>

using namespace dimesh_test;
using dimesh::bfloat16;
using dimesh::local::loops;
using dimesh::local::map_transpose;
using dimesh::local::map_transpose_over;
using dimesh::local::nest;
using dimesh::local::operand;
using dimesh::local::step;
using dimesh::local::wanted;

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
void check_plan(const F& f, const plan<1 + sizeof...(X)>& p, unsigned mask,
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
                        std::index_sequence_for<X...>{});
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

/// Elements whose products and sums are rounded.
static std::vector<float> uneven(index_t n, int salt) {
  auto x = elements<float>(n, salt);
  for (index_t k = 0; k < n; ++k)
    x[static_cast<std::size_t>(k)] += 1e-3f * static_cast<float>(k % 997) + 0.37f;
  return x;
}

TEST_CASE("map_transpose_over: the bits of map_transpose") {
  constexpr step zero = step::zero, unit = step::unit, strided = step::strided;
  for (const auto& [m, n] :
       {std::pair<index_t, index_t>{3, 100}, {17, 64}, {40, 300}, {50, 20}, {5, 3000}}) {
    const nest<2> space{{m, n}};
    const auto g = uneven(m * n, 0), x = uneven(m * n, 1), w = uneven(m * n, 2);
    const auto b = uneven(n, 3), s = uneven(m, 4);
    auto want = spoilt<float>(2 * m * n + m + n), got = want;
    using plain = operand<const float, strided, unit>;
    using out = operand<float, strided, unit>;
    const auto at = [&](auto& v, index_t k) { return v.data() + k; };
    const plain ybar{g.data(), {n, 1}}, in{x.data(), {n, 1}}, also{w.data(), {n, 1}};
    const out xbar{at(want, 0), {n, 1}}, wbar{at(want, m * n), {n, 1}};
    const operand<const float, zero, unit> row{b.data(), {0, 1}};
    const operand<float, zero, unit> row_bar{at(want, 2 * m * n), {0, 1}};
    const operand<const float, unit, zero> column{s.data(), {1, 0}};
    const operand<float, unit, zero> column_bar{at(want, 2 * m * n + n), {1, 0}};
    float *gx = at(got, 0), *gw = at(got, m * n), *gb = at(got, 2 * m * n), *gs = gb + n;
    const loops<3> rows{2, {m, n}, {{n, 1}, {n, 1}, {0, 1}}};
    const loops<3> columns{2, {m, n}, {{n, 1}, {n, 1}, {1, 0}}};
    const loops<3> both{2, {m, n}, {{n, 1}, {n, 1}, {n, 1}}};
    const loops<4> three{2, {m, n}, {{n, 1}, {n, 1}, {0, 1}, {n, 1}}};

    map_transpose(space, gate{}, ybar, wanted{in, xbar}, wanted{row, row_bar}, wanted{also, wbar});
    map_transpose_over(three, gate{}, g.data(), {gx, gb, gw}, x.data(), b.data(), w.data());
    CHECK(same_bits(got, want));
    map_transpose(space, product{}, ybar, wanted{in, xbar}, wanted{row, row_bar});
    map_transpose_over(rows, product{}, g.data(), {gx, gb}, x.data(), b.data());
    CHECK(same_bits(got, want));
    map_transpose(space, product{}, ybar, wanted{in, xbar}, wanted{column, column_bar});
    map_transpose_over(columns, product{}, g.data(), {gx, gs}, x.data(), s.data());
    CHECK(same_bits(got, want));
    map_transpose(space, product{}, ybar, wanted{in, xbar}, column);
    map_transpose_over(columns, product{}, g.data(), {gx, nullptr}, x.data(), s.data());
    CHECK(same_bits(got, want));
    map_transpose(space, product{}, ybar, wanted{in, xbar}, wanted{also, wbar});
    map_transpose_over(both, product{}, g.data(), {gx, gw}, x.data(), w.data());
    CHECK(same_bits(got, want));
    map_transpose(space, product{}, ybar, wanted{in, xbar}, also);
    map_transpose_over(both, product{}, g.data(), {gx, nullptr}, x.data(), w.data());
    CHECK(same_bits(got, want));
  }
}
