// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Batch and group norms in every layout: the same numbers as of whole arrays, moments included,
// with their transposes and costs; running moments, and layers that keep them. Means of what
// counts.
// ranks: 1 2 4
// checks: 604 972 1340
// labels: local device
#include "dimesh/op/batch_norm.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "dimesh/grad/complete.hpp"
#include "dimesh/grad/recompute.hpp"
#include "dimesh/nn/batch_norm.hpp"
#include "dimesh/nn/initialize.hpp"
#include "dimesh/op/masked_mean.hpp"
#include "support/adjoint.hpp"
#include "support/host.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
constexpr double epsilon = 0.25;
constexpr layout_choice sample{.uneven = true, .orders = false, .stride = 3};

struct normed {
  array y, mean, variance;
};
/// By the definition.
normed norm(const array& a, const names& kept, const array* gain, const array* bias,
            double eps = epsilon) {
  double n = 1;
  for (std::size_t d = 0; d < a.dims.size(); ++d)
    if (std::find(kept.begin(), kept.end(), a.dims[d]) == kept.end())
      n *= static_cast<double>(a.size[d]);
  const auto scaled = [n](const std::vector<double>& v) { return v[0] / n; };
  const array mean = map(scaled, {sum(kept, a)});
  const array c = map([](const std::vector<double>& v) { return v[0] - v[1]; }, {a, mean});
  const array squares = map([](const std::vector<double>& v) { return v[0] * v[0]; }, {c});
  const array var = map(scaled, {sum(kept, squares)});
  array u =
      map([=](const std::vector<double>& v) { return v[0] / std::sqrt(v[1] + eps); }, {c, var});
  if (gain) u = map([](const std::vector<double>& v) { return v[0] * v[1]; }, {u, *gain});
  if (bias) u = map([](const std::vector<double>& v) { return v[0] + v[1]; }, {u, *bias});
  return {u, mean, var};
}

/// Norms of a tensor with dims p, q, r whose moments Kept... keep apart.
template <class T, class L, class... Kept, class Grid>
void check_norms(const Grid& g, const extents& n, bool adjoint, double tolerance) {
  const names kept{std::string(dm::detail::name_of<Kept>())...};
  const array a = reals({"p", "q", "r"}, n, 1), gain = reals({"q"}, {n[1]}, 2),
              bias = reals({"q"}, {n[1]}, 3);
  const auto x = scattered<dm::tensor<T, L, p, q, r>>(g, a);
  const auto v = scattered<dm::tensor<T, L, q>>(g, gain);
  const auto w = scattered<dm::tensor<T, L, q>>(g, bias);
  const normed right = norm(a, kept, &gain, &bias);
  const auto [y, mean, variance, count] = dm::batch_norm_all_reduce<Kept...>(epsilon, x, v, w);
  CHECK(agrees(y, right.y, tolerance));
  const auto zero = [](const array& b) {
    return map([](const std::vector<double>&) { return 0.0; }, {b});
  };
  CHECK(agrees(mean, n[0] > 0 ? right.mean : zero(right.mean), tolerance));
  CHECK(agrees(variance, n[0] > 0 ? right.variance : zero(right.variance), tolerance));
  CHECK(count * static_cast<double>(right.mean.count()) == static_cast<double>(a.count()));
  CHECK(agrees(dm::group_norm_all_reduce<Kept...>(epsilon, x), norm(a, kept, nullptr, nullptr).y,
               tolerance));
  if (!adjoint) return;
  check_operation(
      [](const auto&... t) { return dm::batch_norm_all_reduce<Kept...>(epsilon, t...).y; }, smooth,
      {a, gain, bias}, x, v, w);
  check_operation(
      [](const auto&... t) { return dm::group_norm_all_reduce<Kept...>(epsilon, t...); }, smooth,
      {a, gain}, x, v);
}

TEST_CASE("batch norm: moments of the dim in the middle, in layouts of a plane") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    for_all_layouts<plane, dm::detail::list<p, q, r>, sample>([&](auto t) {
      using L = typename decltype(t)::type;
      for (const extents& n : {extents{3, 4, 5}, extents{1, 3, 2}})
        check_norms<double, L, q>(g, n, n[0] > 1, 1e-12);
    });
  });
}

TEST_CASE(
    "moments of other dims, on a line: of the last, of two, in single precision; of nothing") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    for_all_layouts<line, dm::detail::list<p, q, r>, unevenly>([&](auto t) {
      using L = typename decltype(t)::type;
      check_norms<double, L, r>(g, {4, 3, 3}, true, 1e-12);  // the gain is of another dim
      check_norms<double, L, p, q>(g, {2, 4, 5}, true, 1e-12);
      check_norms<float, L, q>(g, {5, 3, 7}, false, 1e-5);
      check_norms<double, L, q>(g, {0, 3, 2}, false, 1e-12);
    });
  });
}

// The mean of squares less the square of the mean has no digits left here, nor have sums that
// ranks join without it.
TEST_CASE("single precision far from 0, with a small epsilon") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    for_all_layouts<line, dm::detail::list<p, q, r>, unevenly>([&](auto t) {
      const auto far = [](const extents& i) {
        return 1000 + static_cast<double>((7 * i[0] + 5 * i[1] + 3 * i[2]) % 13) / 64;
      };
      const array a = make({"p", "q", "r"}, {6, 3, 8}, far);
      const auto x = scattered<dm::tensor<float, typename decltype(t)::type, p, q, r>>(g, a);
      const normed right = norm(a, {"q"}, nullptr, nullptr, 1e-5);
      const auto made = dm::batch_norm_all_reduce<q>(1e-5, x);
      CHECK(agrees(made.variance, right.variance, 1e-6));
      CHECK(agrees(made.y, right.y, 2e-3));
    });
  });
}

// Here float holds whole numbers alone, and not the mean of them.
TEST_CASE("single precision near 1e7: variances and what is normalised, to its last digits") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    for_all_layouts<line, dm::detail::list<p, q, r>, unevenly>([&](auto t) {
      const auto far = [](const extents& i) {
        return 1e7 + static_cast<double>((7 * i[0] + 5 * i[1] + 3 * i[2]) % 13);
      };
      const array a = make({"p", "q", "r"}, {7, 3, 9}, far);
      const auto x = scattered<dm::tensor<float, typename decltype(t)::type, p, q, r>>(g, a);
      const normed right = norm(a, {"q"}, nullptr, nullptr, 1e-5);
      const auto made = dm::batch_norm_all_reduce<q>(1e-5, x);
      CHECK(agrees(made.variance, right.variance, 2e-5));
      CHECK(agrees(made.y, right.y, 2e-6));
      const normed of_rows = norm(a, {"p", "r"}, nullptr, nullptr, 1e-5);
      const auto rows = dm::batch_norm_all_reduce<p, r>(1e-5, x);
      CHECK(agrees(rows.variance, of_rows.variance, 2e-5));
      CHECK(agrees(rows.y, of_rows.y, 2e-6));
      const auto cubes = [](const auto& w) { return dm::complete(dm::sum(w * w * w)); };
      const auto loss = [&](const auto& u) {
        return cubes(dm::batch_norm_all_reduce<q>(1e-5, u).y);
      };
      // With v of the normalised ones: (3 v^2 - 3 - 3 v mean of v^3) / deviation.
      const auto cube = [](const auto& e) { return e[0] * e[0] * e[0] / 63; };
      const auto slope = [](const auto& e) {
        return (3 * e[0] * e[0] - 3 - 3 * e[0] * e[1]) / std::sqrt(e[2]);
      };
      CHECK(agrees(dm::complete(dm::value_and_grad(loss, x)().gradient),
                   map(slope, {right.y, sum({"q"}, map(cube, {right.y})), right.variance}), 2e-5));
    });
  });
}

TEST_CASE("sums of a moment that single precision does not hold, though its mean is there") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    using X = dm::tensor<float, dm::layout<line, dm::split<dm::uneven<p>, x>>, p, q>;
    const array a = make({"p", "q"}, {9, 2}, [](const extents&) { return 0x1p127; });
    const auto made = dm::batch_norm_all_reduce<q>(scattered<X>(g, a));
    CHECK(agrees(made.mean, make({"q"}, {2}, [](const extents&) { return 0x1p127; }), 1e32));
  });
}

struct group : dm::dim<2> {};
struct within : dm::dim<3> {};

template <class X> bool same_bits(const X& a, const X& b) {
  return std::memcmp(test_support::on_host(a).data(), test_support::on_host(b).data(),
                     static_cast<std::size_t>(a.local_bytes())) == 0;
}

TEST_CASE("where nobody else has elements of a moment the local form gives the same bits") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    using X = dm::tensor<float, dm::layout<line, dm::split<dm::uneven<p>, x>>, p, q, r>;
    const array a = reals({"p", "q", "r"}, {5, 6, 3}, 4);
    const auto t = scattered<X>(g, a);
    CHECK(same_bits(dm::batch_norm<p>(t).y, dm::batch_norm_all_reduce<p>(t).y));
    CHECK(same_bits(dm::group_norm<p, q>(t), dm::group_norm_all_reduce<p, q>(t)));
    CHECK(costs_as_foreseen([](const auto& v) { return dm::group_norm<p>(epsilon, v); }, t));
    CHECK(costs_as_foreseen([](const auto& v) { return dm::batch_norm_all_reduce<q>(v).y; }, t));
  });
}

TEST_CASE("elements that only store: rounded once, with moments in float; integers in double") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    using L = dm::layout<line, dm::split<dm::uneven<p>, x>>;
    const array a = numbers({"p", "q"}, {5, 6}, 4);
    const normed right = norm(a, {"q"}, nullptr, nullptr, 1e-5);
    const auto b = scattered<dm::tensor<dm::bfloat16, L, p, q>>(g, a);
    const auto made = dm::batch_norm_all_reduce<q>(b);
    CHECK(agrees(made.y, right.y, 4e-3));
    static_assert(std::is_same_v<dm::value_of<decltype(made.mean)>, float>);
    CHECK(agrees(made.mean, right.mean, 1e-6));
    CHECK(agrees(dm::group_norm_all_reduce<q>(scattered<dm::tensor<int, L, p, q>>(g, a)), right.y,
                 1e-12));
  });
}

using values = std::vector<double>;
template <class X> values gathered(const X& x) {
  const auto all = dm::relayout<dm::layout<line>>(x);
  return values(test_support::on_host(all).data(),
                test_support::on_host(all).data() + all.local_size());
}
bool close(const values& a, const values& b) {
  double worst = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    worst = std::max(worst, std::abs(a[i] - b[i]));
  return worst <= 1e-12;
}

/// Training a layer for some steps, and then its use without a batch.
template <class L, class Grid> std::vector<values> trained(const Grid& g, const array& a) {
  namespace nn = dm::nn;
  using moments = nn::running_moments<L, double, q>;
  using parameters = nn::scale_and_shift<L, double, q>;
  const nn::model<L> m;
  auto seen = dm::make<moments>(g, q{6});
  auto params = dm::make<parameters>(g, q{6});
  nn::initialize(seen, dm::random_key{1});
  nn::initialize(params, dm::random_key{1});
  const auto t = scattered<dm::tensor<double, L, p, q>>(g, a);
  for (int i = 0; i < 3; ++i) {
    const auto loss = [&](const auto& w, const auto& v) {
      const auto made = nn::batch_norm<q>(m, w, v);
      nn::keep_moments(seen, made, 0.25);
      return dm::complete(dm::sum(made.y * made.y * made.y + made.y));
    };
    const auto [value, slope] = dm::complete(dm::value_and_grad(loss, params)(t));
    params.gain = params.gain - slope.gain * 0.01;
    params.bias = params.bias - slope.bias * 0.01;
  }
  return {gathered(nn::batch_norm_by(m, seen, params, t)), gathered(seen.mean),
          gathered(seen.variance), gathered(params.gain), gathered(params.bias)};
}
TEST_CASE("a layer learns the same under every layout") {
  const array a = reals({"p", "q"}, {5, 6}, 8);
  for_each_grid<line>([&](const dm::grid<line>& g) {
    const auto right = trained<dm::layout<line>>(g, a);
    const auto by_batch = trained<dm::layout<line, dm::split<dm::uneven<p>, x>>>(g, a);
    const auto by_channel = trained<dm::layout<line, dm::split<dm::uneven<q>, x>>>(g, a);
    for (std::size_t i = 0; i < right.size(); ++i) {
      CHECK(close(by_batch[i], right[i]));
      CHECK(close(by_channel[i], right[i]));
    }
    // Means have gone 1 - 0.75^3 of the way from 0, variances from 1 to those of a population.
    const normed batch = norm(a, {"q"}, nullptr, nullptr);
    const double way = 1 - 0.75 * 0.75 * 0.75;
    const auto kept = [&](double from, const array& to, double scale) {
      return map([=](const values& v) { return from + way * (v[0] * scale - from); }, {to}).values;
    };
    CHECK(close(right[1], kept(0, batch.mean, 1)));
    CHECK(close(right[2], kept(1, batch.variance, 5.0 / 4)));
  });
}

template <class W, class B> struct two_of {
  W gain;
  B bias;
};
// As without them, for the layer's gradients and what it keeps.
TEST_CASE("rows that fill up a batch have no part in its moments") {
  namespace nn = dm::nn;
  for_each_grid<line>([](const dm::grid<line>& g) {
    using L = dm::layout<line, dm::split<dm::uneven<p>, x>>;
    const array a = reals({"p", "q", "r"}, {5, 6, 2}, 8);
    const array more = make({"p", "q", "r"}, {7, 6, 2}, [&](const extents& i) {
      return i[0] < 5 ? a.values[static_cast<std::size_t>(12 * i[0] + 2 * i[1] + i[2])] : 9.0;
    });
    array spoilt = more;
    for (std::size_t i = 60; i < spoilt.values.size(); ++i)
      spoilt.values[i] = i % 2 == 0 ? std::nan("") : HUGE_VAL;
    const array rows = make({"p"}, {7}, [](const extents& i) { return i[0] < 5 ? 1.0 : 0.0; });
    const auto counts = scattered<dm::tensor<int, L, p>>(g, rows) != 0;
    auto params = dm::make<nn::scale_and_shift<L, double, q>>(g, q{6});
    nn::initialize(params, dm::random_key{1});
    const auto learned = [&](const auto& made_by, const array& values_of_all) {
      auto seen = dm::make<nn::running_moments<L, double, q>>(g, q{6});
      nn::initialize(seen, dm::random_key{1});
      const auto loss = [&](const auto& w, const auto& v) {
        const auto [made, y] = made_by(w, v);
        nn::keep_moments(seen, made, 0.25);
        return dm::complete(dm::sum(y * y * y + y));
      };
      const auto slope =
          dm::complete(dm::value_and_grad(loss, params)(
                           scattered<dm::tensor<double, L, p, q, r>>(g, values_of_all)))
              .gradient;
      values all;
      for (const values& v : {gathered(slope.gain), gathered(slope.bias), gathered(seen.mean),
                              gathered(seen.variance)})
        all.insert(all.end(), v.begin(), v.end());
      return all;
    };
    const nn::model<L> m;
    const values right = learned(
        [&](const auto& w, const auto& v) {
          const auto made = nn::batch_norm<q>(m, w, v);
          return std::pair(made, made.y);
        },
        a);
    const auto masked = [&](const auto& w, const auto& v) {
      const auto made = nn::batch_norm<q>(m, w, v, counts, 5);
      return std::pair(made, dm::select(counts, made.y, 0));
    };
    CHECK(right.size() == 24);
    CHECK(close(learned(masked, more), right));
    CHECK(close(learned(masked, spoilt), right));
    // A batch of which nothing counts keeps nothing.
    const auto none = [&](const auto& w, const auto& v) {
      const auto made = nn::batch_norm<q>(m, w, v, v != v, 0);
      return std::pair(made, made.y);
    };
    const values kept = learned(none, more);
    CHECK(std::all_of(kept.begin() + 12, kept.begin() + 18, [](double v) { return v == 0; }));
    CHECK(std::all_of(kept.begin() + 18, kept.end(), [](double v) { return v == 1; }));
    const auto stored = nn::batch_norm<q>(
        m, params, scattered<dm::tensor<dm::bfloat16, L, p, q, r>>(g, more), counts, 5);
    static_assert(std::is_same_v<dm::value_of<decltype(stored.y)>, dm::bfloat16>);
    static_assert(std::is_same_v<dm::value_of<decltype(stored.mean)>, float>);
    CHECK(agrees(stored.mean, norm(a, {"q"}, nullptr, nullptr).mean, 1e-2));
    CHECK(stored.count == 10);
    const auto of_small = [&](const auto& v, const auto& w, const auto& b) {
      return nn::batch_norm<q>(m, two_of{w, b}, v, v < 8.5, 60).y;
    };
    const auto all_of = [](double v) {
      return make({"q"}, {6}, [v](const extents&) { return v; });
    };
    check_operation(of_small, smooth, {more, all_of(1), all_of(0)},
                    scattered<dm::tensor<double, L, p, q, r>>(g, more), params.gain, params.bias);
  });
}

TEST_CASE("moments move once for each batch, where a block is computed again, too") {
  namespace nn = dm::nn;
  for_each_grid<line>([](const dm::grid<line>& g) {
    using L = dm::layout<line, dm::split<dm::uneven<p>, x>>;
    const auto seen_by = [&](const auto& wrapped) {
      auto seen = dm::make<nn::running_moments<L, double, q>>(g, q{6});
      nn::initialize(seen, dm::random_key{1});
      const auto params = dm::make<nn::scale_and_shift<L, double, q>>(g, q{6});
      const auto t = scattered<dm::tensor<double, L, p, q>>(g, reals({"p", "q"}, {5, 6}, 8));
      const auto block = [&seen](const auto& w, const auto& v) {
        const auto made = nn::batch_norm<q>(nn::model<L>{}, w, v);
        nn::keep_moments(seen, made, 0.25);
        return made.y;
      };
      const auto loss = [&](const auto& w, const auto& v) {
        return dm::complete(dm::sum(wrapped(block)(w, v)));
      };
      (void)dm::value_and_grad(loss, params)(t);
      return gathered(seen.mean);
    };
    const values once = seen_by([](const auto& f) { return f; });
    CHECK(close(seen_by([](const auto& f) { return dm::recompute(f); }), once));
    CHECK(close(seen_by([](const auto& f) {
                  return dm::recompute(
                      [f](const auto& w, const auto& v) { return dm::recompute(f)(w, v); });
                }),
                once));
  });
}

TEST_CASE("a layer of groups of channels") {
  namespace nn = dm::nn;
  for_each_grid<line>([](const dm::grid<line>& g) {
    const array a = reals({"p", "q", "r"}, {4, 6, 3}, 4), gain = reals({"q"}, {6}, 2),
                bias = reals({"q"}, {6}, 3);
    const auto check = [&](auto layout) {
      using L = decltype(layout);
      const auto t = scattered<dm::tensor<double, L, p, q, r>>(g, a);
      const nn::scale_and_shift<L, double, q> params{scattered<dm::tensor<double, L, q>>(g, gain),
                                                     scattered<dm::tensor<double, L, q>>(g, bias)};
      const auto y = nn::group_norm<q, group, within, p>(nn::model<L>{}, params, t);
      array grouped = a, groups_gain = gain, groups_bias = bias;
      grouped.dims = {"p", "group", "within", "r"}, grouped.size = {4, 2, 3, 3};
      for (array* one : {&groups_gain, &groups_bias})
        one->dims = {"group", "within"}, one->size = {2, 3};
      array right = norm(grouped, {"p", "group"}, &groups_gain, &groups_bias, 1e-5).y;
      right.dims = a.dims, right.size = a.size;
      CHECK(agrees(y, right, 1e-12));
    };
    check(dm::layout<line>{});
    check(dm::layout<line, dm::split<dm::uneven<p>, x>>{});
    check(dm::layout<line, dm::split<dm::uneven<r>, x>>{});
  });
}

/// Of the elements above `low`, by the definition.
array mean_above(double low, const array& a, const names& kept) {
  const auto part = [low](bool counts) {
    return [=](const std::vector<double>& v) { return v[0] > low ? (counts ? 1.0 : v[0]) : 0.0; };
  };
  return map([](const std::vector<double>& v) { return v[1] > 0 ? v[0] / v[1] : 0; },
             {sum(kept, map(part(false), {a})), sum(kept, map(part(true), {a}))});
}
TEST_CASE("means of what counts, over any dims, in layouts of a plane") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    for_all_layouts<plane, dm::detail::list<p, q>, unevenly>([&](auto t) {
      using L = typename decltype(t)::type;
      const array a = reals({"p", "q"}, {5, 4}, 8);
      const auto v = scattered<dm::tensor<double, L, p, q>>(g, a);
      const auto of_all = [](const auto& u) { return dm::masked_mean(u, u > 0.1); };
      const auto of_rows = [](const auto& u) { return dm::masked_mean<q>(u, u > 0.5); };
      const auto of_columns = [](const auto& u) { return dm::masked_mean<p>(u, u > 0.1); };
      CHECK(agrees(dm::complete(of_all(v)), mean_above(0.1, a, {}), 1e-12));
      CHECK(agrees(dm::complete(of_rows(v)), mean_above(0.5, a, {"p"}), 1e-12));
      CHECK(agrees(dm::complete(of_columns(v)), mean_above(0.1, a, {"q"}), 1e-12));
      CHECK(agrees(dm::complete(dm::masked_mean(v, v > 2)), mean_above(2, a, {}), 1e-12));
      check_operation(of_all, smooth, {a}, v);
      check_operation(of_rows, smooth, {a}, v);
      check_operation(of_columns, smooth, {a}, v);
    });
  });
}
TEST_CASE("a mask of fewer dims; what does not count may be no number; integers") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    using L = dm::layout<line, dm::split<dm::uneven<p>, x>>;
    const array a = make({"p", "q"}, {5, 3}, [](const extents& i) {
      return i[0] < 3 ? static_cast<double>(3 * i[0] + i[1]) : std::nan("");
    });
    const array rows = make({"p"}, {5}, [](const extents& i) { return i[0] < 3 ? 1.0 : 0.0; });
    const auto counts = scattered<dm::tensor<int, L, p>>(g, rows) != 0;
    const auto v = scattered<dm::tensor<float, L, p, q>>(g, a);
    const array four = make({}, {}, [](const extents&) { return 4.0; });
    CHECK(agrees(dm::complete(dm::masked_mean(v, counts)), four, 0));
    const auto loss = [&](const auto& u) { return dm::masked_mean(u, counts); };
    const auto slope = dm::complete(dm::value_and_grad(loss, v)()).gradient;
    CHECK(agrees(slope,
                 map([](const std::vector<double>& c) { return c[0] / 9; },
                     {rows, make({"q"}, {3}, [](const extents&) { return 1.0; })}),
                 1e-7));
    const auto whole = scattered<dm::tensor<int, L, p, q>>(
        g, make({"p", "q"}, {5, 3}, [](const extents& i) { return double(i[0] * 3 + i[1]); }));
    const auto mean = dm::complete(dm::masked_mean(whole, counts));
    static_assert(std::is_same_v<dm::value_of<decltype(mean)>, double>);
    CHECK(agrees(mean, four, 0));
    const array none = make({}, {}, [](const extents&) { return 0.0; });
    const auto empty = scattered<dm::tensor<float, L, p, q>>(g, numbers({"p", "q"}, {5, 0}, 1));
    CHECK(agrees(dm::complete(dm::masked_mean(empty, counts)), none, 0));
  });
}

}  // namespace
