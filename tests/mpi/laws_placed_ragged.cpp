// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations of all families on tensors that live at one place of an axis, and on blocks of any
// lengths: against whole arrays, with their transposes and costs, under every layout of a plane
// that has a place or a ragged dim, or both, beside what the other axis does. Layouts are values,
// so that each operation is compiled once.
// ranks: 1 2 4
// checks: 4680 6252 8182
// compiler: clang
#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "dimesh/dimesh.hpp"
#include "dimesh/grad/recur.hpp"
#include "dimesh/op/attention.hpp"
#include "dimesh/op/batch_norm.hpp"
#include "dimesh/op/concat_exchange.hpp"
#include "dimesh/op/contract.hpp"
#include "dimesh/op/convolution_exchange.hpp"
#include "dimesh/op/expand.hpp"
#include "dimesh/op/gather.hpp"
#include "dimesh/op/halo_exchange.hpp"
#include "dimesh/op/logic.hpp"
#include "dimesh/op/masked_mean.hpp"
#include "dimesh/op/merge_exchange.hpp"
#include "dimesh/op/norm.hpp"
#include "dimesh/op/pooling_exchange.hpp"
#include "dimesh/op/reductions.hpp"
#include "dimesh/op/scan.hpp"
#include "dimesh/op/shift.hpp"
#include "dimesh/op/shuffle_exchange.hpp"
#include "dimesh/op/slice_exchange.hpp"
#include "dimesh/op/softmax.hpp"
#include "dimesh/op/split_into_exchange.hpp"
#include "dimesh/op/stencil.hpp"
#include "dimesh/op/take.hpp"
#include "dimesh/op/top_k_all_gather.hpp"
#include "support/attention.hpp"
#include "support/odd_layouts.hpp"
#include "support/windows.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
namespace dd = dimesh::detail;
using namespace odd;

struct two : dm::dim<2> {};

template <class F> array each(const F& f, const array& a) {
  return map([&](const line_values& v) { return static_cast<double>(f(v[0])); }, {a});
}

const array a = numbers({"p", "q"}, {ps, qs}, 1), b = numbers({"p", "q"}, {ps, qs}, 2),
            c = numbers({"q", "p"}, {qs, ps}, 3), h = reals({"p", "q"}, {ps, qs}, 6);

double sum_of(const line_values& v) { return std::accumulate(v.begin(), v.end(), 0.0); }
double product_of(const line_values& v) {
  return std::accumulate(v.begin(), v.end(), 1.0, std::multiplies<>());
}
double variance_of(const line_values& v) {
  const auto n = static_cast<double>(v.size());
  double y = 0;
  for (const double e : v) y += (e - sum_of(v) / n) * (e - sum_of(v) / n);
  return y / n;
}
/// All of them less their mean, in units of their deviation.
line_values normal(const line_values& v, double epsilon) {
  line_values y;
  const double mean = sum_of(v) / static_cast<double>(v.size());
  for (const double e : v) y.push_back((e - mean) / std::sqrt(variance_of(v) + epsilon));
  return y;
}
line_values weights(const line_values& v) {
  line_values y;
  for (const double e : v) y.push_back(std::exp(e));
  const double all = sum_of(y);
  for (double& e : y) e /= all;
  return y;
}

TEST_CASE("maps and products") {
  for_each_odd_layout([](const maker& make, const dd::table& t) {
    const auto v = make.operator()<p, q>(a), w = make.operator()<p, q>(b);
    const auto linear = [](const auto& x, const auto& y) { return -(x + y) * 3 - x / 2; };
    CHECK(agrees(linear(v, w),
                 map([](const line_values& e) { return -(e[0] + e[1]) * 3 - e[0] / 2; }, {a, b})));
    transposes(linear, {}, {a, b}, v, w);
    if (t.any_partial()) return;
    const array row = numbers({"q"}, {qs}, 5), filter = numbers({"q", "r"}, {qs, 3}, 6);
    const auto y = make.operator()<q>(row);
    const auto z = make.operator()<q, p>(c);
    const auto u = make.operator()<q, r>(filter);
    const auto chain = [](const auto& i, const auto& j, const auto& k) {
      return dm::map([](auto d, auto e, auto f) { return (d + e) * f; }, i, j, k);
    };
    CHECK(agrees(chain(v, y, z),
                 map([](const line_values& e) { return (e[0] + e[1]) * e[2]; }, {a, row, c})));
    transposes(chain, {}, {a, row, c}, v, y, z);
    CHECK(agrees(
        dm::select(v > 0, dm::clamp(v, -2, 3), w),
        map([](const line_values& e) { return e[0] > 0 ? std::min(e[0], 3.0) : e[1]; }, {a, b})));
    const auto product = [](const auto& i, const auto& j) { return dm::einsum<r, p>(i, j); };
    CHECK(agrees(product(v, u), einsum({"r", "p"}, {a, filter})));
    transposes(product, {}, {a, filter}, v, u);
  });
}

TEST_CASE("reductions") {
  for_each_odd_layout([](const maker& make, const dd::table& t) {
    const auto v = make.operator()<p, q>(a), real = make.operator()<p, q>(h);
    const auto sums = [](const auto& x) { return dm::complete(dm::sum<q>(x)); };
    CHECK(agrees(dm::sum<p>(v), sum({"q"}, a)));
    CHECK(agrees(sums(v), sum({"p"}, a)));
    CHECK(agrees(dm::complete(dm::compensated_sum(v)), sum({}, a)));
    transposes(sums, {}, {a}, v);
    if (t.any_partial()) return;
    const auto greatest = [](const auto& x) { return dm::max_all_reduce<q>(x); };
    CHECK(agrees(greatest(v), max({"p"}, a)));
    CHECK(agrees(dm::complete(dm::min<p>(v)), min({"q"}, a)));
    CHECK(agrees(dm::complete(dm::any<q>(v > 2)),
                 each([](double e) { return e > 2; }, max({"p"}, a))));
    transposes(greatest, smooth, {h}, real);
    const auto variance = [](const auto& x) { return dm::var<p>(x); };
    CHECK(agrees(variance(real), folded(h, "p", variance_of), 1e-13));
    transposes(variance, smooth, {h}, real);
    CHECK(agrees(dm::l1_norm<q>(v), sum({"p"}, each([](double e) { return std::abs(e); }, a))));
    const auto over_ranks = [](const auto& x) { return dm::prod_all_reduce<q>(x); };
    CHECK(agrees(over_ranks(v), folded(a, "q", product_of)));
    transposes(over_ranks, smooth, {h}, real);
    if (t.split_count(1) > 0) return;
    const auto products = [](const auto& x) { return dm::prod<q>(x); };
    CHECK(agrees(products(v), folded(a, "q", product_of)));
    transposes(products, smooth, {h}, real);
  });
}

TEST_CASE("norms, softmax, means of what counts") {
  for_each_odd_layout([](const maker& make, const dd::table& t) {
    if (t.any_partial()) return;
    const auto v = make.operator()<p, q>(h);
    const auto soft = [](const auto& x) { return dm::softmax<q>(x); };
    CHECK(agrees(soft(v), along(h, "q", "q", weights), 1e-13));
    transposes(soft, smooth, {h}, v);
    const auto norm = [](const line_values& e) { return normal(e, 0.5); };
    const auto rows = [](const auto& x) { return dm::layer_norm<q>(0.5, x); };
    CHECK(agrees(rows(v), along(h, "q", "q", norm), 1e-12));
    transposes(rows, smooth, {h}, v);
    const auto batch = [](const auto& x) { return dm::batch_norm_all_reduce<q>(0.5, x).y; };
    CHECK(agrees(batch(v), along(h, "p", "p", norm), 1e-12));
    transposes(batch, smooth, {h}, v);
    const auto mean = [](const auto& x) { return dm::masked_mean<q>(x, dm::stop_gradient(x) > 0); };
    CHECK(agrees(mean(v),
                 folded(h, "q",
                        [](const line_values& e) {
                          double y = 0, n = 0;
                          for (const double one : e) y += one > 0 ? one : 0, n += one > 0;
                          return n > 0 ? y / n : 0;
                        }),
                 1e-13));
    transposes(mean, smooth, {h}, v);
  });
}

TEST_CASE("scans") {
  for_each_odd_layout([](const maker& make, const dd::table& t) {
    const auto v = make.operator()<p, q>(a), real = make.operator()<p, q>(h);
    const auto sums = [](const auto& x) { return dm::cumsum_exscan<p>(x, {.reverse = true}); };
    CHECK(agrees(sums(v), along(a, "p", "p", [](line_values e) {
                   for (std::size_t i = e.size() - 1; i-- > 0;) e[i] += e[i + 1];
                   return e;
                 })));
    transposes(sums, {}, {a}, v);
    if (t.any_partial()) return;
    const auto products = [](const auto& x) { return dm::cumprod_exscan<q>(x); };
    CHECK(agrees(products(v), along(a, "q", "q", [](line_values e) {
                   for (std::size_t i = 1; i < e.size(); ++i) e[i] *= e[i - 1];
                   return e;
                 })));
    transposes(products, smooth, {h}, real);
    const auto greatest = [](const auto& x) { return dm::cummax_exscan<q>(x); };
    CHECK(agrees(greatest(v), along(a, "q", "q", [](line_values e) {
                   for (std::size_t i = 1; i < e.size(); ++i) e[i] = std::max(e[i], e[i - 1]);
                   return e;
                 })));
    transposes(greatest, smooth, {h}, real);
    const auto states = [](const auto& x) { return dm::linear_recurrence_exscan<p>(x, x); };
    CHECK(agrees(states(v), along(a, "p", "p", [](line_values e) {
                   for (std::size_t i = 1; i < e.size(); ++i) e[i] += e[i] * e[i - 1];
                   return e;
                 })));
    transposes(states, smooth, {h}, real);
    if (t.split_count(1) == 0)
      CHECK(agrees(dm::cumsum<q>(v, {.exclusive = true}), along(a, "q", "q", [](line_values e) {
                     double all = 0;
                     for (double& one : e) all += one, one = all - one;
                     return e;
                   })));
  });
}

TEST_CASE("orders and elements by number") {
  for_each_odd_layout([](const maker& make, const dd::table& t) {
    if (t.any_partial()) return;
    const auto v = make.operator()<p, q>(h);
    const array sorted = along(h, "q", "q", [](line_values e) {
      std::sort(e.begin(), e.end());
      return e;
    });
    const auto orders = [](const auto& x) { return dm::sort_all_to_all<q>(x); };
    CHECK(agrees(orders(v), sorted));
    transposes<false>(orders, smooth, {h}, v);
    const auto third = [](const auto& x) { return dm::nth_largest_all_gather<q>(x, 2); };
    CHECK(agrees(third(v), folded(sorted, "q", [](const line_values& e) { return e[qs - 3]; })));
    transposes(third, smooth, {h}, v);
    CHECK(agrees(dm::top_k_all_gather<p, two>(v).values, along(h, "p", "two", [](line_values e) {
                   std::sort(e.begin(), e.end(), std::greater<>());
                   return line_values{e[0], e[1]};
                 })));
    if (t.split_count(1) > 0) return;
    CHECK(agrees(dm::sort<q>(v), sorted));
    CHECK(agrees(dm::argmax<q>(v), folded(h, "q", [](const line_values& e) {
                   return static_cast<double>(std::max_element(e.begin(), e.end()) - e.begin());
                 })));
    const auto order = [](const auto& x) {
      return dm::rename<q, r>(dm::argsort<q>(dm::stop_gradient(x)));
    };
    const auto by_number = [=](const auto& x) { return dm::gather<q, r>(x, order(x)); };
    CHECK(agrees(by_number(v), renamed(sorted, "q", "r")));
    transposes(by_number, smooth, {h}, v);
    const auto back = [=](const auto& x) {
      return dm::scatter_add<r, q>(by_number(x) * 2, order(x), q{qs});
    };
    CHECK(agrees(back(v), each([](double e) { return 2 * e; }, h)));
    transposes(back, smooth, {h}, v);
    CHECK(agrees(dm::bincount<r, q>(order(v), q{qs}), each([](double) { return 1; }, h)));
  });
}

/// Four elements in the order that key 3 gives them.
line_values in_order(const line_values& e) {
  const dm::random_permutation order(dm::random_key{3}, qs);
  line_values y;
  for (index_t i = 0; i < qs; ++i) y.push_back(e[static_cast<std::size_t>(order(i))]);
  return y;
}

TEST_CASE("parts, joins and other names") {
  for_each_odd_layout([](const maker& make, const dd::table& t) {
    const auto v = make.operator()<p, q>(a);
    const auto stacked = [](const auto& x) { return dm::stack<two>(x, x + x); };
    array both{{"two", "p", "q"}, {2, ps, qs}, a.values};
    for (const double e : a.values) both.values.push_back(2 * e);
    CHECK(agrees(stacked(v), both));
    transposes(stacked, {}, {a}, v);
    const auto turned = [](const auto& x) { return dm::permute<r, p>(dm::rename<q, r>(x)); };
    CHECK(agrees(turned(v), transpose({"r", "p"}, renamed(a, "q", "r"))));
    transposes(turned, {}, {a}, v);
    const auto copies = [](const auto& x) { return dm::expand<two>(x); };
    CHECK(agrees(dm::sum<two>(copies(v)), each([](double e) { return 2 * e; }, a)));
    transposes(copies, {}, {a}, v);
    if (t.split_count(1) > 0) return;
    const auto parts = [](const auto& x) {
      const auto [left, right] = dm::split_into<q>(dm::flip<q>(x), two{}, r{qs - 2});
      return dm::concat<q, r, two>(dm::pad<r>(right, 1, 0), left);
    };
    CHECK(agrees(parts(v), along(a, "q", "q", [](const line_values& e) {
                   return line_values{0, e[1], e[0], e[3], e[2]};
                 })));
    transposes(parts, {}, {a}, v);
    const auto mixed = [](const auto& x) { return dm::shuffle<q>(dm::random_key{3}, x); };
    CHECK(agrees(mixed(v), along(a, "q", "q", in_order)));
    transposes(mixed, {}, {a}, v);
  });
}

TEST_CASE("parts and joins that move elements") {
  for_each_odd_layout([](const maker& make, const dd::table& t) {
    const auto v = make.operator()<p, q>(a);
    const auto back = [](const auto& x) { return dm::slice_exchange<dm::uneven<q>>(x, 3, -1, -2); };
    CHECK(agrees(back(v),
                 along(a, "q", "q", [](const line_values& e) { return line_values{e[3], e[1]}; })));
    transposes(back, {}, {a}, v);
    const auto joined = [](const auto& x) {
      return dm::concat_exchange<dm::uneven<p>>(x, dm::flip_exchange<p>(x));
    };
    CHECK(agrees(joined(v), along(a, "p", "p", [](line_values e) {
                   for (int i = ps; i-- > 0;) e.push_back(e[static_cast<std::size_t>(i)]);
                   return e;
                 })));
    transposes(joined, {}, {a}, v);
    const auto mixed = [](const auto& x) { return dm::shuffle_exchange<q>(dm::random_key{3}, x); };
    CHECK(agrees(mixed(v), along(a, "q", "q", in_order)));
    transposes<false>(mixed, {}, {a}, v);  // what goes where hangs on the key
    const auto parts = [](const auto& x) {
      const auto [left, right] =
          dm::split_into_exchange<q, dm::uneven<two>, dm::uneven<r>>(x, two{}, r{qs - 2});
      return dm::concat_exchange<dm::uneven<q>, r, two>(right, left);
    };
    CHECK(agrees(parts(v), along(a, "q", "q", [](const line_values& e) {
                   return line_values{e[2], e[3], e[0], e[1]};
                 })));
    transposes(parts, {}, {a}, v);
    if ((t.axes_of(0) | t.axes_of(1)) != 1) return;
    const auto merged = [](const auto& u) {
      return dm::merge_exchange<dm::split<dm::uneven<r>, x>, p, q>(u);
    };
    CHECK(agrees(merged(v), array{{"r"}, {ps * qs}, a.values}));
    transposes(merged, {}, {a}, v);
    const auto cut = [=](const auto& u) {
      return dm::cut_exchange<r, two, dm::split<dm::uneven<s>, x>>(merged(u));
    };
    CHECK(agrees(cut(v), array{{"two", "s"}, {2, ps * qs / 2}, a.values}));
    transposes(cut, {}, {a}, v);
  });
}

TEST_CASE("windows") {
  for_each_odd_layout([](const maker& make, const dd::table& t) {
    const auto v = make.operator()<p, q>(a);
    const auto ahead = [](const auto& u) { return dm::shift<p>(u, -2, dm::boundary::zero); };
    CHECK(agrees(ahead(v), along(a, "p", "p", [](const line_values& e) {
                   return line_values{e[2], e[3], e[4], 0, 0};
                 })));
    transposes(ahead, {}, {a}, v);
    if (t.any_partial()) return;
    const array taps = numbers({"tall", "r"}, {3, 2}, 8);
    const auto w = make.operator()<tall, r>(taps);
    const std::vector<seen> by_two = {{"p", "tall", "rows", 2, 1, 1, 3}};
    const auto filtered = [](const auto& i, const auto& k) {
      return dm::convolution_exchange<q, rows, r>(
          i, k, dm::window<p, tall, rows>{.stride = 2, .around = dm::padding{1, 1}});
    };
    CHECK(agrees(filtered(v, w), convolved({"q", "rows", "r"}, a, taps, by_two)));
    transposes(filtered, {}, {a, taps}, v, w);
    const auto means = [](const auto& u) {
      return dm::mean_pool_exchange(u, dm::pool_window<p, rows>{.size = 2});
    };
    CHECK(agrees(means(v), along(a, "p", "rows", [](const line_values& e) {
                   return line_values{(e[0] + e[1]) / 2, (e[2] + e[3]) / 2};
                 })));
    transposes(means, {}, {a}, v);
  });
}

TEST_CASE("halos and stencils, whose layouts are types") {
  using L = dm::layout<plane, dm::split<dm::ragged<p>, x>, dm::placed<y, 1>>;
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    if (g.size<y>() < 2) return;
    const auto v = scattered<dm::tensor<double, L, p, q>>(g, a, maker(g).of_p);
    const auto slopes = [](const auto& u) {
      return dm::stencil([](const auto& e) { return dm::at<p>(e, 1) - dm::at<p>(e, -2); },
                         dm::halo_exchange<2, p>(u, dm::boundary::periodic));
    };
    CHECK(agrees(slopes(v), along(a, "p", "p", [](const line_values& e) {
                   line_values y;
                   for (std::size_t i = 0; i < ps; ++i)
                     y.push_back(e[(i + 1) % ps] - e[(i + ps - 2) % ps]);
                   return y;
                 })));
    transposes(slopes, {}, {a}, v);
  });
}

TEST_CASE("transposed windows, greatest of windows") {
  for_each_odd_layout([](const maker& make, const dd::table& t) {
    const auto v = make.operator()<p, q>(a), real = make.operator()<p, q>(h);
    if (t.any_partial()) return;
    const array taps = numbers({"tall", "r"}, {2, 2}, 8);
    const auto w = make.operator()<tall, r>(taps);
    const auto spread = [](const auto& i, const auto& k) {
      return dm::transposed_convolution_exchange<q, rows, r>(
          i, k, dm::window<p, tall, rows>{.stride = 2});
    };
    CHECK(agrees(spread(v, w),
                 test_support::make({"q", "rows", "r"}, {qs, 2 * ps, 2}, [&](const extents& at) {
                   return value_at(a, a.dims, {at[1] / 2, at[0]}) *
                          value_at(taps, taps.dims, {at[1] % 2, at[2]});
                 })));
    transposes(spread, {}, {a, taps}, v, w);
    const auto greatest = [](const auto& u) {
      return dm::max_pool_exchange(u, dm::pool_window<p, rows>{.size = 3, .stride = 1});
    };
    CHECK(agrees(greatest(real), along(h, "p", "rows", [](const line_values& e) {
                   line_values y;
                   for (std::size_t i = 0; i + 2 < ps; ++i)
                     y.push_back(std::max({e[i], e[i + 1], e[i + 2]}));
                   return y;
                 })));
    transposes(greatest, smooth, {h}, real);
  });
}

struct leaky {
  template <class W, class C, class X>
  constexpr auto operator()(const W& w, const C& carry, const X& x) const {
    const auto next = dm::tanh(carry * w + x);
    return std::tuple{next, next};
  }
};

TEST_CASE("steps along a dim, rows of tables, groups") {
  for_each_odd_layout([](const maker& make, const dd::table& t) {
    const auto v = make.operator()<p, q>(a), start = make.operator()<p, q>(h);
    const auto table_rows = [](const auto& u) {
      return dm::take<p>(
          u, places_beside<here, r>(u, [](index_t i) { return (3 * i + 1) % ps; }, r{4}));
    };
    if (!t.any_partial()) {
      CHECK(agrees(table_rows(v), test_support::make({"r", "q"}, {4, qs}, [](const extents& at) {
                     return value_at(a, a.dims, {(3 * at[0] + 1) % ps, at[1]});
                   })));
      transposes(table_rows, {}, {a}, v);
      const array inputs = reals({"p", "r", "q"}, {ps, 3, qs}, 7), by = reals({"q"}, {qs}, 8);
      const auto w = make.operator()<q>(by);
      const auto u = make.operator()<p, r, q>(inputs);
      const auto steps = [](const auto& i, const auto& j, const auto& k) {
        return std::get<0>(dm::recur<r>(leaky{}, i, j, k));
      };
      CHECK(agrees(steps(w, start, u),
                   test_support::make({"p", "q"}, {ps, qs},
                                      [&](const extents& at) {
                                        double y = value_at(h, h.dims, at);
                                        for (index_t k = 0; k < 3; ++k)
                                          y = std::tanh(
                                              y * value_at(by, by.dims, {at[1]}) +
                                              value_at(inputs, inputs.dims, {at[0], k, at[1]}));
                                        return y;
                                      }),
                   1e-13));
      transposes(steps, {1e-5, 1e-6}, {by, h, inputs}, w, start, u);
      const auto groups = [](const auto& i) { return dm::group_norm_all_reduce<p>(0.5, i); };
      CHECK(agrees(groups(start), along(h, "q", "q", [](const auto& e) { return normal(e, 0.5); }),
                   1e-12));
      transposes(groups, smooth, {h}, start);
    }
  });
}

TEST_CASE("contract: operands of which either is split, by gathers") {
  for_each_odd_layout([](const maker& make, const dd::table& t) {
    if (t.any_partial()) return;
    const array other = numbers({"q", "r"}, {qs, 3}, 6);
    const auto v = make.operator()<p, q>(a);
    const auto w = make.operator()<q, r>(other);
    const auto f = [](const auto& i, const auto& j) {
      return dm::contract<dm::by::gather, r, p>(i, j);
    };
    CHECK(agrees(f(v, w), einsum({"r", "p"}, {a, other})));
    transposes(f, {}, {a, other}, v, w);
  });
}

TEST_CASE("attention") {
  for_each_odd_layout([](const maker& make, const dd::table& t) {
    if (t.any_partial()) return;
    const array queries = reals({"p", "q", "head"}, {ps, qs, 2}, 1);
    const array keys = reals({"p", "key", "head"}, {ps, 3, 2}, 2);
    const array values = reals({"p", "key", "head"}, {ps, 3, 2}, 3);
    const auto v = make.operator()<p, q, head>(queries);
    const auto k = make.operator()<p, key, head>(keys), w = make.operator()<p, key, head>(values);
    const auto f = [](const auto&... i) { return dm::attention<q, key, head>(i...); };
    array like = renamed(queries, "q", "length");
    array expected = attended(like, keys, values, {});
    CHECK(agrees(f(v, k, w), renamed(expected, "length", "q"), 1e-13));
    transposes(f, smooth, {queries, keys, values}, v, k, w);
  });
}

/// Does axis A do this?
template <class A> bool does(const dd::table& t, dm::use what) {
  return t.axis[dm::axis_index<plane, A>].what == what;
}

TEST_CASE("moves along one axis, whatever the other does") {
  for_each_odd_layout([](const maker& make, const dd::table& t) {
    const auto v = make.operator()<p, q>(a);
    const auto holds = [&](const auto& f) {
      CHECK(agrees(f(v), a));
      transposes(f, {}, {a}, v);
    };
    holds([](const auto& u) { return dm::whole<q>(dm::complete(u)); });
    if (does<x>(t, dm::use::partial))
      holds([](const auto& u) { return dm::reduce_scatter<dm::uneven<p>, x>(u); });
    if (does<x>(t, dm::use::replicated))
      holds([](const auto& u) { return dm::own<dm::uneven<q>, x>(u); });
    if (does<x>(t, dm::use::split) && t.split_count(0) == 1 && t.split_count(1) == 0)
      holds([](const auto& u) { return dm::all_to_all<p, dm::uneven<q>, x>(u); });
    if (does<x>(t, dm::use::placed)) {
      holds([](const auto& u) { return dm::send<x, 0>(u); });
      holds([](const auto& u) { return dm::broadcast<x>(u); });
    }
    if (does<x>(t, dm::use::partial)) holds([](const auto& u) { return dm::reduce<x, 0>(u); });
    if (does<x>(t, dm::use::replicated)) holds([](const auto& u) { return dm::place<x, 0>(u); });
    using even = dm::layout<plane, dm::split<dm::uneven<q>, y, x>>;
    holds([](const auto& u) { return dm::relayout<even>(u); });
    using far = dm::layout<plane, dm::split<dm::uneven<p>, y>, dm::placed<x, 0>>;
    holds([](const auto& u) { return dm::relayout<far>(u); });
  });
}

}  // namespace
