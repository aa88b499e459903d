// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/local/scan.hpp"

#include "support/plans.hpp"
#include "support/shuffled.hpp"

#include <doctest/doctest.h>

using dimesh::index_t;
namespace dl = dimesh::local;

namespace {

std::vector<double> small_numbers(std::size_t n, unsigned seed) {
  std::vector<double> v(n);
  for (double& x : v) {
    seed = seed * 1103515245u + 12345u;
    x = static_cast<double>(seed >> 16 & 7u) / 4 - 0.75;
  }
  return v;
}

template <class Step>
double result_of(const Step& s, double before, double after,
                 const dl::detail::scan_inputs<double>& in, index_t i) {
  if constexpr (Step::gives_carry)
    return s.exclusive ? before : after;
  else
    return dl::detail::given_of(s, before, after, in, i);
}

/// One carry after another, element by element.
template <class Step>
void check(const Step& step, const dl::lines& l, const std::vector<double>& a,
           const std::vector<double>& b) {
  const auto size = static_cast<std::size_t>(l.outer * l.n * l.inner);
  std::vector<double> y(size, 99), turned(size, 99), expected(size, 98);
  std::vector<dl::scan_total<Step, double>> total(static_cast<std::size_t>(l.count()));
  const dl::detail::scan_inputs<double> in{{a.data(), b.data(), nullptr}};
  const double* const none = nullptr;
  dl::scan(step, l, in, none, 0, y.data());
  dl::scan<dimesh_test::reversed>(step, l, in, none, 0, turned.data());
  dl::scan_totals(step, l, in, total.data());
  bool ends = true;
  for (index_t o = 0; o < l.outer; ++o)
    for (index_t j = 0; j < l.inner; ++j) {
      double c = step.first();
      for (index_t k = 0; k < l.n; ++k) {
        const index_t i = (o * l.n + (l.reverse ? l.n - 1 - k : k)) * l.inner + j;
        const double before = c;
        c = dl::detail::next_of(step, c, in, i);
        expected[static_cast<std::size_t>(i)] = result_of(step, before, c, in, i);
      }
      const auto& t = total[static_cast<std::size_t>(o * l.inner + j)];
      if constexpr (Step::affine)
        ends = ends && std::abs(t.value - c) < 1e-12;
      else
        ends = ends && t == c;
    }
  CHECK(ends);
  CHECK(turned == y);
  double worst = 0;  // compilers join products and sums in one loop and not in another
  for (std::size_t i = 0; i < size; ++i) worst = std::max(worst, std::abs(y[i] - expected[i]));
  CHECK(worst < 1e-12);
}

}  // namespace

TEST_CASE("scans: rows and columns of all widths, from either end") {
  const index_t outers[] = {0, 1, 3, 8, 21}, lengths[] = {0, 1, 7, 33},
                inners[] = {0, 1, 2, 17, 256, 300};
  for (const index_t outer : outers)
    for (const index_t n : lengths)
      for (const index_t inner : inners)
        for (const bool reverse : {false, true})
          for (const bool exclusive : {false, true}) {
            const auto size = static_cast<std::size_t>(outer * n * inner);
            const auto a = small_numbers(size, 1), b = small_numbers(size, 2);
            const dl::lines l{outer, n, inner, reverse};
            check(dl::fold_step<dl::plus, double>{{}, exclusive}, l, a, b);
            check(dl::fold_step<dl::greatest, double>{{}, exclusive}, l, a, b);
            check(dl::recurrence_step<double>{exclusive}, l, a, b);
            check(dl::recurrence_pulled_step<double>{exclusive}, l, a, b);
          }
}

TEST_CASE("scans: rows that lie pages apart") {
  for (const index_t n : {511, 512, 513, 1024})
    for (const index_t outer : {2, 7})
      for (const bool reverse : {false, true})
        for (const bool exclusive : {false, true}) {
          const auto size = static_cast<std::size_t>(outer * n);
          const auto a = small_numbers(size, 1), b = small_numbers(size, 2);
          const dl::lines l{outer, n, 1, reverse};
          check(dl::fold_step<dl::greatest, double>{{}, exclusive}, l, a, b);
          check(dl::recurrence_step<double>{exclusive}, l, a, b);
          check(dl::recurrence_pulled_step<double>{exclusive}, l, a, b);
        }
}

TEST_CASE("scans: sums of floats have the same bits along rows and along columns") {
  for (const index_t lines : {1, 5, 300})
    for (const bool reverse : {false, true})
      for (const bool exclusive : {false, true}) {
        constexpr index_t n = 100;
        std::vector<float> rows(static_cast<std::size_t>(lines * n)), columns(rows), down(rows);
        const auto at = [&](index_t i, index_t k) { return static_cast<std::size_t>(i * n + k); };
        const auto turned = [&](index_t i, index_t k) {
          return static_cast<std::size_t>(k * lines + i);
        };
        for (index_t i = 0; i < lines; ++i)
          for (index_t k = 0; k < n; ++k)
            rows[at(i, k)] = columns[turned(i, k)] =
                1.0f / static_cast<float>(1 + (i + 7 * k) % 31);
        const dl::fold_step<dl::plus, float> sum{{}, exclusive};
        const float* const none = nullptr;
        std::vector<float> along(rows);
        dl::scan(sum, {lines, n, 1, reverse}, {{rows.data(), nullptr, nullptr}}, none, 0,
                 along.data());
        dl::scan(sum, {1, n, lines, reverse}, {{columns.data(), nullptr, nullptr}}, none, 0,
                 down.data());
        bool same = true;
        for (index_t i = 0; i < lines; ++i) {
          float c = 0;
          for (index_t j = 0; j < n; ++j) {
            const index_t k = reverse ? n - 1 - j : j;
            const float before = c;
            c += rows[at(i, k)];
            const float expected = exclusive ? before : c;
            same = same && along[at(i, k)] == expected && down[turned(i, k)] == expected;
          }
        }
        CHECK(same);
      }
}

TEST_CASE("scans: a carry given, as blocks before leave it") {
  const std::vector<double> x = {1, 2, 3, 4, 5, 6}, start = {10, 0, 20, 0};
  std::vector<double> y(6);
  dl::scan(dl::fold_step<dl::plus, double>{{}, false}, {2, 3, 1}, {{x.data(), nullptr, nullptr}},
           start.data(), 2, y.data());
  CHECK(y == std::vector<double>{11, 13, 16, 24, 29, 35});
}

namespace {
/// What a block of these slopes, and one value at its end, does to a carry.
template <class T> auto total_of(const std::vector<T>& slopes, T value) {
  std::vector<T> values(slopes.size(), T(0));
  values.back() = value;
  dl::scan_total<dl::recurrence_step<T>, T> total;
  const dl::detail::scan_inputs<T> in{{slopes.data(), values.data(), nullptr}};
  const dl::lines l{1, static_cast<index_t>(slopes.size()), 1};
  dl::scan_totals(dl::recurrence_step<T>{false}, l, in, &total);
  return total;
}
/// The carry that a block gets, and what that block makes of it; the same of three blocks.
template <class T> T carried(T carry, const std::vector<T>& slopes) {
  const dl::join_totals<dl::recurrence_step<T>, T> join{{false}};
  const auto first = total_of<T>({1}, carry), block = total_of<T>(slopes, 0);
  const T once = join(first, block).value;
  const auto one = total_of<T>({1}, 0);
  const T twice = join(first, join(one, block)).value;
  CHECK((twice == once || (twice != twice && once != once)));
  return once;
}
template <class T> void check_long_products(T big, T small) {
  const T inf = std::numeric_limits<T>::infinity();
  CHECK(carried<T>(0, {big, big, 2}) == 0);
  CHECK(carried<T>(1, {big, big, 0}) == 0);
  CHECK(carried<T>(1, {big, big, small, small}) == doctest::Approx(1));
  CHECK(carried<T>(small, {big, big, small}) == doctest::Approx(1));
  CHECK(carried<T>(big, {small, small, big}) == doctest::Approx(1));
  CHECK(carried<T>(-big, {big, big, big}) == -inf);
  CHECK(carried<T>(big, {small, small, small, small}) == 0);
  CHECK(carried<T>(std::numeric_limits<T>::denorm_min(), {big, 4}) > 0);
  CHECK(std::isnan(carried<T>(0, {inf})));
  CHECK(std::isnan(carried<T>(1, {inf, 0})));
  CHECK(carried<T>(3, {T(0.5), T(0.25)}) == T(0.375));
}
}  // namespace

TEST_CASE("totals of affine steps: long products leave what a number can hold, and come back") {
  check_long_products<double>(1e250, 1e-250);
  check_long_products<float>(1e30f, 1e-30f);
  using complex = dimesh::complex_of<double>;
  const complex turn(0, 1e250), back(0, -1e-250);
  CHECK(carried<complex>(0.0, {turn, turn, 2.0}) == 0.0);
  CHECK(carried<complex>(1.0, {turn, turn, 0.0}) == 0.0);
  const complex full = carried<complex>({3, 4}, {turn, turn, back, back});
  CHECK(full.real() == doctest::Approx(3));
  CHECK(full.imag() == doctest::Approx(4));
  const complex left = carried<complex>(1e-250, {turn, turn, back});
  CHECK(left.real() == 0);
  CHECK(left.imag() == doctest::Approx(1));
  CHECK(carried<complex>({3, 1}, {0.5, {0, 0.25}}) == complex(-0.125, 0.375));
  using step = dl::recurrence_step<double>;
  const dl::join_totals<step, double> join{step{false}};
  CHECK(join(total_of<double>({1e300}, 0), total_of<double>({1e300, 1e10}, 3)).value == 3);
}
