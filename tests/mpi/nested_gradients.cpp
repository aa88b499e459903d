// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of gradients: the gradient of the squared norm of a two-layer network's gradient equals
// central differences of that norm, parameters replicated or split. A pass inside another, inside a
// block that is computed again, and of gradients that are constant.
//
// ranks: 1 2 4
#include <doctest/doctest.h>

#include <cmath>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/recompute.hpp>
#include <dimesh/grad/vjp.hpp>
#include <dimesh/op/gather.hpp>

namespace dm = dimesh;

namespace {

struct batch : dm::dim<8> {};
struct pixel : dm::dim<5> {};
struct hidden : dm::dim<> {};
struct label : dm::dim<3> {};
struct one : dm::axis<> {};
struct two : dm::axis<> {};
struct pod : dm::mesh<one, two> {};
using whole = dm::layout<pod>;
using data = dm::layout<pod, dm::split<batch, one>>;
using model = dm::layout<pod, dm::split<hidden, one>>;
using hybrid = dm::layout<pod, dm::split<batch, one>, dm::split<hidden, two>>;
// The cotangent of the hidden units is summed where it is made, and that sum is recorded.
using outer = dm::layout<pod, dm::split<dm::uneven<label>, two>>;

template <class L> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (dm::tensor<double, L, pixel, hidden>, w1),
                           (dm::tensor<double, L, hidden>, b1),
                           (dm::tensor<double, L, hidden, label>, w2));
};
struct loss {
  template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
    const auto h = dm::tanh(dm::complete(dm::einsum<batch, hidden>(x, p.w1)) + p.b1);
    const auto y = dm::complete(dm::einsum<batch, label>(h, p.w2));
    return dm::complete(dm::einsum<>(y, y)) * 0.5;
  }
};
/// The squared norm of the loss's gradient: what the second pass differentiates.
struct squared_norm {
  template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
    const auto [value, g] = dm::complete(dm::value_and_grad(loss{}, p)(x));
    return dm::complete(dm::einsum<>(g.w1, g.w1)) + dm::complete(dm::einsum<>(g.b1, g.b1)) +
           dm::complete(dm::einsum<>(g.w2, g.w2)) * 2.0;
  }
};
/// The same, computed again on the way back.
struct norm_again {
  template <class... A> constexpr auto operator()(const A&... a) const {
    return dm::recompute(squared_norm{})(a...);
  }
};

template <class X> X waves(const dm::grid<pod>& g, double f) {
  const auto value = [f](auto... i) {
    double at = 1;
    ((at = 7 * at + static_cast<double>(i)), ...);
    return 0.5 * std::sin(f * at);
  };
  return dm::generate<X>(g, value, hidden{8});
}
template <class L> network<L> filled(const dm::grid<pod>& g, double f) {
  return {waves<dm::tensor<double, L, pixel, hidden>>(g, f),
          waves<dm::tensor<double, L, hidden>>(g, 2 * f),
          waves<dm::tensor<double, L, hidden, label>>(g, 3 * f)};
}
template <class L> network<L> moved(const network<L>& p, const network<L>& step, double by) {
  return {p.w1 + step.w1 * by, p.b1 + step.b1 * by, p.w2 + step.w2 * by};
}
template <class L> double dot(const network<L>& a, const network<L>& b) {
  const auto product = [](const auto& x, const auto& y) {
    return dm::value(dm::complete(dm::einsum<>(x, y)));
  };
  return product(a.w1, b.w1) + product(a.b1, b.b1) + product(a.w2, b.w2);
}

/// Two ranks along the second axis, if there are so many.
dm::grid<pod> both_axes() {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return dm::grid<pod>(two{ranks % 2 == 0 ? 2 : 1});
}

template <class L> double check(const dm::grid<pod>& g) {
  const auto x = waves<dm::tensor<double, L, batch, pixel>>(g, 0.9);
  const network<L> p = filled<L>(g, 0.3), step = filled<L>(g, 1.1);
  const auto [value, gradient] = dm::complete(dm::value_and_grad(squared_norm{}, p)(x));
  const auto at = [&](double by) { return dm::value(squared_norm{}(moved(p, step, by), x)); };
  const double h = 1e-4, slope = dot(gradient, step), rise = (at(h) - at(-h)) / (2 * h);
  CHECK(std::abs(slope) > 1e-2);
  CHECK(slope == doctest::Approx(rise).epsilon(1e-6));
  const auto again = dm::complete(dm::value_and_grad(norm_again{}, p)(x));
  // A recomputed block sums cotangents elsewhere (docs/decisions/0016): equal but for rounding.
  CHECK(dm::value(again.value) == doctest::Approx(dm::value(value)).epsilon(1e-13));
  CHECK(dot(again.gradient, step) == doctest::Approx(slope).epsilon(1e-11));
  return slope;
}

TEST_CASE("the gradient of a network's squared gradient norm") {
  const dm::grid<pod> g = both_axes();
  const double slope = check<whole>(g);
  CHECK(check<data>(g) == doctest::Approx(slope).epsilon(1e-12));
  CHECK(check<model>(g) == doctest::Approx(slope).epsilon(1e-12));
  CHECK(check<hybrid>(g) == doctest::Approx(slope).epsilon(1e-12));
  CHECK(check<outer>(g) == doctest::Approx(slope).epsilon(1e-12));
}

template <class L> using row = dm::tensor<double, L, hidden>;
constexpr auto total = [](const auto& w) { return dm::complete(dm::sum(w)); };
template <class F> struct norm_of_gradient {
  F f;
  template <class W> constexpr auto operator()(const W& w) const {
    const auto g = dm::complete(dm::value_and_grad(f, w)());
    return dm::complete(dm::einsum<>(g.gradient, g.gradient));
  }
};

/// The square of the derivative of w^3, by a pullback: 9 w^4.
struct by_pullback {
  template <class W> constexpr auto operator()(const W& w) const {
    const auto cube = [](const auto& v) { return v * v * v; };
    auto [value, back] = dm::vjp(cube, w);
    const auto slope = back(dm::stop_gradient(value) * 0.0 + 1.0);
    return dm::complete(dm::einsum<>(slope, slope));
  }
};

/// The value alone of a function inside of another one: what is recorded around it stays so.
struct by_value_alone {
  template <class W> constexpr auto operator()(const W& w) const {
    const auto cube = [](const auto& v) { return dm::complete(dm::sum(v * v * v)); };
    return dm::value_and_grad(cube, w).value() * 2.0;
  }
};

TEST_CASE("a value alone inside a recorded function") {
  const dm::grid<pod> g = both_axes();
  const auto w = dm::constant<row<data>>(g, 2, hidden{8});
  const auto slope = dm::complete(dm::value_and_grad(by_value_alone{}, w)().gradient);
  const auto wanted = dm::constant<row<data>>(g, 24, hidden{8});  // 6 w^2
  CHECK(dm::value(dm::complete(dm::sum(dm::abs(slope - wanted)))) == 0);
}

TEST_CASE("a pullback inside a recorded function") {
  const dm::grid<pod> g = both_axes();
  const auto w = waves<row<dm::layout<pod, dm::split<hidden, one, two>>>>(g, 0.7);
  const auto gradient = dm::value_and_grad(by_pullback{}, w)().gradient;
  const auto error = dm::abs(gradient - 36.0 * w * w * w);
  CHECK(dm::value(dm::complete(dm::max(error))) < 1e-14);
}

TEST_CASE("three passes inside each other are refused") {
  const dm::grid<pod> g = both_axes();
  const auto w = waves<row<hybrid>>(g, 0.7);
  const auto cubes = [](const auto& v) { return dm::complete(dm::sum(v * v * v)); };
  const norm_of_gradient<std::remove_const_t<decltype(cubes)>> twice{cubes};
  const norm_of_gradient<std::remove_const_t<decltype(twice)>> thrice{twice};
  CHECK_NOTHROW(dm::value_and_grad(twice, w)());
  CHECK_THROWS_WITH_AS(dm::value_and_grad(thrice, w)(), doctest::Contains("nested too deep"),
                       dm::error);
}

// Functions with cases, and those composed of shifted exponentials.
struct with_cases {
  template <class W> constexpr auto operator()(const W& w) const {
    const auto shares = dm::softmax<hidden>(w * 3.0);
    const auto bent = dm::relu(w + 0.1) * dm::gelu(w) + dm::abs(w) * dm::silu(w);
    return dm::complete(dm::sum(shares * bent)) + dm::complete(dm::log_sum_exp<hidden>(w * w));
  }
};

/// Picked by number: each rank the places that it has.
struct of_picked {
  dm::tensor<int, whole, label> places;
  template <class W> constexpr auto operator()(const W& w) const {
    const auto y = dm::complete(dm::gather<hidden, label>(w * w, places));
    return dm::complete(dm::sum(y * y));
  }
};

template <class L, class F> double check_second(const dm::grid<pod>& g, const F& of) {
  const norm_of_gradient<F> f{of};
  const auto w = waves<row<L>>(g, 0.7), step = waves<row<L>>(g, 0.3);
  const auto gradient = dm::complete(dm::value_and_grad(f, w)().gradient);
  const auto at = [&](double by) { return dm::value(f(w + step * by)); };
  const double h = 1e-4, slope = dm::value(dm::complete(dm::einsum<>(gradient, step)));
  CHECK(slope == doctest::Approx((at(h) - at(-h)) / (2 * h)).epsilon(1e-6));
  return slope;
}
TEST_CASE("gradients of gradients of functions with cases") {
  const dm::grid<pod> g = both_axes();
  const double slope = check_second<whole>(g, with_cases{});
  CHECK(std::abs(slope) > 1e-3);
  CHECK(check_second<model>(g, with_cases{}) == doctest::Approx(slope).epsilon(1e-12));
}
TEST_CASE("gradients of gradients of elements picked along a split dim") {
  const dm::grid<pod> g = both_axes();
  const auto place = [](dm::index_t i) { return static_cast<int>(5 * i % 7); };
  const of_picked f{dm::generate<dm::tensor<int, whole, label>>(g, place)};
  const double slope = check_second<whole>(g, f);
  CHECK(std::abs(slope) > 1e-3);
  CHECK(check_second<model>(g, f) == doctest::Approx(slope).epsilon(1e-12));
}

TEST_CASE("a gradient that is constant has the gradient 0") {
  const dm::grid<pod> g = both_axes();
  const auto w = waves<row<hybrid>>(g, 0.7);
  const auto [value, gradient] =
      dm::complete(dm::value_and_grad(norm_of_gradient<decltype(total)>{total}, w)());
  CHECK(dm::value(value) == 8);
  CHECK(dm::value(dm::complete(dm::einsum<>(gradient, gradient))) == 0);
}

}  // namespace
