// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of complex elements: beside central differences in the real and in the imaginary
// direction, and <A x, y> = <x, A^H y> for what is linear, under several layouts.
//
// ranks: 1 2 4
#include "dimesh/op/complex.hpp"
#include "support/host.hpp"

#include <doctest/doctest.h>

#include <complex>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/jvp.hpp>
#include <dimesh/optim/adam.hpp>
#include <dimesh/optim/clip.hpp>

namespace dm = dimesh;

namespace {

using C = dm::complex_of<double>;
struct batch : dm::dim<8> {};
struct pixel : dm::dim<4> {};
struct hidden : dm::dim<8> {};
struct one : dm::axis<> {};
struct two : dm::axis<> {};
struct pod : dm::mesh<one, two> {};
using whole = dm::layout<pod>;
using data = dm::layout<pod, dm::split<batch, one>>;
using model = dm::layout<pod, dm::split<hidden, one>, dm::split<pixel, two>>;
using hybrid = dm::layout<pod, dm::split<batch, one>, dm::split<hidden, two>>;
template <class L, class... D> using X = dm::tensor<C, L, D...>;

template <class T> T waves(const dm::grid<pod>& g, double f) {
  const auto value = [f](auto... i) {
    double at = 1;
    ((at = 7 * at + static_cast<double>(i)), ...);
    if constexpr (std::is_same_v<typename T::value_type, C>)
      return C(0.5 * std::sin(f * at), 0.5 * std::cos(1.3 * f * at));
    else
      return 0.5 * std::sin(f * at);
  };
  return dm::generate<T>(g, value);
}
/// The sum of conj(x) y: linear in y.
template <class A, class B> C inner(const A& x, const B& y) {
  return dm::value(dm::complete(dm::einsum<>(dm::conj(x), y)));
}
template <class F> void on_grids(const F& f) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int n = 1; n <= ranks; n *= 2) f(dm::grid<pod>(one{n}, two{ranks / n}));
}
struct scaled {
  C by;
  KOKKOS_FUNCTION C operator()(C v) const { return v * by; }
};
template <class Z> Z times(const Z& z, C by) { return dm::map(scaled{by}, z); }
double size_of(C z) { return std::hypot(z.real(), z.imag()); }

template <class L> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (X<L, pixel, hidden>, w), (X<L, hidden>, b), (X<L, hidden>, c));
};
struct loss {
  template <class P, class Z> constexpr auto operator()(const P& p, const Z& z) const {
    const auto h = dm::complete(dm::einsum<batch, hidden>(z, p.w)) + p.b;
    const auto y = h * p.c / (h * dm::conj(h) + dm::conj(p.c)) - h * 0.25;
    const auto parts = dm::sum(dm::real(y) * dm::imag(h)) + dm::sum(dm::norm2(y));
    return dm::complete(parts);
  }
};

template <class L> double check_network(const dm::grid<pod>& g) {
  const auto z = waves<X<L, batch, pixel>>(g, 0.9);
  const network<L> p{waves<X<L, pixel, hidden>>(g, 0.3), waves<X<L, hidden>>(g, 0.5),
                     waves<X<L, hidden>>(g, 0.8)};
  const network<L> d{waves<X<L, pixel, hidden>>(g, 1.3), waves<X<L, hidden>>(g, 1.5),
                     waves<X<L, hidden>>(g, 1.8)};
  const auto [value, gradient] = dm::complete(dm::value_and_grad(loss{}, p)(z));
  double sum = 0;
  for (const C way : {C(1, 0), C(0, 1)}) {
    const auto at = [&](double h) {
      const C by = way * h;
      const network<L> q{p.w + times(d.w, by), p.b + times(d.b, by), p.c + times(d.c, by)};
      return dm::value(loss{}(q, z));
    };
    const double h = 1e-5, rise = (at(h) - at(-h)) / (2 * h);
    const double slope =
        (way * (inner(gradient.w, d.w) + inner(gradient.b, d.b) + inner(gradient.c, d.c))).real();
    CHECK(std::abs(slope) > 1e-3);
    CHECK(slope == doctest::Approx(rise).epsilon(1e-6));
    sum += slope;
  }
  return sum;
}

TEST_CASE("the gradient of a network of complex numbers") {
  on_grids([](const dm::grid<pod>& g) {
    const double sum = check_network<whole>(g);
    CHECK(check_network<data>(g) == doctest::Approx(sum).epsilon(1e-12));
    CHECK(check_network<model>(g) == doctest::Approx(sum).epsilon(1e-12));
    CHECK(check_network<hybrid>(g) == doctest::Approx(sum).epsilon(1e-12));
  });
}

/// f is linear: <f(x), y> = <x, f^H(y)>, a complex number where f is so over complex numbers.
template <bool Complex, class F, class Z>
void check_adjoint(const F& f, const Z& x, double epsilon = 1e-12) {
  auto run = dm::vjp(f, x);
  const auto& y = run.value;
  using bar = dm::detail::bar_of_type<std::remove_cvref_t<decltype(y)>>;
  const auto ybar = waves<bar>(x.grid(), 0.77);
  const auto xbar = run.pullback(ybar);
  const auto product = [](const auto& a, const auto& b) -> C {
    if constexpr (dm::is_complex<typename std::remove_cvref_t<decltype(b)>::value_type>)
      return inner(dm::complete(a), dm::complete(b));
    else
      return dm::value(dm::complete(dm::einsum<>(dm::complete(a), dm::complete(b))));
  };
  const C there = product(ybar, y), back = product(xbar, x);
  CHECK(size_of(there) > 1e-3);
  CHECK(back.real() == doctest::Approx(there.real()).epsilon(epsilon));
  if (Complex) CHECK(back.imag() == doctest::Approx(there.imag()).epsilon(epsilon));
  CHECK(f(x).once() == 0);
}
template <class L> void check_linear(const dm::grid<pod>& g) {
  const auto z = waves<X<L, batch, hidden>>(g, 0.9);
  const auto v = waves<X<L, hidden>>(g, 0.4);
  const auto a = waves<X<L, hidden, pixel>>(g, 0.6);
  check_adjoint<true>([&](const auto& x) { return dm::einsum<batch, pixel>(x, a); }, z);
  check_adjoint<true>([&](const auto& x) { return dm::complete(dm::einsum<batch, pixel>(x, a)); },
                      z);
  check_adjoint<true>([&](const auto& x) { return dm::einsum<batch>(v, x); }, z);
  check_adjoint<true>([&](const auto& x) { return dm::sum<batch>(x) * 3.0; }, z);
  check_adjoint<true>([&](const auto& x) { return dm::complete(dm::mean<hidden>(x)); }, z);
  check_adjoint<true>([&](const auto& x) { return z * x - x; }, v);
  check_adjoint<true>([&](const auto& x) { return x / z + x; }, v);
  // The same dims in another order than the product's.
  const auto turned = dm::permute<hidden, batch>(z);
  check_adjoint<true>([&](const auto& x) { return z * x; }, turned);
  check_adjoint<true>([&](const auto& x) { return x / turned + x; }, z);
  const auto bar = [&](const auto& f) {
    auto run = dm::vjp(f, turned);
    using of_value = dm::detail::bar_of_type<std::remove_cvref_t<decltype(run.value)>>;
    return dm::complete(run.pullback(waves<of_value>(g, 0.7)));
  };
  const auto apart = bar([&](const auto& x) { return z / x; }) -
                     bar([&](const auto& x) { return z / dm::permute<batch, hidden>(x); });
  CHECK(dm::value(dm::complete(dm::sum(dm::norm2(apart)))) < 1e-20);
  check_adjoint<true>([&](const auto& x) { return dm::permute<hidden, batch>(x); }, z);
  check_adjoint<true>([&](const auto& x) { return dm::relayout<whole>(x); }, z);
  check_adjoint<true>([&](const auto& x) { return dm::relayout<data>(dm::relayout<whole>(x)); }, z);
  using single = dm::complex_of<float>;
  check_adjoint<true>([&](const auto& x) { return dm::cast<C>(dm::cast<single>(x)); },
                      dm::cast<C>(dm::cast<single>(z)), 1e-6);
  const auto re = dm::real(v);  // a real tensor as a complex one: only the real part comes back
  const auto wide = [&](const auto& x) {
    return dm::complete(dm::sum(dm::norm2(dm::cast<C>(x) * v)));
  };
  const auto off = dm::complete(dm::value_and_grad(wide, re)()).gradient - re * dm::norm2(v) * 2.0;
  CHECK(dm::value(dm::complete(dm::sum(off * off))) < 1e-20);
  check_adjoint<true>([&](const auto& x) { return dm::shift<hidden>(x, 3); }, z);
  const auto at = dm::generate<dm::tensor<int, dm::layout<pod>, pixel>>(
      g, [](dm::index_t i) { return static_cast<int>(3 * i % 8); });
  const auto rows = waves<X<whole, hidden, batch>>(g, 0.8);
  check_adjoint<true>([&](const auto& x) { return dm::take<hidden>(x, at); }, rows);
  check_adjoint<false>([&](const auto& x) { return dm::conj(x); }, z);
  check_adjoint<false>([&](const auto& x) { return dm::real(x * v); }, z);
  check_adjoint<false>([&](const auto& x) { return dm::imag(dm::sum<batch>(x)); }, z);
  const auto r = waves<dm::tensor<double, L, batch, hidden>>(g, 0.9);
  check_adjoint<false>([&](const auto& x) { return dm::as_complex(x) * z; }, r);
  check_adjoint<false>([&](const auto& x) { return dm::as_complex(x, x * 2.0) * v; }, r);
}

TEST_CASE("<A x, y> = <x, A^H y>") {
  on_grids([](const dm::grid<pod>& g) {
    check_linear<whole>(g);
    check_linear<data>(g);
    check_linear<hybrid>(g);
  });
}

TEST_CASE("tangents and gradients of gradients pass through what is linear") {
  on_grids([](const dm::grid<pod>& g) {
    const auto z = waves<X<hybrid, batch, hidden>>(g, 0.9),
               dz = waves<X<hybrid, batch, hidden>>(g, 0.2);
    const auto f = [](const auto& x) { return dm::complete(dm::einsum<>(x, dm::conj(x))); };
    const auto [y, dy] = dm::jvp(f, z, dz);
    CHECK(dm::value(y).imag() == doctest::Approx(0));
    CHECK(dm::value(dy).real() == doctest::Approx(2 * inner(z, dz).real()));
    const auto product = [](const auto& x) { return x * x; };
    CHECK_THROWS_WITH_AS(dm::jvp(product, z, dz),
                         doctest::Contains("gradients of gradients do not pass through"),
                         dm::error);
  });
}

TEST_CASE("a step against the gradient descends") {
  on_grids([](const dm::grid<pod>& g) {
    auto z = waves<X<hybrid, batch, hidden>>(g, 0.9);
    const auto wanted = waves<X<hybrid, batch, hidden>>(g, 0.3);
    const auto distance = [&](const auto& x) {
      return dm::complete(dm::sum(dm::norm2(x - wanted)));
    };
    const auto [value, gradient] = dm::complete(dm::value_and_grad(distance, z)());
    CHECK(dm::value(value) > 1);
    CHECK(dm::value(distance(z - gradient * 0.5)) < 1e-25);
  });
}

template <class T> T turned(const T& z) { return times(z, C(0.6, 0.8)); }

TEST_CASE("adam divides by the averaged |g|^2, so that turned parameters take turned steps") {
  on_grids([](const dm::grid<pod>& g) {
    using T = X<hybrid, batch, hidden>;
    const dm::adam optimizer{.rate = 0.1, .weight_decay = 0.01};
    auto x = waves<T>(g, 0.9), y = turned(x);
    auto first = optimizer.start(x), second = optimizer.start(y);
    std::vector<C> p(test_support::on_host(x).data(),
                     test_support::on_host(x).data() + x.local_size()),
        m(p.size()), v(p.size());
    for (int step = 1; step <= 3; ++step) {
      const auto gradient = waves<T>(g, 0.3 * step);
      for (std::size_t i = 0; i < p.size(); ++i) {
        const C d = test_support::on_host(gradient)[i];
        m[i] = 0.9 * m[i] + 0.1 * d;
        v[i] = 0.999 * v[i] + 0.001 * dm::squared_size(d);
        const double size = std::sqrt(v[i].real() / (1 - std::pow(0.999, step)));
        p[i] = p[i] * (1 - 0.1 * 0.01) - 0.1 / (1 - std::pow(0.9, step)) * m[i] / (size + 1e-8);
      }
      optimizer(x, gradient, first);
      optimizer(y, turned(gradient), second);
    }
    double worst = 0;
    for (std::size_t i = 0; i < p.size(); ++i)
      worst = std::max({worst, size_of(test_support::on_host(x)[i] - p[i]),
                        size_of(test_support::on_host(y)[i] - p[i] * C(0.6, 0.8))});
    CHECK(worst < 1e-12);
    CHECK(size_of(p[0] - test_support::on_host(waves<T>(g, 0.9))[0]) > 0.01);
  });
}

TEST_CASE("the norm of complex gradients is that of real and imaginary parts") {
  on_grids([](const dm::grid<pod>& g) {
    network<model> p{waves<X<model, pixel, hidden>>(g, 0.7), waves<X<model, hidden>>(g, 0.4),
                     waves<X<model, hidden>>(g, 0.2)};
    double sum = 0;
    const auto add = [&sum](const auto& z) {
      sum += dm::value(dm::complete(dm::sum(dm::norm2(z))));
    };
    add(p.w), add(p.b), add(p.c);
    CHECK(dm::clip_by_global_norm(p, 0.5) == doctest::Approx(std::sqrt(sum)));
    CHECK(dm::global_norm(p) == doctest::Approx(0.5));
    CHECK(dm::global_norm(dm::cast<dm::complex_of<float>>(p.b)) ==
          doctest::Approx(dm::global_norm(p.b)));
  });
}

}  // namespace
