// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// least: -O1
// options: -O2
#include "dimesh/local/map_over.hpp"

#include "dimesh/local/math.hpp"
#include "support/plans.hpp"
#include "support/shuffled.hpp"

#include <doctest/doctest.h>

#include <memory>

using namespace dimesh_test;
using dimesh::bfloat16;
using dimesh::local::loops;
using dimesh::local::map_over;

namespace {

struct doubled {
  template <class A> KOKKOS_FUNCTION auto operator()(A a) const { return a + a; }
};
struct blend {
  template <class A, class B> KOKKOS_FUNCTION auto operator()(A a, B b) const { return a * b + a; }
};
struct choice {
  template <class A, class B> KOKKOS_FUNCTION auto operator()(bool c, A a, B b) const {
    return dimesh::select(c, a, b);
  }
};
struct mix {
  template <class A, class B, class C, class D>
  KOKKOS_FUNCTION auto operator()(A a, B b, C c, D d) const {
    return a * b + c * d;
  }
};

/// std::vector<bool> has no elements of type bool.
template <class T> using stored = std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>;
template <class T> const T* read(const std::vector<stored<T>>& x) {
  return reinterpret_cast<const T*>(x.data());
}
template <class T> std::vector<stored<T>> input(index_t n, int salt) {
  auto x = elements<stored<T>>(n, salt);
  if constexpr (std::is_same_v<T, bool>) {
    for (index_t k = 0; k < n; ++k) x[static_cast<std::size_t>(k)] = (k * 7 + salt) % 3 == 0;
  }
  return x;
}

template <class Y, class... X, class F, std::size_t... K>
void check_plan(const F& f, const plan<1 + sizeof...(X)>& p, bool threads,
                std::index_sequence<K...>) {
  const std::tuple<std::vector<stored<X>>...> in{input<X>(p.size[K + 1], K)...};
  auto want = spoilt<Y>(p.size[0]);
  for (index_t e = 0; e < p.l.size(); ++e) {
    dimesh::store(
        want[static_cast<std::size_t>(p.offset(0, e))],
        f(static_cast<dimesh::computed<X>>(read<X>(std::get<K>(in))[p.offset(K + 1, e)])...));
  }
  auto got = spoilt<Y>(p.size[0]);
  map_over(p.l, f, got.data(), read<X>(std::get<K>(in))...);
  CHECK(same_bits(got, want));
  got = spoilt<Y>(p.size[0]);
  map_over<reversed>(p.l, f, got.data(), read<X>(std::get<K>(in))...);
  CHECK(same_bits(got, want));
  if (threads) {
    got = spoilt<Y>(p.size[0]);
    map_over<threaded>(p.l, f, got.data(), read<X>(std::get<K>(in))...);
    CHECK(same_bits(got, want));
  }
  got = spoilt<Y>(p.size[0]);
  const dimesh::local::detail::map_elements<F, Y, X...> some{
      p.l, f, got.data(), dimesh::detail::bundle<const X*...>(read<X>(std::get<K>(in))...)};
  for (index_t e = 0; e < some.threads(); ++e) some(e);
  CHECK(same_bits(got, want));
}

template <class Y, class... X, class F> void check(const F& f, unsigned seed) {
  draws draw(seed);
  std::array<lacks, 1 + sizeof...(X)> how;
  how.fill(lacks::anything);
  how[0] = lacks::nothing;
  for (int k = 0; k < 150; ++k) {
    check_plan<Y, X...>(f, random_plan<1 + sizeof...(X)>(draw, how), k % 10 == 0,
                        std::index_sequence_for<X...>{});
  }
}

}  // namespace

TEST_CASE("map_over: one, two, three and four inputs over any loops") {
  check<float, float>(doubled{}, 1);
  check<float, float, float>(blend{}, 2);
  check<double, double, double>(blend{}, 3);
  check<float, bool, float, float>(choice{}, 4);
  check<float, float, float, float, float>(mix{}, 5);
}

TEST_CASE("map_over: numbers kept in two bytes, whole numbers, wide ones") {
  check<bfloat16, bfloat16, bfloat16>(blend{}, 6);
  check<float, bfloat16, float>(blend{}, 7);
  check<int, int, int>(blend{}, 8);
  check<double, int, double>(blend{}, 9);
  check<std::int8_t, std::int8_t>(doubled{}, 10);
  check<long double, long double, float>(blend{}, 11);
}

TEST_CASE("map_over: the bits of loops written by hand") {
  const index_t m = 37, n = 300;
  const auto x = elements<float>(m * n, 0), w = elements<float>(m * n, 1),
             b = elements<float>(n, 2);
  const auto c = elements<float>(m, 3);
  auto want = spoilt<float>(m * n), got = want;
  const auto f = [](auto a, auto e, auto h) { return dimesh::gelu(a + e) * h; };
  const auto g = [](auto a, auto e, auto h) { return dimesh::exp(a - e) * h; };
  for (index_t i = 0; i < m; ++i) {
    const float *row = x.data() + i * n, *other = w.data() + i * n;
    float* y = want.data() + i * n;
#pragma omp simd
    for (index_t j = 0; j < n; ++j) y[j] = f(row[j], b[static_cast<std::size_t>(j)], other[j]);
  }
  map_over(loops<4>{2, {m, n}, {{n, 1}, {n, 1}, {0, 1}, {n, 1}}}, f, got.data(), x.data(), b.data(),
           w.data());
  CHECK(same_bits(got, want));
  for (index_t i = 0; i < m; ++i) {
    const float *row = x.data() + i * n, *turned = w.data() + i;
    const float top = c[static_cast<std::size_t>(i)];
    float* y = want.data() + i * n;
#pragma omp simd
    for (index_t j = 0; j < n; ++j) y[j] = g(row[j], top, turned[j * m]);
  }
  map_over(loops<4>{2, {m, n}, {{n, 1}, {n, 1}, {1, 0}, {1, m}}}, g, got.data(), x.data(), c.data(),
           w.data());
  CHECK(same_bits(got, want));
}

TEST_CASE("map_over: in place") {
  const index_t m = 70, n = 10;
  auto x = elements<float>(m * n, 0);
  const auto b = elements<float>(n, 1), before = x;
  map_over(loops<3>{2, {m, n}, {{n, 1}, {n, 1}, {0, 1}}}, blend{}, x.data(), x.data(), b.data());
  for (index_t i = 0; i < m; ++i)
    for (index_t j = 0; j < n; ++j) {
      const auto k = static_cast<std::size_t>(i * n + j);
      REQUIRE(x[k] == blend{}(before[k], b[static_cast<std::size_t>(j)]));
    }
}
