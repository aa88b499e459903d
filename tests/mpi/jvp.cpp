// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tangents: beside central differences, and <w, J v> = <J^T w, v>, for a network and for one
// operation of each kind, under several layouts; what they cost, on shapes and as MPI sees it.
//
// ranks: 1 2 4
#include "dimesh/grad/jvp.hpp"

#include <doctest/doctest.h>

#include <census.hpp>
#include <cmath>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>
#include <dimesh/op/concat.hpp>
#include <dimesh/op/slice.hpp>

namespace dm = dimesh;

namespace {

struct batch : dm::dim<8> {};
struct pixel : dm::dim<8> {};
struct hidden : dm::dim<> {};
struct label : dm::dim<4> {};
struct one : dm::axis<> {};
struct two : dm::axis<> {};
struct pod : dm::mesh<one, two> {};
using whole = dm::layout<pod>;
using data = dm::layout<pod, dm::split<batch, one>>;
using model = dm::layout<pod, dm::split<hidden, one>, dm::split<label, two>>;
using outer = dm::layout<pod, dm::split<pixel, two>, dm::split<label, two>>;
using hybrid = dm::layout<pod, dm::split<batch, one>, dm::split<hidden, two>>;

template <class L> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (dm::tensor<double, L, pixel, hidden>, w1),
                           (dm::tensor<double, L, hidden>, b1),
                           (dm::tensor<double, L, hidden, label>, w2));
};
struct forward {
  template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
    const auto h = dm::tanh(dm::complete(dm::einsum<batch, hidden>(x, p.w1)) + p.b1);
    return dm::softmax<label>(dm::complete(dm::einsum<batch, label>(h, p.w2)));
  }
};
struct moving {
  template <class... A> constexpr auto operator()(const A&... a) const {
    return dm::jvp(forward{}, a...);
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
double dot(const auto& x, const auto& y) { return dm::value(dm::complete(dm::einsum<>(x, y))); }
template <class X> double largest(const X& x) {
  return dm::value(dm::complete(dm::max(dm::abs(x))));
}

template <class F> void on_grids(const F& f) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int n = 1; n <= ranks; n *= 2) f(dm::grid<pod>(one{n}, two{ranks / n}));
}

template <class L> std::vector<double> check(const dm::grid<pod>& g) {
  using input = dm::tensor<double, L, batch, pixel>;
  const auto x = waves<input>(g, 0.9), dx = waves<input>(g, 0.4);
  const network<L> p = filled<L>(g, 0.3), dp = filled<L>(g, 1.1);
  const auto foreseen =
      dm::count(moving{}, dm::shapes_of(p), dm::shapes_of(x), dm::shapes_of(p), dm::shapes_of(x));
  census::reset();
  const auto [y, dy] = dm::jvp(forward{}, p, x, dp, dx);
  const auto seen = census::snapshot();
  for (unsigned mask = 1; mask < 4; ++mask) {
    CAPTURE(mask);
    CHECK(foreseen.counts.over[mask].bytes == seen.bytes_on(mask));
    CHECK(foreseen.counts.over[mask].calls == seen.calls_on(mask));
  }

  const auto at = [&](double by) { return forward{}(moved(p, dp, by), x + dx * by); };
  const double h = 1e-4;
  CHECK(largest(y - forward{}(p, x)) == 0);
  CHECK(largest(dy) > 1e-2);
  CHECK(largest(dy - (at(h) - at(-h)) * (0.5 / h)) < 1e-8);

  auto run = dm::vjp(forward{}, p, x);
  using bar = dm::detail::bar_of_type<std::remove_cvref_t<decltype(y)>>;
  const bar w = waves<bar>(g, 0.8);
  const double there = dm::value(dm::complete(dm::einsum<>(dm::complete(w), dy)));
  const auto [pbar, xbar] = run.pullback(w);
  const auto g1 = dm::complete(pbar);
  const double back =
      dot(g1.w1, dp.w1) + dot(g1.b1, dp.b1) + dot(g1.w2, dp.w2) + dot(dm::complete(xbar), dx);
  CHECK(std::abs(there) > 1e-3);
  CHECK(back == doctest::Approx(there).epsilon(1e-12));
  return dm::to_rank(dy);
}

TEST_CASE("the tangent of a network") {
  on_grids([](const dm::grid<pod>& g) {
    const auto wanted = check<whole>(g);
    const auto same = [&](const std::vector<double>& found) {
      for (std::size_t i = 0; i < wanted.size(); ++i)
        CHECK(found[i] == doctest::Approx(wanted[i]).epsilon(1e-12));
    };
    same(check<data>(g));
    same(check<model>(g));
    same(check<outer>(g));
    same(check<hybrid>(g));
  });
}

/// f at x, beside central differences.
template <class X, class F> void check_one(const dm::grid<pod>& g, const F& f) {
  const auto x = waves<X>(g, 0.6), dx = waves<X>(g, 0.7);
  const auto [y, dy] = dm::jvp(f, x, dx);
  const double h = 1e-4;
  const auto difference = (f(x + dx * h) - f(x - dx * h)) * (0.5 / h);
  CHECK(dm::value(dm::complete(dm::max(dm::abs(dm::complete(dy) - dm::complete(difference))))) <
        1e-8);
}

TEST_CASE("tangents through reductions, movements, and what is elementwise") {
  on_grids([](const dm::grid<pod>& g) {
    using split = dm::tensor<double, data, batch, hidden>;
    using both = dm::tensor<double, hybrid, batch, hidden>;
    check_one<both>(g, [](const auto& x) { return dm::sum<batch>(x * x); });
    check_one<both>(g, [](const auto& x) { return dm::complete(dm::sum(x * x * x)); });
    check_one<split>(g, [](const auto& x) { return dm::all_gather<one>(x * x) * 2.0; });
    check_one<split>(g, [](const auto& x) { return dm::relayout<whole>(dm::tanh(x)); });
    check_one<dm::tensor<double, whole, hidden>>(
        g, [](const auto& x) { return dm::own<hidden, one>(x * x); });
    check_one<both>(g, [](const auto& x) { return dm::log_sum_exp<hidden>(x); });
    check_one<both>(
        g, [](const auto& x) { return dm::reduce_scatter<hidden, one>(dm::sum<batch>(x * x)); });
  });
}

TEST_CASE("tangents of what is renamed, and then joined or cut by its names") {
  struct other : dm::dim<> {};
  on_grids([](const dm::grid<pod>& g) {
    using split = dm::tensor<double, data, batch, hidden>;
    check_one<split>(g, [](const auto& x) { return dm::concat<hidden>(x, x * x); });
    check_one<split>(g, [](const auto& x) {
      return dm::slice<other>(dm::rename<hidden, other>(x * x), 1, 3) * 2.0;
    });
  });
}

TEST_CASE("a constant's tangent is 0, a passed argument's is the argument's") {
  on_grids([](const dm::grid<pod>& g) {
    using row = dm::tensor<double, hybrid, hidden>;
    const auto x = waves<row>(g, 0.6), dx = waves<row>(g, 0.7);
    CHECK(largest(dm::jvp([](const auto& v) { return v; }, x, dx).tangent - dx) == 0);
    const auto twice = dm::jvp([](const auto& v, const auto& w) { return v + w; }, x, x, dx, dx);
    CHECK(largest(twice.tangent - 2.0 * dx) == 0);
    const auto still = dm::jvp([](const auto& v) { return v * 0.0 + dm::stop_gradient(v); }, x, dx);
    CHECK(largest(still.value - x) == 0);
    CHECK(largest(still.tangent) == 0);
  });
}

TEST_CASE("a tangent of other extents than its argument is refused") {
  on_grids([](const dm::grid<pod>& g) {
    using row = dm::tensor<double, whole, hidden>;
    const auto ones = [&g](dm::index_t n) {
      return dm::generate<row>(g, [](auto) { return 1.0; }, hidden{n});
    };
    const auto x = ones(8);
    for (const dm::index_t n : {1000, 5}) {
      const auto dx = ones(n);
      const auto refused = [&](const auto& f) {
        CHECK_THROWS_WITH_AS((void)dm::jvp(f, x, dx),
                             ("jvp: a tangent has " + std::to_string(n) +
                              " elements along dim 'hidden', its argument has 8")
                                 .c_str(),
                             dm::error);
      };
      refused([](const auto& v) { return v; });
      refused([](const auto& v) { return v * 2.0; });
    }
  });
}

TEST_CASE("an operation whose transpose has no transpose says so") {
  on_grids([](const dm::grid<pod>& g) {
    using split = dm::tensor<double, data, batch, hidden>;
    const auto x = waves<split>(g, 0.6), dx = waves<split>(g, 0.7);
    const auto norm = [](const auto& v) { return dm::rms_norm<hidden>(v); };
    CHECK_THROWS_WITH_AS(dm::jvp(norm, x, dx),
                         doctest::Contains("gradients of gradients do not pass through"),
                         dm::error);
  });
}

}  // namespace
