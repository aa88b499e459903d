// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4 6
// checks: 1096 1931 1931 2766 3601
// Elementwise operations in every layout: the values, broadcasting by name, which of them keep
// addends, their transposes; and that none of them says a word to MPI.
#include "dimesh/op/functions.hpp"
#include "dimesh/op/outer.hpp"
#include "dimesh/op/piecewise.hpp"

#include <doctest/doctest.h>

#include "support/adjoint.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;

const std::vector<extents> sizes = {{5, 4}, {0, 3}, {1, 9}};

double first_plus_second(const std::vector<double>& v) { return v[0] + v[1]; }
double product(const std::vector<double>& v) { return v[0] * v[1]; }
array apart(const array& a, double by) {
  return test_support::map([by](const std::vector<double>& v) { return v[0] + by; }, {a});
}

/// A tensor of the same layout rules with other dims.
template <class X, class... D>
using sibling = dm::tensor<double, typename dm::spec_of<X>::layout, D...>;

TEST_CASE("operands without partial sums") {
  for_each_case<plane, unevenly, p, q>(sizes, [](const auto& x, const array& a) {
    using X = std::remove_cvref_t<decltype(x)>;
    const array b = numbers({"q"}, {a.size[1]}, 9),
                c = numbers({"q", "p"}, {a.size[1], a.size[0]}, 10);
    const auto y = scattered<sibling<X, q>>(x.grid(), b);
    const auto z = scattered<sibling<X, q, p>>(x.grid(), c);  // stored the other way round
    CHECK(agrees(x + y, map(first_plus_second, {a, b})));
    CHECK(agrees(y * x, map(product, {a, b})));
    CHECK(agrees(x * z, map(product, {a, c})));
    CHECK(agrees(z - x, map([](const std::vector<double>& v) { return v[0] - v[1]; }, {c, a})));
    CHECK(agrees(2 - x, map([](const std::vector<double>& v) { return 2 - v[0]; }, {a})));
    CHECK(agrees(
        dm::select(x > z, x, y),
        map([](const std::vector<double>& v) { return v[0] > v[1] ? v[0] : v[2]; }, {a, c, b})));
    const auto chain = [](const auto& u, const auto& v, const auto& w) {
      return dm::map([](auto i, auto j, auto k) { return (i + j) * k; }, u, v, w);
    };
    CHECK(
        agrees(chain(x, y, z),
               map([](const std::vector<double>& v) { return (v[0] + v[1]) * v[2]; }, {a, b, c})));
    check_operation(chain, {}, {a, b, c}, x, y, z);
  });
}

TEST_CASE("transposes of sums and products") {
  for_each_case<plane, unevenly, p, q>({{5, 4}, {1, 9}}, [](const auto& x, const array& a) {
    using X = std::remove_cvref_t<decltype(x)>;
    const array b = numbers({"q"}, {a.size[1]}, 9);
    const auto y = scattered<sibling<X, q>>(x.grid(), b);
    check_operation([](const auto& u, const auto& v) { return v - u; }, {}, {a, b}, x, y);
    check_operation([](const auto& u, const auto& v) { return u * v; }, {}, {a, b}, x, y);
  });
}

TEST_CASE("addends stay addends through what is linear") {
  for_each_case<plane, layout_choice{.partial = true, .uneven = true, .stride = 2, .first = 1}, p,
                q>(sizes, [](const auto& x, const array& a) {
    const array c = apart(a, 1);
    const auto z = scattered<std::remove_cvref_t<decltype(x)>>(x.grid(), c);
    const auto linear = [](const auto& u, const auto& v) { return -(u + v) * 3 - u / 2; };
    CHECK(agrees(
        linear(x, z),
        map([](const std::vector<double>& v) { return -(v[0] + v[1]) * 3 - v[0] / 2; }, {a, c})));
    check_operation(linear, {}, {a, c}, x, z);
  });
}

TEST_CASE("addends times what every rank knows") {
  for_each_case<plane, layout_choice{.partial = true, .uneven = true, .split = false}, p, q>(
      sizes, [](const auto& x, const array& a) {
        const array b = numbers({"q"}, {a.size[1]}, 4);
        const auto y = scattered<dm::tensor<double, dm::layout<plane>, q>>(x.grid(), b);
        CHECK(agrees(x * y, map(product, {a, b})));
        check_operation([](const auto& u, const auto& v) { return v * u; }, {}, {a, b}, x, y);
      });
}

TEST_CASE("outer: all pairs, under every layout of the one") {
  for_each_case<plane, layout_choice{.partial = true, .uneven = true, .split = false}, p>(
      {{5}}, [](const auto& x, const array& a) {
        const array b = numbers({"q"}, {4}, 4);
        const auto y = scattered<dm::tensor<double, dm::layout<plane>, q>>(x.grid(), b);
        CHECK(agrees(dm::outer(x, y), map(product, {a, b})));
        check_operation([](const auto& u, const auto& v) { return dm::outer(u, v); }, {}, {a, b}, x,
                        y);
      });
}

TEST_CASE("functions of one tensor, where blocks are uneven") {
  for_each_case<line, unevenly, p, q>({{5, 4}}, [](const auto& x, const array& whole) {
    const array a = reals(whole.dims, whole.size, 6);
    const auto r = scattered<std::remove_cvref_t<decltype(x)>>(x.grid(), a);
    const auto smoothly = [&](const auto& f) { check_operation(f, smooth, {a}, r); };
    smoothly([](const auto& v) { return dm::exp(v); });
    smoothly([](const auto& v) { return dm::tanh(v) * dm::sigmoid(v); });
    smoothly([](const auto& v) { return dm::log(dm::square(v) + 1); });
    smoothly([](const auto& v) { return dm::gelu(v) + dm::silu(v) - dm::softplus(v); });
    smoothly([](const auto& v) { return dm::relu(v) / (dm::abs(v) + 2); });
    smoothly([](const auto& v) { return dm::sin(v) * dm::cos(v) + dm::sqrt(dm::square(v) + 1); });
    CHECK(agrees(dm::exp(r), map([](const std::vector<double>& v) { return std::exp(v[0]); }, {a}),
                 1e-14));
    CHECK(agrees(dm::tanh(r),
                 map([](const std::vector<double>& v) { return std::tanh(v[0]); }, {a}), 1e-14));
    CHECK(agrees(dm::gelu(r),
                 map(
                     [](const std::vector<double>& v) {
                       return 0.5 * v[0] *
                              (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) *
                                             (v[0] + 0.044715 * v[0] * v[0] * v[0])));
                     },
                     {a}),
                 1e-12));
    smoothly([](const auto& v) { return dm::elu(v) * dm::selu(v) + dm::leaky_relu(v, 0.1); });
    const auto left = [](const std::vector<double>& v) {
      return v[0] < 0 ? std::expm1(v[0]) : v[0];
    };
    CHECK(agrees(dm::elu(r), map(left, {a}), 1e-14));
    CHECK(agrees(dm::leaky_relu(r),
                 map([](const std::vector<double>& v) { return std::max(v[0], v[0] / 5); }, {a}),
                 1e-15));
  });
}

TEST_CASE("signs, quotients rounded down and what they leave, of floats and whole numbers") {
  const auto sign = [](const std::vector<double>& v) {
    return double(v[0] > 0) - double(v[0] < 0);
  };
  const auto quotient = [](const std::vector<double>& v) { return std::floor(v[0] / v[1]); };
  const auto rest = [=](const std::vector<double>& v) { return v[0] - v[1] * quotient(v); };
  for_each_case<line, unevenly, p, q>(sizes, [&](const auto& x, const array& a) {
    using X = std::remove_cvref_t<decltype(x)>;
    const array some = numbers({"q"}, {a.size[1]}, 9);
    const array b = test_support::map(
        [](const std::vector<double>& v) { return v[0] < 0 ? v[0] : v[0] + 1; }, {some});
    const array three = test_support::map([](const auto&) { return 3.0; }, {some});
    const auto check = [&]<class T>(dm::detail::tag<T>) {
      using L = typename dm::spec_of<X>::layout;
      const auto u = scattered<dm::tensor<T, L, p, q>>(x.grid(), a);
      const auto v = scattered<dm::tensor<T, L, q>>(x.grid(), b);  // none is 0
      CHECK(agrees(dm::sign(u), map(sign, {a})));
      CHECK(agrees(dm::floor_div(u, v), map(quotient, {a, b})));
      CHECK(agrees(dm::mod(u, v), map(rest, {a, b})));
      CHECK(agrees(dm::mod(u, 3), map(rest, {a, three})));
      CHECK(agrees(dm::floor_div(3, v), map(quotient, {three, b})));
      CHECK(agrees(dm::mod(3, v), map(rest, {three, b})));
      CHECK(agrees(dm::floor_div(u, 3), map(quotient, {a, three})));
    };
    check(dm::detail::tag<double>{});
    check(dm::detail::tag<int>{});
    const auto left = [](const auto& s, const auto& t) {  // away from where they jump
      return dm::mod(s * 0.01 + 2.5, dm::square(t) * 0.001 + 1) * dm::floor_div(s * 0.01 + 2.5, 1) +
             dm::sign(t) * s;
    };
    const auto y = scattered<sibling<X, q>>(x.grid(), b);
    check_operation(left, smooth, {a, b}, x, y);
  });
}

}  // namespace
