// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of one's own: those that the library finds, written out, give its numbers under every
// layout and send what is foreseen; others are what they say.
//
// ranks: 1 2 4
#include "dimesh/grad/with_transpose.hpp"

#include <doctest/doctest.h>

#include <census.hpp>
#include <cmath>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>
#include <dimesh/op/operation.hpp>

namespace dm = dimesh;

namespace {

struct batch : dm::dim<8> {};
struct pixel : dm::dim<8> {};
struct hidden : dm::dim<4> {};
struct one : dm::axis<> {};
struct two : dm::axis<> {};
struct pod : dm::mesh<one, two> {};
using whole = dm::layout<pod>;
using data = dm::layout<pod, dm::split<batch, one>>;
using inner = dm::layout<pod, dm::split<pixel, one>>;
using hybrid = dm::layout<pod, dm::split<batch, one>, dm::split<hidden, two>>;

template <class X> X waves(const dm::grid<pod>& g, double f) {
  const auto value = [f](auto... i) {
    double at = 1;
    ((at = 7 * at + static_cast<double>(i)), ...);
    return std::sin(f * at);
  };
  return dm::generate<X>(g, value);
}
template <class F> void on_grids(const F& f) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int n = 1; n <= ranks; n *= 2) f(dm::grid<pod>(one{n}, two{ranks / n}));
}
template <class A, class B> double farthest(const A& a, const B& b) {
  return dm::value(dm::complete(dm::max(dm::abs(dm::complete(a) - dm::complete(b)))));
}

struct product {
  template <class X, class W> constexpr auto operator()(const X& x, const W& w) const {
    return dm::complete(dm::einsum<batch, hidden>(x, w));
  }
};
/// The cotangents of that product: of what was summed, the sum.
struct product_back {
  template <class B, class Y, class X, class W>
  constexpr auto operator()(const B& ybar, const Y&, const X& x, const W& w) const {
    using sum = decltype(dm::einsum<batch, hidden>(x, w));
    if constexpr (dm::is_partial<dm::spec_of<sum>>)
      return both(dm::all_reduce<one>(ybar), x, w);
    else
      return both(ybar, x, w);
  }
  template <class B, class X, class W>
  static constexpr auto both(const B& zbar, const X& x, const W& w) {
    return std::tuple(dm::einsum<batch, pixel>(zbar, w), dm::einsum<pixel, hidden>(x, zbar));
  }
};
template <bool Own> struct loss {
  template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
    const auto& [w, v] = p;
    const auto y = dm::tanh(multiply(x * v, w));
    return dm::complete(dm::einsum<>(y, y));
  }
  template <class X, class W> static constexpr auto multiply(const X& x, const W& w) {
    if constexpr (Own)
      return dm::with_transpose(product{}, product_back{})(x, w);
    else
      return product{}(x, w);
  }
};
template <bool Own> struct step {
  template <class X, class W, class V>
  constexpr auto operator()(const X& x, const W& w, const V& v) const {
    const std::tuple p{w, v};
    return dm::complete(dm::value_and_grad(loss<Own>{}, p)(x));
  }
};

template <class L> void check(const dm::grid<pod>& g) {
  const auto x = waves<dm::tensor<double, L, batch, pixel>>(g, 0.9);
  const auto w = waves<dm::tensor<double, L, pixel, hidden>>(g, 0.3);
  const auto v = waves<dm::tensor<double, L, pixel>>(g, 0.5);
  const auto foreseen =
      dm::count(step<true>{}, dm::shapes_of(x), dm::shapes_of(w), dm::shapes_of(v));
  census::reset();
  const auto mine = step<true>{}(x, w, v);
  const auto seen = census::snapshot();
  for (unsigned mask = 1; mask < 4; ++mask) {
    CAPTURE(mask);
    CHECK(foreseen.counts.over[mask].bytes == seen.bytes_on(mask));
    CHECK(foreseen.counts.over[mask].calls == seen.calls_on(mask));
  }
  const auto theirs = step<false>{}(x, w, v);
  CHECK(farthest(mine.value, theirs.value) == 0);
  CHECK(farthest(std::get<0>(mine.gradient), std::get<0>(theirs.gradient)) < 1e-13);
  CHECK(farthest(std::get<1>(mine.gradient), std::get<1>(theirs.gradient)) < 1e-13);
  CHECK(farthest(std::get<1>(mine.gradient), v * 0.0) > 1e-2);
}

TEST_CASE("cotangents written out are those that the library finds") {
  on_grids([](const dm::grid<pod>& g) {
    check<whole>(g);
    check<data>(g);
    check<inner>(g);
    check<hybrid>(g);
  });
}

struct nearest {
  template <class T> T operator()(T x) const { return dm::floor(x * 4 + 0.5) / 4; }
};

TEST_CASE("a step that passes gradients on, and a clipped cotangent") {
  on_grids([](const dm::grid<pod>& g) {
    const auto rounded =
        dm::with_transpose([](const auto& x) { return dm::map(nearest{}, x); },
                           [](const auto& ybar, const auto&, const auto&) { return ybar; });
    const auto clipped = dm::with_transpose(
        [](const auto& x) { return x; },
        [](const auto& ybar, const auto&, const auto&) {
          return dm::minimum(dm::maximum(ybar, ybar * 0.0 - 1.0), ybar * 0.0 + 1.0);
        });
    const auto x = waves<dm::tensor<double, hybrid, batch, hidden>>(g, 0.9);
    CHECK(farthest(rounded(x), x) < 0.126);
    CHECK(farthest(rounded(x), x) > 0.01);
    const auto f = [&](const auto& v) { return dm::sum(rounded(v) * 3.0); };
    CHECK(farthest(dm::value_and_grad(f, x)().gradient, x * 0.0 + 3.0) == 0);
    const auto h = [&](const auto& v) { return dm::sum(clipped(v) * 3.0); };
    CHECK(farthest(dm::value_and_grad(h, x)().gradient, x * 0.0 + 1.0) == 0);
  });
}

TEST_CASE("a cotangent of other extents than its operand is refused") {
  struct length : dm::dim<> {};
  on_grids([](const dm::grid<pod>& g) {
    using row = dm::tensor<double, whole, length>;
    const auto x = dm::generate<row>(g, [](auto) { return 1.0; }, length{8});
    dm::index_t n = 1000;
    const auto f = [&](const auto& v) {
      return dm::sum(dm::with_transpose([](const auto& u) { return u; },
                                        [&](const auto& ybar, const auto&, const auto&) {
                                          std::remove_cvref_t<decltype(ybar)> xbar(g, length{n});
                                          dm::fill(xbar, 1.0);
                                          return xbar;
                                        })(v));
    };
    CHECK_THROWS_WITH_AS(
        (void)dm::value_and_grad(f, x)(),
        "with_transpose: a cotangent that the transpose gives has 1000 elements along dim "
        "'length', its operand has 8",
        dm::error);
    n = 8;
    CHECK(farthest(dm::value_and_grad(f, x)().gradient, x) == 0);
  });
}

TEST_CASE("what is not recorded has no cotangent") {
  on_grids([](const dm::grid<pod>& g) {
    const auto x = waves<dm::tensor<double, hybrid, batch, hidden>>(g, 0.9);
    const auto m = waves<dm::tensor<double, hybrid, batch, hidden>>(g, 0.4);
    const auto masked = dm::with_transpose([](const auto& v, const auto& by) { return v * by; },
                                           [](const auto& ybar, const auto&, const auto&,
                                              const auto& by) { return std::tuple(ybar * by, 0); });
    const auto f = [&](const auto& v) { return dm::sum(masked(v, m)); };
    CHECK(farthest(dm::value_and_grad(f, x)().gradient, m) == 0);
  });
}

}  // namespace
