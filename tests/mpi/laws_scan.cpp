// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running sums, products, extremes, users' functions and recurrences along dims that are whole or
// split: against whole arrays under every layout that their rules allow; their transposes and
// costs.
// ranks: 1 2 3 4
// checks: 5682 9582 9534 13482
// labels: sanitize_all device
#include "dimesh/op/scan.hpp"

#include <doctest/doctest.h>

#include "dimesh/create.hpp"
#include "dimesh/grad/complete.hpp"
#include "dimesh/op/compare.hpp"
#include "dimesh/op/complex.hpp"
#include "dimesh/op/reduce.hpp"
#include "dimesh/op/to_rank.hpp"
#include "support/adjoint.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
namespace dd = dimesh::detail;

const std::vector<extents> sizes = {{4, 6}, {5, 3}, {0, 3}, {3, 1}, {2, 9}};

using two_inputs = std::function<double(double, double, double)>;

/// carry = f(carry, a, b) along a dim.
array scanned(const array& a, const array& b, const std::string& dim, double first,
              const two_inputs& f, dm::scan_options o) {
  array out = a;
  const auto d = static_cast<std::size_t>(a.place(dim));
  extents others = a.size;
  others[d] = a.size[d] > 0 ? 1 : 0;
  const auto place = [&](const extents& index) {
    index_t at = 0;
    for (std::size_t i = 0; i < a.size.size(); ++i) at = at * a.size[i] + index[i];
    return static_cast<std::size_t>(at);
  };
  for_each_index(others, [&](extents index) {
    double carry = first;
    for (index_t k = 0; k < a.size[d]; ++k) {
      index[d] = o.reverse ? a.size[d] - 1 - k : k;
      const double before = carry;
      carry = f(carry, value_at(a, a.dims, index), value_at(b, a.dims, index));
      out.values[place(index)] = o.exclusive ? before : carry;
    }
  });
  return out;
}

double plus(double c, double x, double) { return c + x; }
double times(double c, double x, double) { return c * x; }
double greater(double c, double x, double) { return std::max(c, x); }
double smaller(double c, double x, double) { return std::min(c, x); }
double affine(double h, double a, double b) { return a * h + b; }

/// Associative, not linear: 1 - (1 - a)(1 - b), of which 0 is the identity.
struct either {
  template <class A, class B> KOKKOS_INLINE_FUNCTION auto operator()(const A& a, const B& b) const {
    return a + b - a * b;
  }
};

/// Associative, and does not commute: the last that is not 0.
struct latest {
  template <class A, class B> KOKKOS_INLINE_FUNCTION auto operator()(const A& a, const B& b) const {
    return dm::select(b != 0.0, b, a);
  }
};

constexpr dm::scan_options all_options[] = {
    {false, false}, {true, false}, {false, true}, {true, true}};

/// f(v, o), which says how often it computes; what it should be.
template <class X, class F>
void check_all(const F& f, const X& x, const array& a, const std::string& d, double first,
               const two_inputs& g) {
  for (const dm::scan_options o : all_options) {
    INFO("exclusive ", o.exclusive, ", reverse ", o.reverse);
    CHECK(agrees(f(x, o), scanned(a, a, d, first, g, o)));
  }
}

TEST_CASE("sums: along either dim, addends too, under every layout") {
  for_all_cases<plane, unevenly_with_partial, p, q>(sizes, [](auto v, const array& a) {
    using X = decltype(v);
    check_all([](const X& x, auto o) { return dm::cumsum_exscan<p>(x, o); }, v, a, "p", 0, plus);
    where_whole<q>(v, [&](const auto& w) {
      check_all([](const auto& x, auto o) { return dm::cumsum<q>(x, o); }, w, a, "q", 0, plus);
    });
  });
}

TEST_CASE("sums: their transpose is the sum from the other end") {
  for_all_cases<plane, layout_choice{.partial = true, .uneven = true, .stride = 2}, p, q>(
      {{4, 6}, {5, 3}}, [](auto v, const array& a) {
        for (const dm::scan_options o : all_options)
          check_operation([o](const auto& x) { return dm::cumsum_exscan<p>(x, o); }, {}, {a}, v);
      });
}

TEST_CASE("products and extremes: along a dim split or whole") {
  for_all_cases<plane, layout_choice{.uneven = true, .stride = 2, .first = 1}, p, q>(
      sizes, [](auto v, const array& a) {
        using X = decltype(v);
        check_all([](const X& x, auto o) { return dm::cumprod_exscan<q>(x, o); }, v, a, "q", 1,
                  times);
        check_all([](const X& x, auto o) { return dm::cummax_exscan<p>(x, o); }, v, a, "p",
                  -HUGE_VAL, greater);
        check_all([](const X& x, auto o) { return dm::cummin_exscan<p>(x, o); }, v, a, "p",
                  HUGE_VAL, smaller);
      });
}

TEST_CASE("products: gradients with zeros among the elements") {
  for_all_cases<plane, unevenly, p, q>({{5, 3}, {2, 4}}, [](auto v, const array& a) {
    array b = reals(a.dims, a.size, 3);
    for (std::size_t k = 0; k < b.values.size(); k += 4) b.values[k] = 0;
    const auto y = scattered<decltype(v)>(v.grid(), b);
    for (const dm::scan_options o : all_options)
      check_operation([o](const auto& x) { return dm::cumprod_exscan<p>(x, o); }, smooth, {b}, y);
  });
}

TEST_CASE("extremes and a user's function: gradients") {
  for_all_cases<plane, unevenly, p, q>({{5, 3}, {2, 4}}, [](auto v, const array& a) {
    const array b = reals(a.dims, a.size, 3);
    const auto y = scattered<decltype(v)>(v.grid(), b);
    for (const dm::scan_options o : {all_options[0], all_options[3]}) {
      if (!o.exclusive)
        check_operation([o](const auto& x) { return dm::cummax_exscan<p>(x, o); }, smooth, {b}, y);
      check_operation([o](const auto& x) { return dm::scan_exscan<p>(either{}, 0, x, o); }, smooth,
                      {b}, y);
    }
  });
}

TEST_CASE("a user's function that does not commute: ranks join in order, from either end") {
  for_all_cases<plane, layout_choice{.uneven = true, .stride = 2}, p, q>(
      {{7, 2}, {3, 1}}, [](auto v, const array& a) {
        const array few = map([](const auto& w) { return w[0] > 1 ? w[0] : 0; }, {a});
        const auto x = scattered<decltype(v)>(v.grid(), few);
        for (const dm::scan_options o : all_options) {
          const auto f = [o](const auto& u) { return dm::scan_exscan<p>(latest{}, 0, u, o); };
          const auto last = [](double c, double w, double) { return w != 0 ? w : c; };
          CHECK(agrees(f(x), scanned(few, few, "p", 0, last, o)));
        }
      });
}

/// Each w goes to the first of the greatest (for -1: smallest) elements up to its place along p.
array to_the_first(const array& x, const array& w, double sign, dm::scan_options o) {
  array g = map([](const auto&) { return 0.0; }, {x});
  const index_t n = x.size[0], m = x.size[1];
  const auto at = [&](index_t k, index_t j) {
    return static_cast<std::size_t>((o.reverse ? n - 1 - k : k) * m + j);
  };
  for (index_t j = 0; j < m; ++j) {
    std::size_t best = at(0, j);
    for (index_t k = 0; k < n; ++k) {
      if (o.exclusive && k > 0) g.values[best] += w.values[at(k, j)];
      if (sign * x.values[at(k, j)] > sign * x.values[best]) best = at(k, j);
      if (!o.exclusive) g.values[best] += w.values[at(k, j)];
    }
  }
  return g;
}

TEST_CASE("extremes: of equals the first gets the gradient, infinite ones at the beginning too") {
  for_all_cases<line, unevenly, p, q>({{5, 3}, {8, 2}}, [](auto v, const array& a) {
    const array b = numbers(a.dims, a.size, 3);
    const auto of_type = [&]<class T>(dd::tag<T>) {
      const auto w = dm::cast<T>(scattered<decltype(v)>(v.grid(), b));
      for (const double sign : {1.0, -1.0}) {
        array c = numbers(a.dims, a.size, 4);
        for (std::size_t k = 0; k < c.values.size(); ++k)
          if (k % 2 == 0 || k / static_cast<std::size_t>(a.size[1]) < 3)
            c.values[k] = -sign * HUGE_VAL;
        const auto x = dm::cast<T>(scattered<decltype(v)>(v.grid(), c));
        for (const dm::scan_options o : all_options) {
          const auto f = [&](const auto& u) {
            return dm::sum(w *
                           (sign > 0 ? dm::cummax_exscan<p>(u, o) : dm::cummin_exscan<p>(u, o)));
          };
          const auto g = dm::value_and_grad(f, x)().gradient;
          CHECK(agrees(dm::cast<double>(dm::complete(g)), to_the_first(c, b, sign, o)));
        }
      }
    };
    of_type(dd::tag<double>{});
#ifndef __CUDACC__
    of_type(dd::tag<long double>{});
#endif
  });
}

/// Their products along a block leave what a double can hold, though no state does.
TEST_CASE("recurrences: long products that overflow or vanish before they meet a state") {
  const double factors[][3] = {{1e200, 1e200, 0}, {1e-200, 1e-200, 1e300}};
  for_all_cases<line, unevenly, p, q>({{12, 2}, {24, 1}}, [&](auto v, const array& a) {
    for (const auto& f : factors) {
      array slope = a, value = a;
      for (std::size_t k = 0; k < a.values.size(); ++k) {
        const std::size_t t = k / static_cast<std::size_t>(a.size[1]);
        slope.values[k] = f[t % 3];
        value.values[k] = t % 3 == 1 ? 0 : f[0] > 1 ? 1e-300 : 1;
      }
      const auto x = scattered<decltype(v)>(v.grid(), slope);
      const auto y = scattered<decltype(v)>(v.grid(), value);
      for (const dm::scan_options o : {all_options[0], all_options[1]}) {
        const auto h = dm::to_rank(dm::linear_recurrence_exscan<p>(x, y, o));
        const array expected = scanned(slope, value, "p", 0, affine, o);
        for (std::size_t k = 0; k < h.size(); ++k)
          CHECK(std::abs(h[k] - expected.values[k]) <= 1e-12 * std::abs(expected.values[k]));
        // Turned by i at each element: (i a) h + i^t b is i^t of the real state.
        const auto none =
            scattered<decltype(v)>(v.grid(), map([](const auto&) { return 0.0; }, {a}));
        array even = value, odd = value;
        for (std::size_t k = 0; k < a.values.size(); ++k) {
          const std::size_t t = k / static_cast<std::size_t>(a.size[1]), n = t % 4;
          even.values[k] *= n % 2 == 1 ? 0 : n == 0 ? 1 : -1;
          odd.values[k] *= n % 2 == 0 ? 0 : n == 1 ? 1 : -1;
        }
        const auto z =
            dm::linear_recurrence_exscan<p>(dm::as_complex(none, x),
                                            dm::as_complex(scattered<decltype(v)>(v.grid(), even),
                                                           scattered<decltype(v)>(v.grid(), odd)),
                                            o);
        const auto re = dm::to_rank(dm::real(z)), im = dm::to_rank(dm::imag(z));
        for (std::size_t k = 0; k < re.size(); ++k) {
          const std::size_t t = k / static_cast<std::size_t>(a.size[1]);
          const double s = expected.values[k];
          const double turned[] = {s, 0, -s, 0};  // by i^t; exclusive states are those before
          const std::size_t n = (t + (o.exclusive ? 3 : 0)) % 4;
          CHECK(std::abs(re[k] - turned[n]) + std::abs(im[k] - turned[(n + 3) % 4]) <=
                1e-12 * std::abs(s));
        }
      }
    }
  });
}

TEST_CASE("recurrences: h = a h + b, and their gradients by both") {
  for_all_cases<plane, layout_choice{.uneven = true, .stride = 2}, p, q>(
      sizes, [](auto v, const array& a) {
        const array b = numbers(a.dims, a.size, 9);
        const auto w = scattered<decltype(v)>(v.grid(), b);
        for (const dm::scan_options o : all_options)
          CHECK(agrees(dm::linear_recurrence_exscan<p>(v, dm::permute<q, p>(w), o),
                       scanned(a, b, "p", 0, affine, o)));
      });
  for_all_cases<plane, unevenly, p, q>({{5, 3}, {2, 4}}, [](auto v, const array& a) {
    const array f = reals(a.dims, a.size, 3), b = reals(a.dims, a.size, 4);
    const auto x = scattered<decltype(v)>(v.grid(), f), y = scattered<decltype(v)>(v.grid(), b);
    for (const dm::scan_options o : all_options)
      check_operation(
          [o](const auto& u, const auto& w) { return dm::linear_recurrence_exscan<p>(u, w, o); },
          smooth, {f, b}, x, y);
  });
}

/// What state-space models turn by: h = a h + b of complex numbers.
TEST_CASE("products and recurrences of complex numbers: values, and gradients, which conjugate") {
  using number = std::complex<double>;
  for_all_cases<plane, layout_choice{.uneven = true, .stride = 2, .first = 1}, p, q>(
      {{5, 3}, {2, 4}, {0, 2}}, [](auto v, const array& like) {
        const array f = reals(like.dims, like.size, 3), b = reals(like.dims, like.size, 4);
        const auto x = scattered<decltype(v)>(v.grid(), f), y = scattered<decltype(v)>(v.grid(), b);
        const auto of_both = [](const auto& z) { return dm::real(z) * 2 + dm::imag(z); };
        const auto at = [&](index_t k, index_t j) {
          const auto i = static_cast<std::size_t>(k * f.size[1] + j);
          return number(f.values[i], b.values[i]);
        };
        for (const dm::scan_options o : all_options) {
          const auto products = [=](const auto& u, const auto& w) {
            return of_both(dm::cumprod_exscan<p>(dm::as_complex(u, w), o));
          };
          const auto states = [=](const auto& u, const auto& w) {
            return of_both(
                dm::linear_recurrence_exscan<p>(dm::as_complex(u, w), dm::as_complex(w, u), o));
          };
          array product = f, state = f;
          for (index_t j = 0; j < f.size[1]; ++j) {
            number c = 1, h = 0;
            for (index_t i = 0; i < f.size[0]; ++i) {
              const index_t k = o.reverse ? f.size[0] - 1 - i : i;
              const number z = at(k, j), before = c, last = h;
              c *= z, h = z * h + number(z.imag(), z.real());
              const number one = o.exclusive ? before : c, other = o.exclusive ? last : h;
              const auto place = static_cast<std::size_t>(k * f.size[1] + j);
              product.values[place] = 2 * one.real() + one.imag();
              state.values[place] = 2 * other.real() + other.imag();
            }
          }
          CHECK(agrees(products(x, y), product, 1e-13));
          CHECK(agrees(states(x, y), state, 1e-13));
          check_operation(products, precision{1e-5, 1e-6}, {f, b}, x, y);
          check_operation(states, precision{1e-5, 1e-6}, {f, b}, x, y);
        }
      });
}

struct once : dm::axis<1> {};
struct outer_axis : dm::axis<> {};
struct inner_axis : dm::axis<> {};
struct shelf : dm::mesh<once, outer_axis, inner_axis> {};
struct when : dm::dim<8> {};

TEST_CASE("axes in any order, from either end: each has its own order of the ranks") {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks == 3) return;  // which do not divide 8 elements
  const dm::grid<shelf> g(outer_axis{ranks > 1 ? 2 : 1});
  const auto check = [&g](auto tag, dm::scan_options o) {
    using X = typename decltype(tag)::type;
    const auto y = dm::to_rank(dm::cumsum_exscan<when>(dm::constant<X>(g, 1.0), o), 0);
    for (std::size_t i = 0; i < y.size(); ++i)
      CHECK(y[i] == static_cast<double>(o.reverse ? 8 - i : i + 1));
  };
  using two = dm::layout<shelf, dm::split<when, inner_axis, outer_axis>>;
  using three = dm::layout<shelf, dm::split<when, once, inner_axis, outer_axis>>;
  for (const bool reverse : {true, false, true}) {
    check(dd::tag<dm::tensor<double, two, when>>{}, {.reverse = reverse});
    check(dd::tag<dm::tensor<double, three, when>>{}, {.reverse = !reverse});
  }
}

TEST_CASE("elements of other types: truths are counted, bfloat16 is joined in float") {
  for_all_cases<line, unevenly, p, q>({{5, 3}, {0, 3}}, [](auto v, const array& a) {
    const array positive = map([](const auto& w) { return w[0] > 0 ? 1.0 : 0.0; }, {a});
    const auto counts = dm::cumsum_exscan<p>(v > 0);
    static_assert(std::is_same_v<dm::value_of<decltype(counts)>, dm::index_t>);
    CHECK(agrees(counts, scanned(positive, positive, "p", 0, plus, {})));
    const auto stored = dm::cumsum_exscan<p>(dm::cast<dm::bfloat16>(v));
    static_assert(std::is_same_v<dm::value_of<decltype(stored)>, dm::bfloat16>);
    CHECK(agrees(dm::cast<double>(stored), scanned(a, a, "p", 0, plus, {})));
    const auto whole = dm::cummax_exscan<p>(dm::cast<int>(v), {.reverse = true});
    CHECK(agrees(whole, scanned(a, a, "p", -HUGE_VAL, greater, {.reverse = true})));
    const array b = map([](const auto& w) { return w[0] > 0 ? 1.0 : w[0] < 0 ? -1.0 : 0; }, {a});
    const auto few = dm::cast<std::int8_t>(scattered<decltype(v)>(v.grid(), b));
    CHECK(agrees(dm::linear_recurrence_exscan<p>(few, few), scanned(b, b, "p", 0, affine, {})));
    const auto turned = [](const auto& x) {
      return dm::real(dm::cumsum_exscan<p>(dm::cast<Kokkos::complex<double>>(x)));
    };
    CHECK(agrees(turned(v), scanned(a, a, "p", 0, plus, {})));
    check_operation(turned, {}, {a}, v);
  });
}

}  // namespace
