// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/local/dual.hpp"

#include "dimesh/local/dual_in_std.hpp"
#include "dimesh/local/piecewise.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>
#include <limits>

namespace {

using dimesh::dual;
using pair = dual<double, 2>;

/// f's derivatives at (x, y), by dual numbers and by central differences with h^4 error.
template <class F> void check_gradient(F f, double x, double y) {
  const pair z = f(pair::variable(x, 0), pair::variable(y, 1));
  CHECK(z.value == doctest::Approx(f(x, y)).epsilon(1e-14));
  auto slope = [](auto g) {
    const double h = 1e-3;
    return (8 * (g(h) - g(-h)) - (g(2 * h) - g(-2 * h))) / (12 * h);
  };
  const double dx = slope([&](double h) { return f(x + h, y); });
  const double dy = slope([&](double h) { return f(x, y + h); });
  INFO("at ", x, ", ", y);
  CHECK(z.partial[0] == doctest::Approx(dx).epsilon(1e-8));
  CHECK(z.partial[1] == doctest::Approx(dy).epsilon(1e-8));
}

template <class F> void check_everywhere(F f, std::initializer_list<double> at) {
  for (const double x : at) {
    for (const double y : at) check_gradient(f, x, y);
  }
}

template <class T> auto by_argument(const T& v) {
  using std::abs, std::cos, std::exp, std::floor, std::log, std::log1p, std::pow, std::sin,
      std::sqrt, std::tanh;
  return exp(v) + log(v) + log1p(v) + tanh(v) + sqrt(v) + sin(v) + cos(v) + floor(v) + abs(v) +
         pow(v, 3) + pow(2.0, v) + pow(v, v);
}
TEST_CASE("dual: names that are found by argument and in std mean one function") {
  using D = dimesh::dual<double, 1>;
  const D v = by_argument(D::variable(0.7, 0));
  const double h = 1e-6, slope = (by_argument(0.7 + h) - by_argument(0.7 - h)) / (2 * h);
  CHECK(v.value == doctest::Approx(by_argument(0.7)));
  CHECK(v.partial[0] == doctest::Approx(slope));
}

}  // namespace

TEST_CASE("dual: operators against finite differences") {
  const auto at = {-2.3, -0.4, 0.7, 3.1};
  check_everywhere([](auto x, auto y) { return x + y; }, at);
  check_everywhere([](auto x, auto y) { return x - y; }, at);
  check_everywhere([](auto x, auto y) { return x * y; }, at);
  check_everywhere([](auto x, auto y) { return x / y; }, at);
  check_everywhere([](auto x, auto y) { return -x + 2 * y - x * 3.0f; }, at);
  check_everywhere([](auto x, auto y) { return 1 - x + (y - 1) + (2 + x) * (y + 3); }, at);
  check_everywhere([](auto x, auto y) { return 1 / x + y / 4; }, at);
  check_everywhere(
      [](auto x, auto y) {
        auto s = x;
        s += y;
        s *= x;
        s -= 2.0;
        s /= y;
        return s;
      },
      at);
}

TEST_CASE("dual: functions against finite differences") {
  const auto at = {-2.3, -0.4, 0.7, 3.1};
  check_everywhere([](auto x, auto y) { return dimesh::exp(x * y); }, at);
  check_everywhere([](auto x, auto y) { return dimesh::tanh(x) * dimesh::tanh(y); }, at);
  check_everywhere([](auto x, auto y) { return dimesh::sigmoid(x - y); }, at);
  check_everywhere([](auto x, auto y) { return dimesh::sin(x) * dimesh::cos(y); }, at);
  check_everywhere([](auto x, auto y) { return dimesh::square(x) + dimesh::abs(y); }, at);
  check_everywhere([](auto x, auto y) { return dimesh::relu(x) * dimesh::relu(-y); }, at);
  check_everywhere([](auto x, auto y) { return dimesh::gelu(x + 0.5) * y; }, at);
  check_everywhere([](auto x, auto y) { return dimesh::silu(x) + dimesh::softplus(y); }, at);
  check_everywhere([](auto x, auto y) { return dimesh::elu(x) * dimesh::selu(y); }, at);
  check_everywhere([](auto x, auto y) { return dimesh::leaky_relu(x, 0.2) * dimesh::sign(y); }, at);
  check_everywhere([](auto x, auto y) { return dimesh::mod(x + 0.05, y) + dimesh::mod(y, 0.9); },
                   at);
  check_everywhere([](auto x, auto y) { return dimesh::floor_div(x, 0.3) * y; }, at);
  check_everywhere([](auto x, auto y) { return dimesh::maximum(x, y + 0.1); }, at);
  check_everywhere([](auto x, auto y) { return dimesh::minimum(x + 0.1, y); }, at);
  check_everywhere([](auto x, auto y) { return dimesh::maximum(x, 0.1) + dimesh::minimum(0.3, y); },
                   at);
  check_everywhere([](auto x, auto y) { return dimesh::select(x + 0.1 < y, x * x, y); }, at);
  check_everywhere([](auto x, auto y) { return dimesh::select(x > 0, x, 1.0) * y; }, at);
  check_everywhere([](auto x, auto y) { return dimesh::floor(x + 0.05) * y; }, at);
  check_everywhere([](auto x, auto y) { return dimesh::pow(x, 3) + dimesh::pow(y, 2.0); }, at);
}

TEST_CASE("dual: functions of positive numbers against finite differences") {
  const auto at = {0.3, 1.0, 2.7};
  check_everywhere([](auto x, auto y) { return dimesh::log(x * y); }, at);
  check_everywhere([](auto x, auto y) { return dimesh::log1p(x + y); }, at);
  check_everywhere([](auto x, auto y) { return dimesh::sqrt(x) * dimesh::rsqrt(y); }, at);
  check_everywhere([](auto x, auto y) { return dimesh::pow(x, y); }, at);
  check_everywhere([](auto x, auto y) { return dimesh::pow(2.5, y) + dimesh::pow(x, -1.5); }, at);
}

TEST_CASE("dual: a type without own elementary functions takes the generic way") {
  using wide = dual<long double, 1>;
  for (const double x : {-70.0, -1.5, 0.0, 0.8}) {
    const auto got = dimesh::gelu(wide::variable(x, 0));
    const auto want = dimesh::gelu(dual<double, 1>::variable(x, 0));
    CHECK(double(got.value) == doctest::Approx(want.value));
    CHECK(double(got.partial[0]) == doctest::Approx(want.partial[0]));
  }
}

/// The second derivative, by duals of duals, beside central differences of the first.
template <class F> void check_second(const F& f, std::initializer_list<double> at) {
  using once = dual<double, 1>;
  using twice = dual<once, 1>;
  const auto slope = [&f](double x) { return f(once::variable(x, 0)).partial[0]; };
  for (const double x : at) {
    CAPTURE(x);
    const twice v = twice::variable(once::variable(x, 0), 0);
    const auto got = f(v);
    const double h = 1e-5, want = (slope(x + h) - slope(x - h)) / (2 * h);
    CHECK(got.partial[0].value == doctest::Approx(slope(x)));
    CHECK(got.partial[0].partial[0] == doctest::Approx(want).epsilon(1e-6));
  }
}

TEST_CASE("dual: duals of duals") {
  const auto both = {-1.3, -0.2, 0.7, 2.1};
  check_second([](auto x) { return dimesh::relu(x) * x; }, both);
  check_second([](auto x) { return dimesh::abs(x) * x; }, both);
  check_second([](auto x) { return dimesh::gelu(x); }, both);
  check_second([](auto x) { return dimesh::silu(x); }, both);
  check_second([](auto x) { return dimesh::softplus(x); }, both);
  check_second([](auto x) { return dimesh::elu(x) * x; }, both);
  check_second([](auto x) { return dimesh::selu(x) * dimesh::leaky_relu(x, 0.1); }, both);
  check_second([](auto x) { return dimesh::tanh(x) * dimesh::sigmoid(x); }, both);
  check_second([](auto x) { return dimesh::sin(x) + dimesh::cos(x * x); }, both);
  check_second([](auto x) { return dimesh::maximum(x, x * x) + dimesh::minimum(x, -x * x); }, both);
  check_second([](auto x) { return dimesh::select(x > 0, x * x * x, x); }, both);
  check_second([](auto x) { return dimesh::square(x) / (x * x + 1); }, both);
  const auto positive = {0.3, 1.7};
  check_second([](auto x) { return dimesh::pow(x, 2.5) + dimesh::pow(x, 3); }, positive);
  check_second([](auto x) { return dimesh::pow(x, x); }, positive);
  check_second([](auto x) { return dimesh::log(x) * dimesh::sqrt(x) + dimesh::rsqrt(x); },
               positive);
  check_second([](auto x) { return dimesh::exp(dimesh::log1p(x)) * x; }, positive);
}

TEST_CASE("dual: conventions at kinks, ties and ends") {
  const auto x = pair::variable(0, 0), y = pair::variable(0, 1);
  CHECK(dimesh::relu(x).partial[0] == 0);
  CHECK(dimesh::abs(x).partial[0] == 0);
  CHECK(dimesh::elu(x).partial[0] == 1);
  CHECK(dimesh::selu(x).partial[0] == 1.0507009873554804934);
  CHECK(dimesh::leaky_relu(x, 0.2).partial[0] == 0.2);
  CHECK(dimesh::sign(x).partial[0] == 0);
  CHECK(dimesh::maximum(x, y).partial[0] == 1);
  CHECK(dimesh::maximum(x, y).partial[1] == 0);
  CHECK(dimesh::minimum(y, x).partial[0] == 0);
  CHECK(dimesh::minimum(y, x).partial[1] == 1);
  CHECK(dimesh::pow(x, 0).partial[0] == 0);
  CHECK(dimesh::pow(x, 1).partial[0] == 1);
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(dimesh::relu(pair::variable(inf, 0)).partial[0] == 1);
  CHECK(dimesh::relu(pair::variable(-inf, 0)).partial[0] == 0);
  CHECK(dimesh::sigmoid(pair::variable(-inf, 0)).partial[0] == 0);
  CHECK(dimesh::gelu(pair::variable(-inf, 0)).partial[0] == 0);
  CHECK(dimesh::gelu(pair::variable(inf, 0)).partial[0] == 1);
  CHECK(dimesh::gelu(dual<float, 1>::variable(1e20f, 0)).partial[0] == 1);
  CHECK(dimesh::gelu(dual<pair, 1>::variable(pair::variable(1e200, 0), 0)).partial[0].value == 1);
  CHECK(dimesh::silu(pair::variable(-inf, 0)).partial[0] == 0);
  CHECK(dimesh::silu(pair::variable(inf, 0)).partial[0] == 1);
  CHECK(dimesh::tanh(pair::variable(inf, 0)).partial[0] == 0);
  CHECK(std::isnan(dimesh::relu(pair::variable(std::nan(""), 0)).value));
}

TEST_CASE("dual: what a value does not depend on stays zero, whatever it meets") {
  const double inf = std::numeric_limits<double>::infinity();
  const auto x = pair::variable(inf, 0), y = pair::variable(2, 1);
  CHECK((x * inf).partial[1] == 0);
  CHECK((y * inf).partial[0] == 0);
  CHECK(dimesh::exp(x).partial[1] == 0);
  CHECK((x + y).active == 3u);
  CHECK((y * 3).active == 2u);
  CHECK(dimesh::floor(y).active == 0u);
}

TEST_CASE("dual: limits are those of values") {
  using limits = std::numeric_limits<dual<pair, 1>>;
  CHECK(limits::is_specialized);
  CHECK((pair::variable(1e300, 0) < limits::infinity()));
  CHECK((pair::variable(1, 0) > limits::epsilon()));
}

TEST_CASE("dual: comparisons look at values") {
  const auto x = pair::variable(1, 0), y = pair::variable(2, 1);
  CHECK((x < y));
  CHECK((x <= 1.0));
  CHECK((3.0 > y));
  CHECK((y >= x));
  CHECK((x == 1));
  CHECK((x != y));
  CHECK_FALSE((x > y));
}

TEST_CASE("dual: functions by their names in std") {
  const auto x = pair::variable(0.75, 0), y = pair::variable(-2, 1);
  CHECK(std::exp(x).partial[0] == doctest::Approx(std::exp(0.75)));
  CHECK(std::log(x).partial[0] == doctest::Approx(1 / 0.75));
  CHECK(std::tanh(x).value == doctest::Approx(std::tanh(0.75)));
  CHECK(std::abs(y).partial[1] == -1);
  CHECK(std::fabs(y).value == 2);
  CHECK(std::pow(x, 3).partial[0] == doctest::Approx(3 * 0.75 * 0.75));
  CHECK(std::max(y, 0.0).partial[1] == 0);
  CHECK(std::max(0.0, x).partial[0] == 1);
  CHECK(std::min(y, 0).partial[1] == 1);
  CHECK(std::clamp(x, -1.0, 0.5).value == 0.5);
  CHECK(std::clamp(x, -1.0, 0.5).partial[0] == 0);
  CHECK(std::max(x, y).partial[0] == 1);
  CHECK_FALSE(std::isnan(x));
}
