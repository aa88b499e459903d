// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/local/math.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "dimesh/local/piecewise.hpp"

namespace {

template <class T> constexpr T inf = std::numeric_limits<T>::infinity();
template <class T> constexpr T nan_of = std::numeric_limits<T>::quiet_NaN();

/// |got - want| in units in the last place of want; below the normal range, of the least normal.
template <class T> double ulps(T got, long double want) {
  const T rounded = static_cast<T>(want);
  if (std::isnan(rounded) || std::isinf(rounded) || std::isnan(got) || std::isinf(got)) {
    const bool same = (std::isnan(rounded) && std::isnan(got)) || rounded == got;
    const T most = std::numeric_limits<T>::max();
    return same ? 0 : (std::isinf(rounded) && got == std::copysign(most, rounded) ? 1 : 1e30);
  }
  int e = 0;
  std::frexp(std::max(std::abs(rounded), std::numeric_limits<T>::min()), &e);
  return static_cast<double>(std::abs(static_cast<long double>(got) - want) /
                             std::ldexp(1.0L, e - std::numeric_limits<T>::digits));
}

/// Values of every exponent and sign, and a fine grid where the functions bend.
template <class T> std::vector<T> samples() {
  std::vector<T> x;
  for (int e = std::numeric_limits<T>::min_exponent - 20; e < std::numeric_limits<T>::max_exponent;
       ++e) {
    for (int k = 0; k < 37; ++k) {
      const T v = std::ldexp(T(1) + T(k) / T(37), e);
      x.push_back(v);
      x.push_back(-v);
    }
  }
  for (int k = -200000; k <= 200000; ++k) x.push_back(T(k) * T(0.00317));
  return x;
}

/// Results this small may be flushed to 0 by sigmoid, silu and gelu.
template <class T> bool may_flush(long double want) {
  return std::abs(want) < 128.0L * std::numeric_limits<T>::min();
}

template <class T, class F, class G> double worst(F f, G g, bool flush = false) {
  double w = 0;
  for (const T x : samples<T>()) {
    const long double want = g(static_cast<long double>(x));
    if (flush && may_flush<T>(want) && f(x) == 0) continue;
    w = std::max(w, ulps<T>(f(x), want));
  }
  return w;
}

long double sigmoid_of(long double x) { return 1 / (1 + std::exp(-x)); }
long double gelu_of(long double x) {
  const long double u = 1.595769121605730711759784L * (x + 0.044715L * x * x * x);
  return x * sigmoid_of(u);
}

}  // namespace

TEST_CASE_TEMPLATE("math: errors stay within the stated bounds over the whole range", T, float,
                   double) {
  using L = long double;
  CHECK(worst<T>([](T x) { return dimesh::exp(x); }, [](L x) { return std::exp(x); }) <= 2);
  CHECK(worst<T>([](T x) { return dimesh::log(x); }, [](L x) { return std::log(x); }) <= 2);
  CHECK(worst<T>([](T x) { return dimesh::sqrt(x); }, [](L x) { return std::sqrt(x); }) <= 1);
  CHECK(worst<T>([](T x) { return dimesh::rsqrt(x); }, [](L x) { return 1 / std::sqrt(x); }) <= 2);
  CHECK(worst<T>([](T x) { return dimesh::tanh(x); }, [](L x) { return std::tanh(x); }) <= 4);
  CHECK(worst<T>([](T x) { return dimesh::log1p(x); }, [](L x) { return std::log1p(x); }) <= 4);
  CHECK(worst<T>([](T x) { return dimesh::sigmoid(x); }, sigmoid_of, true) <= 4);
  CHECK(worst<T>([](T x) { return dimesh::silu(x); }, [](L x) { return x * sigmoid_of(x); },
                 true) <= 6);
  CHECK(worst<T>([](T x) { return dimesh::softplus(x); },
                 [](L x) {
                   return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
                 }) <= 4);
  CHECK(worst<T>([](T x) { return dimesh::floor(x); }, [](L x) { return std::floor(x); }) == 0);
  const auto elu = [](L x) { return x < 0 ? std::expm1(x) : x; };
  CHECK(worst<T>([](T x) { return dimesh::elu(x); }, elu) <= 8);
  CHECK(worst<T>([](T x) { return dimesh::selu(x); },
                 [&](L x) {
                   return 1.0507009873554804934L * (x < 0 ? 1.6732632423543772848L * elu(x) : x);
                 }) <= 8);
}

TEST_CASE_TEMPLATE("math: gelu", T, float, double) {
  // Far left, the exponent 2u is large and its rounding is multiplied by it: allow for it.
  for (int k = -13000; k <= 13000; ++k) {
    const T x = T(k) * T(0.001);
    const double u = std::abs(static_cast<double>(x) * (1 + 0.045 * static_cast<double>(x * x)));
    if (may_flush<T>(gelu_of(x)) && dimesh::gelu(x) == 0) continue;
    CHECK(ulps<T>(dimesh::gelu(x), gelu_of(x)) <= 6 + 6 * u);
  }
  CHECK(dimesh::gelu(inf<T>) == inf<T>);
  CHECK(dimesh::gelu(-inf<T>) == 0);
  CHECK(std::isnan(dimesh::gelu(nan_of<T>)));
}

TEST_CASE_TEMPLATE("math: the ends of the range", T, float, double) {
  const T i = inf<T>, n = nan_of<T>, most = std::numeric_limits<T>::max();
  CHECK(dimesh::exp(i) == i);
  CHECK(dimesh::exp(-i) == 0);
  CHECK(dimesh::exp(T(0)) == 1);
  CHECK(dimesh::exp(most) == i);
  CHECK(dimesh::exp(-most) == 0);
  CHECK(dimesh::log(T(0)) == -i);
  CHECK(dimesh::log(T(1)) == 0);
  CHECK(dimesh::log(i) == i);
  CHECK(std::isnan(dimesh::log(T(-1))));
  CHECK(std::isnan(dimesh::log(-i)));
  CHECK(dimesh::log1p(T(-1)) == -i);
  CHECK(dimesh::log1p(i) == i);
  CHECK(dimesh::tanh(i) == 1);
  CHECK(dimesh::tanh(-i) == -1);
  CHECK(std::signbit(dimesh::tanh(T(-0.0))));
  CHECK(dimesh::sigmoid(i) == 1);
  CHECK(dimesh::sigmoid(-i) == 0);
  CHECK(dimesh::sigmoid(-most) == 0);
  CHECK(dimesh::silu(-i) == 0);
  CHECK(dimesh::silu(i) == i);
  CHECK(dimesh::softplus(i) == i);
  CHECK(dimesh::softplus(-i) == 0);
  CHECK(dimesh::sqrt(i) == i);
  CHECK(std::signbit(dimesh::sqrt(T(-0.0))));
  CHECK(std::isnan(dimesh::sqrt(-i)));
  CHECK(dimesh::rsqrt(T(0)) == i);
  CHECK(dimesh::rsqrt(i) == 0);
  CHECK(dimesh::floor(-i) == -i);
  CHECK(dimesh::floor(T(-0.5)) == -1);
  CHECK(dimesh::relu(-i) == 0);
  for (const T y : {dimesh::exp(n), dimesh::log(n), dimesh::log1p(n), dimesh::tanh(n),
                    dimesh::sigmoid(n), dimesh::silu(n), dimesh::softplus(n), dimesh::sqrt(n),
                    dimesh::rsqrt(n), dimesh::floor(n), dimesh::relu(n), dimesh::maximum(n, T(1)),
                    dimesh::maximum(T(1), n), dimesh::minimum(n, T(1)), dimesh::minimum(T(1), n)}) {
    CHECK(std::isnan(y));
  }
}

TEST_CASE("math: pow") {
  for (const float x : {0.5f, 1.0f, 1.7f, 33.0f, 1e-3f, 1e30f}) {
    for (const float y : {-3.0f, -0.5f, 0.0f, 0.1f, 1.0f, 2.0f, 2.5f, 7.0f}) {
      CHECK(ulps<float>(dimesh::pow(x, y), std::pow(double(x), double(y))) <= 1);
      const float got = dimesh::pow(-x, y), want = std::pow(-x, y);
      CHECK((std::isnan(want) ? std::isnan(got) : ulps<float>(got, want) <= 1));
    }
  }
  constexpr float end = inf<float>;
  for (const float x : {-end, -2.0f, -1.0f, -0.5f, -0.0f, 0.0f, 0.5f, 1.0f, 2.0f, end})
    for (const float y : {-end, -3.0f, -2.0f, -0.5f, 0.5f, 2.0f, 3.0f, end}) {
      CAPTURE(x);
      CAPTURE(y);
      const float got = dimesh::pow(x, y), want = std::pow(x, y);
      CHECK((std::isnan(want) ? std::isnan(got) : ulps<float>(got, want) <= 1 || got == want));
      CHECK((std::isnan(want) || std::signbit(got) == std::signbit(want)));
    }
  CHECK(dimesh::pow(0.0f, 0.0f) == 1);
  CHECK(dimesh::pow(0.0f, 2.0f) == 0);
  CHECK(dimesh::pow(0.0f, -2.0f) == inf<float>);
  CHECK(dimesh::pow(nan_of<float>, 0.0f) == 1);
  CHECK(dimesh::pow(1.0f, nan_of<float>) == 1);
  CHECK(std::isnan(dimesh::pow(nan_of<float>, 1.0f)));
  CHECK(dimesh::pow(2.0, 10) == 1024);
  CHECK(dimesh::pow(2, 10) == 1024);
}

TEST_CASE_TEMPLATE("math: pieces, at their ends and at the ends of the range", T, float, double) {
  const T i = inf<T>, n = nan_of<T>;
  CHECK(dimesh::elu(-i) == -1);
  CHECK(dimesh::elu(i) == i);
  CHECK(std::signbit(dimesh::elu(T(-0.0))));
  CHECK(dimesh::selu(-i) == T(-1.7580993408473768599));
  CHECK(dimesh::selu(T(2)) == T(1.0507009873554804934) * 2);
  CHECK(dimesh::leaky_relu(T(-4), 0.25) == -1);
  CHECK(dimesh::leaky_relu(T(4), 0.25) == 4);
  CHECK(dimesh::leaky_relu(-i, 0.25) == -i);
  CHECK(dimesh::sign(-i) == -1);
  CHECK(dimesh::sign(T(1e-30)) == 1);
  CHECK(dimesh::sign(T(0)) == 0);
  CHECK(dimesh::floor_div(T(-7), T(2)) == -4);
  CHECK(dimesh::floor_div(T(1), T(0)) == i);
  CHECK(dimesh::mod(T(-7.5), T(2)) == T(0.5));
  CHECK(dimesh::mod(T(7.5), T(-2)) == T(-0.5));
  CHECK(dimesh::mod(T(6), T(-2)) == 0);
  CHECK(dimesh::mod(T(1e30), T(7)) == std::fmod(T(1e30), T(7)));  // the quotient has no point
  for (const T y : {dimesh::elu(n), dimesh::selu(n), dimesh::leaky_relu(n, 0.2), dimesh::sign(n),
                    dimesh::floor_div(n, T(1)), dimesh::mod(n, T(1)), dimesh::mod(T(1), T(0))})
    CHECK(std::isnan(y));
}

TEST_CASE("math: quotients and remainders of whole numbers are exact, for all signs") {
  for (int x = -9; x <= 9; ++x)
    for (const int y : {-4, -1, 1, 3}) {
      const int q = dimesh::floor_div(x, y), r = dimesh::mod(x, y);
      CHECK(q == static_cast<int>(std::floor(double(x) / double(y))));
      CHECK(q * y + r == x);
      CHECK((r == 0 || ((r < 0) == (y < 0) && std::abs(r) < std::abs(y))));
    }
  const long long big = 9007199254740993;  // no double is that
  CHECK(dimesh::floor_div(-big, 2LL) == -4503599627370497);
  CHECK(dimesh::mod(-big, 2LL) == 1);
  CHECK(dimesh::floor_div(7u, 2u) == 3);
  const int least = std::numeric_limits<int>::min();
  for (const int x : {least, -7, 0, 7}) {  // where a processor has no quotient
    CHECK(dimesh::floor_div(x, 0) == 0);
    CHECK(dimesh::mod(x, 0) == 0);
    CHECK(dimesh::mod(x, -1) == 0);
  }
  CHECK(dimesh::floor_div(least, -1) == least);
  CHECK(dimesh::floor_div(7u, 0u) == 0);
  CHECK(dimesh::mod(7u, 0u) == 0);
  CHECK(dimesh::mod(7u, 2u) == 1);
  CHECK(dimesh::sign(-3) == -1);
  CHECK(dimesh::sign(3u) == 1u);
  static_assert(std::is_same_v<decltype(dimesh::sign(std::int8_t{1})), std::int8_t>);
  static_assert(std::is_same_v<decltype(dimesh::mod(std::int8_t{1}, std::int8_t{1})), int>);
  static_assert(std::is_same_v<decltype(dimesh::mod(1, 2.5f)), float>);
  static_assert(std::is_same_v<decltype(dimesh::elu(1)), double>);
  static_assert(std::is_same_v<decltype(dimesh::leaky_relu(1.0f, 0.2)), float>);
}

TEST_CASE("math: types") {
  static_assert(std::is_same_v<decltype(dimesh::exp(1)), double>);
  static_assert(std::is_same_v<decltype(dimesh::exp(1.0f)), float>);
  static_assert(std::is_same_v<decltype(dimesh::exp(1.0L)), long double>);
  static_assert(std::is_same_v<decltype(dimesh::square(3)), int>);
  static_assert(std::is_same_v<decltype(dimesh::maximum(1, 2.5f)), float>);
  static_assert(std::is_same_v<decltype(dimesh::pow(1.0f, 2)), float>);
  static_assert(dimesh::Scalar<bool> && !dimesh::Scalar<std::vector<int>>);
  CHECK(dimesh::exp(1) == doctest::Approx(2.718281828459045));
  CHECK(dimesh::exp(1.0L) == std::exp(1.0L));
  CHECK(dimesh::gelu(1.0L) == doctest::Approx(double(gelu_of(1))));
  CHECK(dimesh::abs(-3) == 3);
  CHECK(dimesh::abs(3u) == 3u);
  CHECK(dimesh::relu(-3) == 0);
  CHECK(dimesh::select(true, 1, 2.5) == 1.0);
  CHECK(dimesh::minimum(4, 3) == 3);
  CHECK(dimesh::sin(1.0f) == std::sin(1.0f));
  CHECK(dimesh::cos(1.0) == std::cos(1.0));
}
