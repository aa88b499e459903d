// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products, variances, norms, compensated sums, extremes with gradients: against whole arrays
// under every layout that their rules allow; their transposes and costs; and that they have the
// same bits on every run.
// ranks: 1 2 4
// checks: 3456 6798 10140
// compiler: clang
// labels: sanitize_all device
#include "dimesh/op/reductions.hpp"
#include "dimesh/op/value.hpp"

#include <doctest/doctest.h>

#include <cstdint>

#include "dimesh/grad/value_and_grad.hpp"
#include "dimesh/interop/from_array.hpp"
#include "dimesh/op/complex.hpp"
#include "dimesh/op/gather.hpp"
#include "dimesh/op/piecewise.hpp"
#include "dimesh/op/scan.hpp"
#include "support/adjoint.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;

/// What f gives for the elements of each line of a, over dims that are not kept.
array over_lines(const names& kept, const array& a,
                 const std::function<double(const std::vector<double>&)>& f) {
  names order = kept;
  extents out, gone;
  for (const std::string& d : a.dims)
    if (std::find(kept.begin(), kept.end(), d) == kept.end()) order.push_back(d);
  for (std::size_t d = 0; d < order.size(); ++d)
    (d < kept.size() ? out : gone).push_back(a.size[static_cast<std::size_t>(a.place(order[d]))]);
  return make(kept, out, [&](const extents& at) {
    std::vector<double> line;
    for_each_index(gone, [&](const extents& under) {
      extents index = at;
      index.insert(index.end(), under.begin(), under.end());
      line.push_back(value_at(a, order, index));
    });
    return f(line);
  });
}
double product_of(const std::vector<double>& v) {
  double y = 1;
  for (const double one : v) y *= one;
  return y;
}
double variance_of(const std::vector<double>& v, double less) {
  long double mean = 0, y = 0;
  for (const double one : v) mean += one;
  mean /= static_cast<long double>(v.size());
  for (const double one : v) y += (one - mean) * (one - mean);
  return static_cast<double>(y / (static_cast<long double>(v.size()) - less));
}
double sum_of(const std::vector<double>& v, double (*f)(double)) {
  double y = 0;
  for (const double one : v) y += f(one);
  return y;
}

/// Reals of many magnitudes, whose sums in any other order are others.
array of_all_sizes(const array& like) {
  return map(
      [](const std::vector<double>& v) { return v[0] * std::pow(10, 6 * std::sin(1e3 * v[0])); },
      {reals(like.dims, like.size, 8)});
}
/// f once more, of an operand elsewhere in memory, with others before it: the same bits on this
/// rank; and on all ranks that hold the same.
template <class F, class X> void check_repeats(const F& f, const X& x, const array& a) {
  namespace ts = test_support::detail;
  const auto y = dm::complete(f(x));
  const auto h = ts::holding_of(y);
  CHECK(ts::same_bits(h, ts::gather(h), h.table.mask(dm::use::replicated)));
  const X other[] = {scattered<X>(x.grid(), a), scattered<X>(x.grid(), a)};
  const auto again = dm::complete(f(other[1]));
  CHECK(ts::holding_of(again).elements() == h.elements());
}

TEST_CASE("rounded results have the same bits on every run, and on all ranks that hold them") {
  for_all_cases<plane, unevenly, p, q>({{37, 19}}, [](auto v, const array& like) {
    const array a = of_all_sizes(like);
    const auto x = scattered<decltype(v)>(v.grid(), a);
    const auto repeats = [&](const auto& f) { check_repeats(f, x, a); };
    repeats([](const auto& u) { return dm::sum<p>(u); });
    repeats([](const auto& u) { return dm::mean<q>(u); });
    repeats([](const auto& u) { return dm::sum(u); });
    repeats([](const auto& u) { return dm::var<p>(u); });
    repeats([](const auto& u) { return dm::stddev(u); });
    repeats([](const auto& u) { return dm::l1_norm<q>(u); });
    repeats([](const auto& u) { return dm::l2_norm<p>(u); });
    repeats([](const auto& u) { return dm::compensated_sum<q>(u); });
    repeats([](const auto& u) { return dm::cumsum_exscan<p>(u); });
    repeats([](const auto& u) { return dm::prod_all_reduce<p>(u); });
    repeats([](const auto& u) {
      return dm::scatter_add<p, r>(u, dm::mod(dm::cast<std::int32_t>(u), 5), r{5});
    });
    where_whole<q>(x, [&](const auto& w) {
      check_repeats([](const auto& u) { return dm::prod<q>(u); }, w, a);
    });
  });
}

/// The adjoint on all ranks, and the cost on the one at the origin, whose blocks are the longest.
template <class F, class X>
void check_products(const F& f, const precision& how, const array& a, const X& x) {
  for (const unsigned once : {0u, ~0u}) {
    const operation_report r = run_adjoint(f, once, how.step, {a}, x);
    CHECK(std::abs(r.tangent - r.cotangent) <= how.tolerance * std::max(1.0, std::abs(r.tangent)));
    if (x.grid().rank() != 0) continue;
    CHECK(r.forward == "");
    CHECK(r.backward == "");
  }
}

TEST_CASE("products, whose gradients are right where elements are zero") {
  for_each_case<plane, unevenly, p, q>({{5, 4}, {1, 3}, {3, 0}}, [](auto v, const array& a) {
    using X = decltype(v);  // of -4 .. 4: some lines hold one zero, some two
    if constexpr (!dm::is_split<dm::spec_of<X>, q>) {
      const auto f = [](const auto& u) { return dm::prod<q>(u); };
      CHECK(agrees(f(v), over_lines({"p"}, a, product_of)));
      check_operation(f, precision{1e-3, 1e-5}, {a}, v);
      if constexpr (!dm::is_split<dm::spec_of<X>, p>) {
        const auto all = [](const auto& u) { return dm::prod(u); };
        CHECK(agrees(all(v), over_lines({}, a, product_of)));
        check_operation(all, precision{1e-4, 1e-3}, {a}, v);
      }
    }
  });
}

TEST_CASE("products over ranks, whose gradients are right where elements are zero") {
  for_all_cases<plane, unevenly, p, q>({{5, 4}, {1, 3}, {3, 0}}, [](auto v, const array& a) {
    const auto rows = [](const auto& u) { return dm::prod_all_reduce<q>(u); };
    const auto columns = [](const auto& u) { return dm::prod_all_reduce<p>(u); };
    const auto all = [](const auto& u) { return dm::prod_all_reduce(u); };
    CHECK(agrees(rows(v), over_lines({"p"}, a, product_of)));
    CHECK(agrees(columns(v), over_lines({"q"}, a, product_of)));
    CHECK(agrees(all(v), over_lines({}, a, product_of)));
    CHECK(agrees(dm::prod_all_reduce<q>(dm::cast<int>(v)), over_lines({"p"}, a, product_of)));
    CHECK(agrees(dm::prod_all_reduce<q>(dm::cast<dm::bfloat16>(v)),
                 over_lines({"p"}, a, product_of)));
    check_products(rows, precision{1e-3, 1e-5}, a, v);
    check_products(columns, precision{1e-3, 1e-5}, a, v);
    check_products(all, precision{1e-4, 1e-3}, a, v);
  });
}

TEST_CASE("products over ranks: what they move, and gradients of gradients") {
  using dm::split;
  using X = dm::tensor<double, dm::layout<line, split<dm::uneven<p>, x>>, p, q>;
  static_assert(std::is_same_v<decltype(dm::prod_all_reduce<p>(std::declval<X>())),
                               dm::tensor<double, dm::layout<line>, q>>);
  for_each_grid<line>([](const dm::grid<line>& g) {
    const array a = reals({"p", "q"}, {5, 3}, 3);
    const X v = scattered<X>(g, a);
    const index_t others = g.state().sizes()[0] > 1 ? 1 : 0;
    census::reset();
    (void)dm::prod_all_reduce(v);  // q first, which is whole: one number a row is left, then one
    CHECK(census::snapshot().calls() == others);
    CHECK(census::snapshot().bytes() == 8 * others);
    const auto slope = [&](const auto& u) {
      const auto loss = [](const auto& w) { return dm::sum(dm::prod_all_reduce<p>(w)); };
      const auto by = dm::complete(dm::value_and_grad(loss, u)().gradient);
      return dm::complete(dm::sum(by * by));
    };
    const operation_report r = run_adjoint(slope, 0, 1e-4, {a}, v);
    CHECK(std::abs(r.tangent - r.cotangent) <= 1e-5 * std::max(1.0, std::abs(r.tangent)));
  });
}

TEST_CASE("products of complex numbers: their gradients, and gradients of these") {
  for_all_cases<line, unevenly, p, q>({{5, 3}, {2, 4}}, [](auto v, const array& like) {
    const array f = reals(like.dims, like.size, 3), b = reals(like.dims, like.size, 4);
    const auto x = scattered<decltype(v)>(v.grid(), f), y = scattered<decltype(v)>(v.grid(), b);
    const auto product = [](const auto& u, const auto& w) {
      const auto z = dm::prod_all_reduce<p>(dm::as_complex(u, w));
      return dm::real(z) * 2 + dm::imag(z);
    };
    array want = fold({"q"}, f, 0, [](double, double) { return 0; });
    for (index_t j = 0; j < f.size[1]; ++j) {
      std::complex<double> z = 1;
      for (index_t k = 0; k < f.size[0]; ++k) {
        const auto at = static_cast<std::size_t>(k * f.size[1] + j);
        z *= std::complex<double>(f.values[at], b.values[at]);
      }
      want.values[static_cast<std::size_t>(j)] = 2 * z.real() + z.imag();
    }
    CHECK(agrees(product(x, y), want, 1e-13));
    check_operation(product, smooth, {f, b}, x, y);
    const auto slope = [](const auto& u, const auto& w) {
      const auto loss = [](const auto& z) { return dm::sum(dm::real(dm::prod_all_reduce<p>(z))); };
      const auto by = dm::complete(dm::value_and_grad(loss, dm::as_complex(u, w))().gradient);
      return dm::real(by * by) * 2 + dm::imag(by);
    };
    const operation_report r = run_adjoint(slope, 0, 1e-4, {f, b}, x, y);
    CHECK(std::abs(r.tangent - r.cotangent) <= 1e-6 * std::max(1.0, std::abs(r.tangent)));
  });
}

TEST_CASE("variances and deviations, whole or split") {
  for_each_case<plane, unevenly, p, q>({{5, 4}, {2, 7}}, [](auto v, const array& a) {
    const auto variance = [](double less) {
      return [=](const std::vector<double>& line) { return variance_of(line, less); };
    };
    CHECK(agrees(dm::var<q>(v), over_lines({"p"}, a, variance(0)), 1e-13));
    CHECK(agrees(dm::var<p>(v, 1), over_lines({"q"}, a, variance(1)), 1e-13));
    CHECK(agrees(dm::var<q, p>(v), over_lines({}, a, variance(0)), 1e-13));
    const array b = reals(a.dims, a.size, 4);
    const auto u = scattered<decltype(v)>(v.grid(), b);
    CHECK(agrees(
        dm::stddev<p>(u),
        over_lines({"q"}, b,
                   [](const std::vector<double>& line) { return std::sqrt(variance_of(line, 0)); }),
        1e-13));
    check_operation([](const auto& x) { return dm::var<q>(x, 1); }, smooth, {b}, u);
    check_operation([](const auto& x) { return dm::stddev<p>(x); }, smooth, {b}, u);
  });
}

// Here float holds whole numbers alone, and neither the mean of them nor their sum.
TEST_CASE("variances near 1e7, in float, whole or split: they and their gradients keep digits") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    for_each_layout<plane, dm::detail::list<p, q>, unevenly>([&](auto t) {
      const array a = make({"p", "q"}, {7, 9}, [](const extents& i) {
        return 1e7 + static_cast<double>((7 * i[0] + 5 * i[1]) % 13);
      });
      const auto v = scattered<dm::tensor<float, typename decltype(t)::type, p, q>>(g, a);
      const auto variance = [](double less) {
        return [=](const std::vector<double>& line) { return variance_of(line, less); };
      };
      const auto root = [](const auto& line) { return std::sqrt(variance_of(line, 0)); };
      CHECK(agrees(dm::var<p>(v, 1), over_lines({"q"}, a, variance(1)), 2e-5));
      CHECK(agrees(dm::var(v), over_lines({}, a, variance(0)), 2e-5));
      CHECK(agrees(dm::stddev<q>(v), over_lines({"p"}, a, root), 2e-5));
      const auto loss = [](const auto& u) { return dm::complete(dm::sum(dm::var<p>(u, 1))); };
      const array mean = over_lines(
          {"q"}, a, [](const auto& line) { return sum_of(line, [](double e) { return e / 7; }); });
      CHECK(agrees(dm::complete(dm::value_and_grad(loss, v)().gradient),
                   map([](const auto& e) { return (e[0] - e[1]) / 3; }, {a, mean}), 2e-5));
    });
  });
}

TEST_CASE("gradients of gradients of variances, whole or split") {
  for_each_case<plane, unevenly, p, q>({{5, 4}}, [](auto v, const array& sizes) {
    const array a = reals(sizes.dims, sizes.size, 4);
    const auto x = scattered<decltype(v)>(v.grid(), a);
    const auto h = [](const auto& u) { return dm::complete(dm::sum(dm::var<q>(u * u))); };
    const auto norm = [&](const auto& u) {
      const auto slope = dm::complete(dm::value_and_grad(h, u)().gradient);
      return dm::complete(dm::sum(slope * slope));
    };
    // Of 4 elements, m the mean of their squares, the slope is u (u^2 - m).
    const auto mean_of = [](const auto& f) {
      return [=](const std::vector<double>& line) {
        double y = 0;
        for (const double one : line) y += f(one) / static_cast<double>(line.size());
        return y;
      };
    };
    const array m = over_lines({"p"}, a, mean_of([](double e) { return e * e; }));
    const array fourth = over_lines({"p"}, a, mean_of([](double e) { return e * e * e * e; }));
    const auto right = [](const auto& e) {
      const double u = e[0], apart = u * u - e[1];
      return 2 * u * apart * apart + 4 * u * u * u * apart - 4 * u * (e[2] - e[1] * e[1]);
    };
    CHECK(agrees(dm::complete(dm::value_and_grad(norm, x)().gradient), map(right, {a, m, fourth}),
                 1e-12));
  });
}

TEST_CASE("norms, whole or split") {
  for_each_case<plane, unevenly, p, q>({{5, 4}, {2, 3}}, [](auto v, const array& whole) {
    const array a = reals(whole.dims, whole.size, 6);
    const auto x = scattered<decltype(v)>(v.grid(), a);
    const auto magnitude = [](double one) { return std::abs(one); };
    const auto l1 = [](const auto& u) { return dm::l1_norm<q>(u); };
    const auto l2 = [](const auto& u) { return dm::l2_norm<p>(u); };
    CHECK(agrees(l1(x),
                 over_lines({"p"}, a, [&](const auto& line) { return sum_of(line, magnitude); }),
                 1e-14));
    CHECK(agrees(l2(x),
                 over_lines({"q"}, a,
                            [](const auto& line) {
                              return std::sqrt(sum_of(line, [](double one) { return one * one; }));
                            }),
                 1e-14));
    CHECK(agrees(dm::max_norm(x), over_lines({}, a, [](const auto& line) {
                   double most = 0;
                   for (const double one : line) most = std::max(most, std::abs(one));
                   return most;
                 })));
    check_operation(l1, smooth, {a}, x);
    check_operation(l2, precision{1e-5, 1e-6}, {a}, x);
  });
}

TEST_CASE("extremes over dims that are split, with gradients that go to the first of equals") {
  for_each_case<plane, unevenly, p, q>({{5, 4}, {2, 7}, {1, 3}}, [](auto v, const array& sizes) {
    using X = decltype(v);
    const array a = reals(sizes.dims, sizes.size, 3);
    const auto x = scattered<X>(v.grid(), a);
    const auto most = [](const std::vector<double>& line) {
      return *std::max_element(line.begin(), line.end());
    };
    const auto least = [](const std::vector<double>& line) {
      return *std::min_element(line.begin(), line.end());
    };
    const auto max_of_rows = [](const auto& u) { return dm::max_all_reduce<q>(u); };
    const auto min_of_all = [](const auto& u) { return dm::min_all_reduce(u); };
    CHECK(agrees(max_of_rows(x), over_lines({"p"}, a, most)));
    CHECK(agrees(dm::min_all_reduce<p>(x), over_lines({"q"}, a, least)));
    CHECK(agrees(min_of_all(x), over_lines({}, a, least)));
    check_operation(max_of_rows, smooth, {a}, x);
    check_operation(min_of_all, smooth, {a}, x);
    check_operation([](const auto& u) { return dm::max_norm<p>(u); }, smooth, {a}, x);

    const array ties = map([](const auto& e) { return e[0] > 0.2 ? 1.0 : -1.0; }, {a});
    const auto t = scattered<X>(v.grid(), ties);
    const auto first = [&](const names& kept, double value) {  // of equals, by the definition
      extents taken;
      return make(a.dims, a.size, [&](const extents& at) {
        const index_t line = kept.empty() ? 0 : at[0];
        if (value_at(ties, a.dims, at) != value) return 0.0;
        if (std::find(taken.begin(), taken.end(), line) != taken.end()) return 0.0;
        taken.push_back(line);
        return 1.0;
      });
    };
    const auto slope = [&](const auto& f) {
      const auto sum = [&](const auto& u) { return dm::complete(dm::sum(f(u))); };
      return dm::complete(dm::value_and_grad(sum, t)().gradient);
    };
    array by_rows = first({"p"}, 1);
    for (index_t i = 0; i < a.size[0]; ++i) {  // lines without a 1: their first element
      double any = 0;
      for (index_t j = 0; j < a.size[1]; ++j) any += by_rows.values[std::size_t(i * a.size[1] + j)];
      if (any == 0) by_rows.values[std::size_t(i * a.size[1])] = 1;
    }
    CHECK(agrees(slope(max_of_rows), by_rows));
    CHECK(agrees(slope(min_of_all), first({}, -1)));
  });
  for_each_grid<line>([](const dm::grid<line>& g) {  // of nothing; where nothing equals itself
    using X = dm::tensor<double, dm::layout<line, dm::split<dm::uneven<p>, x>>, p, q>;
    const auto both = [](const auto& u) { return dm::max_all_reduce<p>(u); };
    const auto none = scattered<X>(g, numbers({"p", "q"}, {0, 2}, 1));
    const auto empty =
        dm::value_and_grad([&](const auto& u) { return dm::complete(dm::sum(both(u))); }, none)();
    CHECK(dm::value(empty.value) == -std::numeric_limits<double>::infinity());
    CHECK(empty.gradient.local_size() == 0);
    const array a = reals({"p", "q"}, {5, 3}, 3);
    const auto h = [&](const auto& u) { return dm::complete(dm::sum(both(u * u * u))); };
    const auto norm = [&](const auto& u) {  // of the gradient, squared: 9 u^4 of the greatest
      const auto slope = dm::complete(dm::value_and_grad(h, u)().gradient);
      return dm::complete(dm::sum(slope * slope));
    };
    const array right =
        map([](const auto& e) { return e[0] == e[1] ? 36 * e[0] * e[0] * e[0] : 0; },
            {a, over_lines({"q"}, a, [](const auto& line) {
               return *std::max_element(line.begin(), line.end());
             })});
    const auto t = scattered<X>(g, a);
    CHECK(agrees(dm::complete(dm::value_and_grad(norm, t)().gradient), right, 1e-12));
  });
}

TEST_CASE("gradients of extremes go to the first of equals") {
  for_each_case<plane, unevenly, p, q>({{5, 4}, {2, 7}}, [](auto v, const array& sizes) {
    using X = decltype(v);
    const array a = reals(sizes.dims, sizes.size, 3);
    const auto x = scattered<X>(v.grid(), a);
    if constexpr (!dm::is_split<dm::spec_of<X>, q>)
      check_operation([](const auto& u) { return dm::max<q>(u); }, smooth, {a}, x);
    if constexpr (!dm::is_split<dm::spec_of<X>, p>)
      check_operation([](const auto& u) { return dm::min<p>(u); }, smooth, {a}, x);
  });
  for_each_grid<line>([](const dm::grid<line>& g) {
    using X = dm::tensor<double, dm::layout<line>, p, q>;
    const array a =
        make({"p", "q"}, {2, 4}, [](const extents& at) { return at[1] % 2 == 0 ? 1.0 : 2.0; });
    const auto x = scattered<X>(g, a);
    const auto at_column = [](index_t k) {
      return make({"p", "q"}, {2, 4}, [=](const extents& at) { return at[1] == k ? 1.0 : 0.0; });
    };
    const auto of_max = [](const auto& u) { return dm::sum(dm::max<q>(u)); };
    const auto of_min = [](const auto& u) { return dm::sum(dm::min<q>(u)); };
    CHECK(agrees(dm::complete(dm::value_and_grad(of_max, x)().gradient), at_column(1)));
    CHECK(agrees(dm::complete(dm::value_and_grad(of_min, x)().gradient), at_column(0)));
  });
}

TEST_CASE("norms of whole numbers are double, whatever their elements hold") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    using L = dm::layout<line, dm::split<dm::uneven<p>, x>>;
    const auto check = [&]<class T>(dm::detail::tag<T>, const std::vector<double>& v) {
      const array a{{"p"}, {static_cast<index_t>(v.size())}, v};
      const auto t = scattered<dm::tensor<T, L, p>>(g, a);
      const auto whole = scattered<dm::tensor<T, dm::layout<line>, p>>(g, a);
      double squares = 0, magnitudes = 0;
      for (const double one : v) squares += one * one, magnitudes += std::abs(one);
      const array l1{{}, {}, {magnitudes}}, l2{{}, {}, {std::sqrt(squares)}};
      CHECK(agrees(dm::l1_norm(t), l1));
      CHECK(agrees(dm::l1_norm<p>(whole), l1));
      CHECK(agrees(dm::l2_norm(t), l2, 1e-15));
      CHECK(agrees(dm::l2_norm<p>(whole), l2, 1e-15));
      static_assert(std::is_same_v<dm::value_of<decltype(dm::l1_norm(t))>, double>);
      static_assert(std::is_same_v<dm::value_of<decltype(dm::l2_norm(t))>, double>);
    };
    check(dm::detail::tag<int>{}, {50000});
    check(dm::detail::tag<std::uint8_t>{}, {16, 16});
    check(dm::detail::tag<std::uint8_t>{}, {200, 100});
    check(dm::detail::tag<std::int8_t>{}, {-128, 100});
    check(dm::detail::tag<bool>{}, {1, 0, 1, 1});
  });
}

TEST_CASE("compensated sums keep what plain ones lose") {
  for_each_case<plane, unevenly_with_partial, p, q>({{5, 4}, {0, 3}}, [](auto v, const array& a) {
    const auto f = [](const auto& u) { return dm::compensated_sum<q>(u); };
    CHECK(agrees(f(v), over_lines({"p"}, a, [](const auto& line) {
                   return sum_of(line, [](double one) { return one; });
                 })));
    check_operation(f, {}, {a}, v);
  });
  for_each_grid<line>([](const dm::grid<line>& g) {
    const auto big = [](const extents& at) {
      return at[0] % 3 == 0 ? 1e30 : at[0] % 3 == 1 ? 1.0 : -1e30;
    };
    const array a = make({"p"}, {9}, big), b = make({"p", "q"}, {9, 2}, big);
    using L = dm::layout<line>;
    CHECK(agrees(dm::compensated_sum(scattered<dm::tensor<double, L, p>>(g, a)),
                 array{{}, {}, {3.0}}));
    CHECK(agrees(dm::compensated_sum<p>(scattered<dm::tensor<double, L, p, q>>(g, b)),
                 array{{"q"}, {2}, {3.0, 3.0}}));
  });
}

TEST_CASE("compensated sums of complex numbers keep both parts' digits") {
  for_each_case<line, unevenly, p, q>({{9, 2}}, [](auto v, const array& like) {
    const auto big = [](index_t turn) {
      return [=](const extents& at) {
        return (at[0] + turn) % 3 == 0 ? 1e30 : (at[0] + turn) % 3 == 1 ? 1.0 : -1e30;
      };
    };
    const array a = make(like.dims, like.size, big(0)), b = make(like.dims, like.size, big(1));
    const auto x = scattered<decltype(v)>(v.grid(), a), y = scattered<decltype(v)>(v.grid(), b);
    const auto f = [](const auto& u, const auto& w) {
      const auto z = dm::compensated_sum<p>(dm::as_complex(u, w));
      return dm::real(z) * 2 + dm::imag(z);
    };
    if constexpr (!dm::is_split<dm::spec_of<decltype(v)>, p>)  // one block: nothing is lost
      CHECK(agrees(f(x, y), array{{"q"}, {2}, {9.0, 9.0}}));
    const auto s = scattered<decltype(v)>(v.grid(), like);
    check_operation(f, {}, {like, like}, s, s);
  });
}

TEST_CASE("compensated sums that leave what floats hold are infinite, or NaN where an element is") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    const auto total = [&g](const std::vector<float>& v) {
      using X = dm::tensor<float, dm::layout<line>, p>;
      return dm::value(
          dm::compensated_sum(dm::from_array<X>(g, v, p{static_cast<index_t>(v.size())})));
    };
    const float much = 3e38f, infinite = std::numeric_limits<float>::infinity();
    CHECK(total({much, much}) == infinite);
    CHECK(total({1, much, much}) == infinite);
    CHECK(total({much, much, 1}) == infinite);
    CHECK(total({-much, -much}) == -infinite);
    CHECK(total({1, infinite}) == infinite);
    CHECK(total({-infinite, 1}) == -infinite);
    CHECK(std::isnan(total({infinite, -infinite})));
    CHECK(std::isnan(total({1, std::numeric_limits<float>::quiet_NaN()})));
    CHECK(total({much, 1, -much}) == 1);
  });
}

TEST_CASE("a variance far from zero, in float, of more elements than a block in cache") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    const array a = make({"p", "q"}, {3000, 2}, [](const extents& at) {
      return 4096.0 + static_cast<double>((at[0] * 7) % 16) / 16;
    });
    const auto want = [](const std::vector<double>& line) { return variance_of(line, 0); };
    using L = dm::layout<line>;
    const auto x = scattered<dm::tensor<float, L, p, q>>(g, a);
    CHECK(agrees(dm::var<p>(x), over_lines({"q"}, a, want), 1e-4));
    CHECK(agrees(dm::var(x), over_lines({}, a, want), 1e-4));
    const array b =
        make({"q", "p"}, {2, 3000}, [&](const extents& at) { return value_at(a, {"q", "p"}, at); });
    CHECK(agrees(dm::var<p>(scattered<dm::tensor<float, L, q, p>>(g, b)),
                 over_lines({"q"}, a, want), 1e-4));
  });
}

}  // namespace
