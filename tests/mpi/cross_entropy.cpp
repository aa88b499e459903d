// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// checks: 136 262 388
// labels: local
// The loss of logits in every layout, the classes split or not: values, gradients, and no more than
// two numbers a row through MPI; smoothing, z-loss, rows without a target.
#include "dimesh/op/cross_entropy.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "dimesh/grad/complete.hpp"
#include "dimesh/grad/value_and_grad.hpp"
#include "dimesh/op/to_rank.hpp"
#include "dimesh/op/value.hpp"
#include "support/adjoint.hpp"
#include "support/places.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;

/// Logits a[q, p] with classes p: by the definition.
array losses(const array& a, const std::function<index_t(index_t)>& target,
             const dm::cross_entropy_options& o) {
  const index_t rows = a.size[0], n = a.size[1];
  return make({"q"}, {rows}, [&](const extents& at) {
    const double* x = a.values.data() + at[0] * n;
    const index_t t = target(at[0]);
    if (t < 0 || t >= n) return 0.0;
    double exps = 0, all = 0;
    for (index_t j = 0; j < n; ++j) exps += std::exp(x[j]), all += x[j];
    const double lse = std::log(exps);
    return lse + o.z_loss * lse * lse - (1 - o.label_smoothing) * x[t] -
           o.label_smoothing / static_cast<double>(n) * all;
  });
}

#ifdef DIMESH_CHECKED
[[maybe_unused]] const bool as_in_plain_builds = (dm::detail::checks_places = false);
#endif
index_t target_of(index_t i) { return (i * 5 + 2) % 9 - 1; }  // -1 .. 7: some are no class

template <class L> struct loss {
  index_t rows;
  dm::cross_entropy_options options;
  template <class X> auto operator()(const X& logits) const {
    return dm::softmax_cross_entropy<p>(
        logits,
        places_beside<L, q>(logits, [](index_t i) { return target_of(i); }, q{rows}), options);
  }
};

template <class L, class T, class Grid>
void check_loss(const Grid& g, const extents& n, const dm::cross_entropy_options& o, bool adjoint) {
  const array a = reals({"q", "p"}, n, 3);
  const auto logits = scattered<dm::tensor<T, L, q, p>>(g, a);
  const loss<L> f{n[0], o};
  const double tolerance = sizeof(T) == 4 ? 2e-6 : 1e-13;
  CHECK(agrees(f(logits), losses(a, target_of, o), tolerance));
  if (adjoint) check_operation(f, smooth, {a}, logits);
}

constexpr dm::cross_entropy_options plain{}, fancy{.label_smoothing = 0.1, .z_loss = 0.01};

TEST_CASE("in the layouts of a plane") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    for_each_layout<plane, dm::detail::list<q, p>, layout_choice{.uneven = true, .orders = false}>(
        [&](auto t) {
          using L = typename decltype(t)::type;
          check_loss<L, double>(g, {5, 6}, plain, true);
          check_loss<L, double>(g, {4, 7}, fancy, true);
          check_loss<L, double>(g, {0, 3}, fancy, false);
          check_loss<L, double>(g, {3, 1}, plain, false);
        });
  });
}

TEST_CASE("in single precision, with long rows and large logits") {
  const dm::grid<line> g;
  using L = dm::layout<line, dm::split<dm::uneven<p>, x>>;
  check_loss<L, float>(g, {3, 1031}, fancy, false);
  const array a{{"q", "p"}, {1, 3}, {1e4, 0, -1e4}};
  const auto logits = scattered<dm::tensor<float, L, q, p>>(g, a);
  CHECK(agrees(loss<L>{1, plain}(logits), array{{"q"}, {1}, {1e4}}));  // target 1, lse 1e4
}

TEST_CASE("classes stored first") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    using L = dm::layout<line, dm::split<dm::uneven<p>, x>>;
    const array a = reals({"p", "q"}, {6, 5}, 3);
    const auto logits = scattered<dm::tensor<double, L, p, q>>(g, a);
    CHECK(agrees(loss<L>{5, fancy}(logits), losses(transpose({"q", "p"}, a), target_of, fancy),
                 1e-13));
    check_operation(loss<L>{5, fancy}, smooth, {a}, logits);
  });
}

TEST_CASE("logits that are whole numbers") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    const auto check = [&]<class T, class L>(dm::detail::tag<T>, dm::detail::tag<L>) {
      const array a = make({"q", "p"}, {5, 6}, [](const extents& i) {
        return static_cast<double>((31 * i[0] + 17 * i[1]) % 100 - 50);
      });
      const auto y = loss<L>{5, fancy}(scattered<dm::tensor<T, L, q, p>>(g, a));
      static_assert(std::is_same_v<dm::value_of<decltype(y)>, double>);
      CHECK(agrees(y, losses(a, target_of, fancy), 1e-13));
    };
    using rows = dm::layout<line, dm::split<dm::uneven<q>, x>>;
    using classes = dm::layout<line, dm::split<dm::uneven<p>, x>>;
    check(dm::detail::tag<int>{}, dm::detail::tag<rows>{});
    check(dm::detail::tag<std::int16_t>{}, dm::detail::tag<classes>{});
  });
}

/// Rows without a target, of which nothing is a number.
template <class L, class T> void check_ignored(const dm::grid<line>& g) {
  const array a{{"q", "p"}, {5, 3}, {1, 2, 3, -1, 0, 1, -1, 0, 1, -1, 0, 1, 3, 2, 1}};
  constexpr T none = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const auto broken = dm::generate<dm::tensor<T, L, q, p>>(
      g,
      [&](index_t i, index_t j) {
        return i == 1   ? -none
               : i == 2 ? nan
               : i == 3 ? none
                        : static_cast<T>(a.values[static_cast<std::size_t>(3 * i + j)]);
      },
      q{5}, p{3});
  const auto f = [](const auto& x) {
    const auto target = places_beside<L, q>(
        x, [](index_t i) { return i % 4 == 0 ? index_t{1} : index_t{-1}; }, q{5});
    return dm::sum(dm::softmax_cross_entropy<p>(x, target, fancy));
  };
  const auto found = dm::complete(dm::value_and_grad(f, broken)());
  const auto wanted =
      dm::complete(dm::value_and_grad(f, scattered<dm::tensor<T, L, q, p>>(g, a))());
  CHECK(dm::value(found.value) == dm::value(wanted.value));
  CHECK(dm::to_rank(found.gradient) == dm::to_rank(wanted.gradient));
}

TEST_CASE("rows without a target have no slope, whatever they hold") {
  const dm::grid<line> g;
  check_ignored<dm::layout<line, dm::split<dm::uneven<p>, x>>, double>(g);
  check_ignored<dm::layout<line, dm::split<dm::uneven<q>, x>>, float>(g);
}

}  // namespace
