// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// checks: 157 257 357
// labels: local device
// Layer and RMS norms in every layout: the fused kernel where the dim is whole and last, the
// composition elsewhere, and the transposes of both.
#include "dimesh/op/norm.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>

#include "dimesh/grad/value_and_grad.hpp"
#include "dimesh/op/reductions.hpp"
#include "dimesh/op/value.hpp"
#include "support/adjoint.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
constexpr double epsilon = 0.5;
constexpr layout_choice sample{.uneven = true, .orders = false, .stride = 2};

/// The norm of `a` over dim `over` of n elements, by the definition.
array norm(bool center, const array& a, const names& rest, double n, const array& gain,
           const array* bias, double epsilon = ::epsilon) {
  const auto scaled = [n](const std::vector<double>& v) { return v[0] / n; };
  const array mean = map(scaled, {sum(rest, a)});
  const array c =
      center ? map([](const std::vector<double>& v) { return v[0] - v[1]; }, {a, mean}) : a;
  const array squares = map([](const std::vector<double>& v) { return v[0] * v[0]; }, {c});
  const array var = map(scaled, {sum(rest, squares)});
  const array u =
      map([=](const std::vector<double>& v) { return v[0] / std::sqrt(v[1] + epsilon) * v[2]; },
          {c, var, gain});
  if (bias == nullptr) return u;
  return map([](const std::vector<double>& v) { return v[0] + v[1]; }, {u, *bias});
}

template <class D> std::string name_of();
template <> std::string name_of<p>() { return "p"; }
template <> std::string name_of<q>() { return "q"; }

/// Norms over D of a tensor with dims p, q.
template <class D, class L, class Grid>
void check_norms(const Grid& g, const extents& n, bool adjoint) {
  const std::string over = name_of<D>();
  const std::size_t d = over == "p" ? 0 : 1;
  const names rest{over == "p" ? "q" : "p"};
  const array a = reals({"p", "q"}, n, 1), gain = reals({over}, {n[d]}, 2),
              bias = reals({over}, {n[d]}, 3);
  const auto x = scattered<dm::tensor<double, L, p, q>>(g, a);
  const auto v = scattered<dm::tensor<double, L, D>>(g, gain);
  const auto w = scattered<dm::tensor<double, L, D>>(g, bias);
  const double count = static_cast<double>(n[d]);
  CHECK(
      agrees(dm::layer_norm<D>(epsilon, x, v, w), norm(true, a, rest, count, gain, &bias), 1e-12));
  CHECK(agrees(dm::rms_norm<D>(epsilon, x, v), norm(false, a, rest, count, gain, nullptr), 1e-12));
  if (!adjoint) return;
  check_operation([](const auto&... t) { return dm::layer_norm<D>(epsilon, t...); }, smooth,
                  {a, gain, bias}, x, v, w);
  check_operation([](const auto&... t) { return dm::rms_norm<D>(epsilon, t...); }, smooth,
                  {a, gain}, x, v);
}

TEST_CASE("norms over the last dim, in layouts of a plane") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    for_all_layouts<plane, dm::detail::list<p, q>, sample>([&](auto t) {
      using L = typename decltype(t)::type;
      for (const extents& n : {extents{5, 6}, extents{3, 1}}) check_norms<q, L>(g, n, n[1] > 1);
    });
  });
}

TEST_CASE("norms over the first dim, on a line; nothing to normalise") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    for_all_layouts<line, dm::detail::list<p, q>, unevenly>([&](auto t) {
      check_norms<p, typename decltype(t)::type>(g, {4, 3}, true);
      check_norms<q, typename decltype(t)::type>(g, {0, 3}, false);
    });
  });
}

TEST_CASE("a norm without gain, and one in single precision with long rows") {
  const dm::grid<line> g;
  const array a = reals({"p", "q"}, {3, 259}, 4), one = make({"q"}, {259}, [](auto&) { return 1; });
  const auto x = scattered<dm::tensor<float, dm::layout<line>, p, q>>(g, a);
  CHECK(agrees(dm::layer_norm<q>(epsilon, x), norm(true, a, {"p"}, 259, one, nullptr), 1e-5));
  CHECK(agrees(dm::rms_norm<q>(epsilon, x), norm(false, a, {"p"}, 259, one, nullptr), 1e-5));
}

TEST_CASE("norms of whole numbers, whose squares leave their type") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    for_all_layouts<line, dm::detail::list<p, q>, unevenly>([&](auto t) {
      using L = typename decltype(t)::type;
      const array a = make({"p", "q"}, {3, 4}, [](const extents& i) {
        return static_cast<double>((16 * i[0] + 200 * i[1]) % 251);
      });
      const array one = make({"q"}, {4}, [](auto&) { return 1; }), gain = reals({"q"}, {4}, 2);
      const auto with = [&]<class T>(dm::detail::tag<T>) {
        const auto v = scattered<dm::tensor<T, L, p, q>>(g, a);
        const auto w = scattered<dm::tensor<double, L, q>>(g, gain);
        CHECK(agrees(dm::rms_norm<q>(epsilon, v), norm(false, a, {"p"}, 4, one, nullptr), 1e-14));
        CHECK(
            agrees(dm::rms_norm<q>(epsilon, v, w), norm(false, a, {"p"}, 4, gain, nullptr), 1e-14));
        CHECK(agrees(dm::layer_norm<q>(epsilon, v), norm(true, a, {"p"}, 4, one, nullptr), 1e-12));
      };
      with(dm::detail::tag<std::uint8_t>{});
      with(dm::detail::tag<int>{});
    });
  });
}

// The sum of squares less the square of the sum has no digits left here.
TEST_CASE("a small epsilon, and single-precision rows that lie far from 0") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    for_all_layouts<line, dm::detail::list<p, q>, unevenly>([&](auto t) {
      const auto far = [](const extents& i) {
        return 1000 + static_cast<double>((7 * i[0] + 5 * i[1]) % 13) / 64;
      };
      const array a = make({"p", "q"}, {4, 64}, far),
                  one = make({"q"}, {64}, [](auto&) { return 1; });
      const auto x = scattered<dm::tensor<float, typename decltype(t)::type, p, q>>(g, a);
      CHECK(agrees(dm::layer_norm<q>(1e-5, x), norm(true, a, {"p"}, 64, one, nullptr, 1e-5), 2e-3));
      CHECK(agrees(dm::rms_norm<q>(1e-5, x), norm(false, a, {"p"}, 64, one, nullptr, 1e-5), 1e-6));
    });
  });
}

// bfloat16 holds these whole numbers, and nothing between them, where their means are.
TEST_CASE("bfloat16, whose means are taken in float, whatever splits the dim") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    using L = dm::layout<line, dm::split<dm::uneven<q>, x>>;
    const array a = make({"p", "q"}, {4, 13}, [](const extents& i) {
      return 200 + static_cast<double>((7 * i[0] + 5 * i[1]) % 4);
    });
    const array one = make({"q"}, {13}, [](auto&) { return 1; });
    const auto v = dm::cast<dm::bfloat16>(scattered<dm::tensor<float, L, p, q>>(g, a));
    const auto y = dm::cast<float>(dm::layer_norm<q>(1e-5, v));
    const auto z = dm::cast<float>(dm::rms_norm<q>(1e-5, v));
    CHECK(agrees(y, norm(true, a, {"p"}, 13, one, nullptr, 1e-5), 4e-3));
    CHECK(agrees(z, norm(false, a, {"p"}, 13, one, nullptr, 1e-5), 4e-3));
  });
}

// Float holds whole numbers alone there, and not the mean of them; results are of numbers near zero
// all the same.
TEST_CASE("single-precision rows near 1e7: means, variances and gradients to its last digits") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    using L = dm::layout<line, dm::split<dm::uneven<p>, x>>;
    const array a = make({"p", "q"}, {5, 50}, [](const extents& i) {
      return 1e7 + static_cast<double>((7 * i[0] + 5 * i[1]) % 13);
    });
    const auto y = dm::layer_norm<q>(1e-5, scattered<dm::tensor<float, L, p, q>>(g, a));
    const array one = make({"p"}, {5}, [](const extents&) { return 1.0; });
    CHECK(agrees(dm::var<q>(dm::cast<double>(y)), one, 1e-5));
    const array gain = make({"q"}, {50}, [](const extents&) { return 1.0; });
    CHECK(agrees(y, norm(true, a, {"p"}, 50, gain, nullptr, 1e-5), 1e-5));
  });
  // The same along a dim that is whole and stored first.
  for_each_grid<line>([](const dm::grid<line>& g) {
    using L = dm::layout<line, dm::split<dm::uneven<q>, x>>;
    const array a = make({"p", "q"}, {50, 5}, [](const extents& i) {
      return 1e7 + static_cast<double>((5 * i[0] + 7 * i[1]) % 13);
    });
    const auto u = scattered<dm::tensor<float, L, p, q>>(g, a);
    const array gain = make({"p"}, {50}, [](const extents&) { return 1.0; });
    CHECK(agrees(dm::layer_norm<p>(1e-5, u), norm(true, a, {"q"}, 50, gain, nullptr, 1e-5), 1e-5));
    const auto cubes = [](const auto& v) {
      const auto y = dm::layer_norm<p>(1e-5, v);
      return dm::sum(y * y * y);
    };
    const auto single = dm::value_and_grad(cubes, u)().gradient;
    const auto exact = dm::value_and_grad(cubes, dm::cast<double>(u))().gradient;
    const auto apart = dm::max(dm::abs(dm::cast<double>(single) - exact));
    CHECK(dm::value(dm::complete(apart)) < 1e-4);
  });

  static constexpr int n = 50;
  const auto bars = [](auto one) {
    using T = decltype(one);
    std::vector<T> ybar(n), x(n), gain(n), bar(3 * n);
    for (int i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(i);
      ybar[k] = static_cast<T>(1 + i % 3), gain[k] = static_cast<T>(1 + i % 4);
      x[k] = static_cast<T>(1e7) + static_cast<T>(5 * i % 13);
    }
    dm::local::normalize_transpose<true>(1, n, T(1e-5), ybar.data(), x.data(), gain.data(),
                                         bar.data(), bar.data() + n, bar.data() + 2 * n);
    return bar;
  };
  const auto single = bars(1.0f);
  const auto exact = bars(1.0);
  for (std::size_t i = 0; i < exact.size(); ++i)
    CHECK(static_cast<double>(single[i]) == doctest::Approx(exact[i]).epsilon(1e-5));
}

}  // namespace
