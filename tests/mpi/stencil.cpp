// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4 6
// options: -O1
#include "dimesh/op/stencil.hpp"

#include <doctest/doctest.h>

#include "dimesh/create.hpp"
#include "dimesh/element/bfloat16.hpp"
#include "dimesh/element/half.hpp"
#include "dimesh/grad/complete.hpp"
#include "dimesh/grad/value_and_grad.hpp"
#include "dimesh/op/einsum.hpp"
#include "dimesh/op/functions.hpp"
#include "dimesh/op/halo_exchange.hpp"
#include "dimesh/op/reduce.hpp"
#include "dimesh/op/stencil_exchange.hpp"
#include "dimesh/op/value.hpp"
#include "support/host.hpp"
#include "support/movement.hpp"
#include "support/odd_layouts.hpp"

namespace {
using namespace test_support;
using dimesh::at;
using dimesh::boundary;

/// The value of an array that wraps around, or has zeros around it.
double around(const array& a, const extents& index, index_t down, index_t right, boundary ends) {
  index_t i = index[0] + down, j = index[1] + right;
  const index_t m = a.size[0], n = a.size[1];
  if (ends == boundary::periodic) i = (i + m) % m, j = (j + n) % n;
  return i < 0 || j < 0 || i >= m || j >= n ? 0 : value_at(a, a.dims, {i, j});
}

struct laplace {
  template <class U> auto operator()(const U& u) const {
    return at<p>(u, -1) + at<p>(u, 1) + at<q>(u, -1) + at<q>(u, 1) - 4.0 * at<>(u);
  }
};
struct products {  // nonlinear, over a corner, and with an operand that has one dim only
  template <class U, class C> auto operator()(const U& u, const C& c) const {
    return at<p, q>(u, -1, 1) * at<p, q>(u, 1, 0) + at<>(c) * at<q>(u, -2);
  }
};

TEST_CASE("stencil: a function of an element and its neighbours") {
  for (const boundary ends : {boundary::zero, boundary::periodic})
    for_each_case<plane, unevenly, p, q>({{5, 6}, {3, 2}}, [ends](auto v, const array& a) {
      const auto f = [ends](const auto& u) {
        return dimesh::stencil(laplace{}, dimesh::halo_exchange<1, p, q>(u, ends));
      };
      const auto y = f(v);
      static_assert(std::is_same_v<std::remove_const_t<decltype(y)>, decltype(v)>);
      CHECK(agrees(y, make(a.dims, a.size, [&](const extents& i) {
                     return around(a, i, -1, 0, ends) + around(a, i, 1, 0, ends) +
                            around(a, i, 0, -1, ends) + around(a, i, 0, 1, ends) -
                            4 * around(a, i, 0, 0, ends);
                   })));
      check_movement(f, a, v);
    });
}

TEST_CASE("stencil of several operands: products, corners, an operand without a dim") {
  for_each_grid<plane>([](const dimesh::grid<plane>& g) {
    using L = dimesh::layout<plane, dimesh::split<dimesh::uneven<p>, x>,
                             dimesh::split<dimesh::uneven<q>, y>>;
    const array a = numbers({"p", "q"}, {5, 7}, 1), b = numbers({"q"}, {7}, 2),
                c = numbers({"p"}, {5}, 3);
    const auto u = scattered<dimesh::tensor<double, L, p, q>>(g, a);
    const auto run = [](const auto& t, const auto& w) {
      return dimesh::stencil(products{},
                             dimesh::halo_exchange<2, q>(dimesh::halo_exchange<1, p>(t)), w);
    };
    const auto want = [&](const array& w) {
      return make(a.dims, a.size, [&](const extents& i) {
        return around(a, i, -1, 1, boundary::zero) * around(a, i, 1, 0, boundary::zero) +
               value_at(w, a.dims, i) * around(a, i, 0, -2, boundary::zero);
      });
    };
    const auto by_q = scattered<dimesh::tensor<double, L, q>>(g, b);
    const auto by_p = scattered<dimesh::tensor<double, L, p>>(g, c);
    CHECK(agrees(run(u, by_q), want(b)));
    CHECK(agrees(run(u, by_p), want(c)));
    for (const bool once : {false, true}) {
      auto r = run_adjoint(run, once, 1, {a, b}, u, by_q);
      CHECK(r.tangent == r.cotangent);
      r = run_adjoint(run, once, 1, {a, c}, u, by_p);
      CHECK(r.tangent == r.cotangent);
    }
  });
}

TEST_CASE("stencil in one dim and in three") {
  for_each_grid<line>([](const dimesh::grid<line>& g) {
    using L = dimesh::layout<line, dimesh::split<dimesh::uneven<p>, x>>;
    const array a = numbers({"p"}, {9}, 1);
    const auto u = scattered<dimesh::tensor<double, L, p>>(g, a);
    const auto f = [](const auto& t) {
      return dimesh::stencil([](const auto& v) { return at<p>(v, 2) - at<>(v); },
                             dimesh::halo_exchange<2, p>(t));
    };
    CHECK(agrees(f(u), make(a.dims, a.size, [&](const extents& i) {
                   return (i[0] + 2 < 9 ? value_at(a, a.dims, {i[0] + 2}) : 0) -
                          value_at(a, a.dims, i);
                 })));
    check_movement(f, a, u);
    // Beside the interior of blocks that are long runs, which MPI reads meanwhile.
    for (const boundary ends : {boundary::zero, boundary::periodic}) {
      const auto run = scattered<dimesh::tensor<double, L, p>>(g, numbers({"p"}, {300}, 1));
      const auto h = dimesh::halo_exchange<2, p>(run, ends);
      const auto step = [](const auto& v) { return at<p>(v, 2) - at<>(v); };
      const auto y = dimesh::stencil_exchange(step, ends, h);
      const auto meanwhile = dimesh::stencil_exchange(step, dimesh::beside_interior(ends), h);
      CHECK(std::equal(test_support::on_host(y).data(),
                       test_support::on_host(y).data() + y.local_size(),
                       test_support::on_host(meanwhile).data()));
    }

    const array b = numbers({"p", "q", "r"}, {4, 3, 5}, 1);
    const auto w = scattered<dimesh::tensor<double, L, p, q, r>>(g, b);
    const auto diagonal = [](const auto& t) {
      return dimesh::stencil([](const auto& v) { return at<p, q, r>(v, 1, -1, 1); },
                             dimesh::halo_exchange<1, p, q, r>(t));
    };
    CHECK(agrees(diagonal(w), make(b.dims, b.size, [&](const extents& i) {
                   const extents n{i[0] + 1, i[1] - 1, i[2] + 1};
                   return n[0] < 4 && n[1] >= 0 && n[2] < 5 ? value_at(b, b.dims, n) : 0;
                 })));
    check_movement(diagonal, b, w);
  });
}

TEST_CASE("stencil_exchange: a stencil, and halos around its result") {
  for (const boundary ends : {boundary::zero, boundary::periodic})
    for_each_case<plane, unevenly, p, q>({{5, 6}, {8, 3}, {3, 40}}, [ends](auto v, const array& a) {
      const auto u = dimesh::halo_exchange<1, q>(dimesh::halo_exchange<2, p>(v, ends), ends);
      census::reset();
      const auto y = dimesh::stencil_exchange(laplace{}, ends, u);
      const auto seen = census::snapshot();
      census::reset();
      const auto meanwhile = dimesh::stencil_exchange(laplace{}, dimesh::beside_interior(ends), u);
      CHECK(census::snapshot() == seen);
      CHECK(std::equal(test_support::on_host(y).data(),
                       test_support::on_host(y).data() + y.local_size(),
                       test_support::on_host(meanwhile).data()));
      const auto z = dimesh::halo_exchange<1, q>(
          dimesh::halo_exchange<2, p>(dimesh::stencil(laplace{}, u), ends), ends);
      static_assert(std::is_same_v<decltype(y), decltype(z)>);
      CHECK(std::equal(test_support::on_host(y).data(),
                       test_support::on_host(y).data() + y.local_size(),
                       test_support::on_host(z).data()));
      dimesh::detail::tally foreseen;
      (void)dimesh::stencil_exchange(laplace{}, ends, test_support::detail::shape_of(u, &foreseen));
      if (v.grid().rank() == 0) CHECK(test_support::detail::misjudged(seen, foreseen, true) == "");
      check_movement(
          [ends](const auto& t) {
            const auto h = dimesh::halo_exchange<1, p, q>(t, ends);
            return dimesh::stencil(laplace{}, dimesh::stencil_exchange(laplace{}, ends, h));
          },
          a, v);
    });
}

/// As it is for blocks whose lengths follow from arithmetic; edges that come from afar, too.
template <class L> void check_odd(const odd::maker& make, boundary ends) {
  using X = dimesh::tensor<double, L, p, q>;
  if (!comes_out_even<dimesh::spec_of<X>>(make.g, {odd::ps, odd::qs})) return;
  const array a = numbers({"p", "q"}, {odd::ps, odd::qs}, 3);
  const auto v =
      make.with_cuts<p, q>([&](const auto&... cuts) { return scattered<X>(make.g, a, cuts...); });
  const auto halos = [ends](const auto& t) { return dimesh::halo_exchange<1, p, q>(t, ends); };
  const auto twice = [=](const auto& t) {
    return dimesh::stencil(laplace{}, dimesh::stencil_exchange(laplace{}, ends, halos(t)));
  };
  const auto once = [ends](const array& b) {
    return test_support::make(b.dims, b.size, [&](const extents& i) {
      return around(b, i, -1, 0, ends) + around(b, i, 1, 0, ends) + around(b, i, 0, -1, ends) +
             around(b, i, 0, 1, ends) - 4 * value_at(b, b.dims, i);
    });
  };
  CHECK(agrees(twice(v), once(once(a))));
  const auto u = halos(v), y = dimesh::stencil_exchange(laplace{}, ends, u),
             z = halos(dimesh::stencil(laplace{}, u)),
             beside = dimesh::stencil_exchange(laplace{}, dimesh::beside_interior(ends), u);
  const auto same = [&y](const auto& other) {
    return y.local_size() == other.local_size() &&
           std::equal(on_host(y).data(), on_host(y).data() + y.local_size(), on_host(other).data());
  };
  CHECK(same(z));
  CHECK(same(beside));
  const verdict costs = costs_as_foreseen(
      [ends](const auto& t) { return dimesh::stencil_exchange(laplace{}, ends, t); }, u);
  if (make.g.rank() == 0) CHECK(costs);  // others may have longer blocks, and send more
  check_movement(twice, a, v);
}

TEST_CASE("stencil_exchange: blocks of any lengths, none too, and at one place") {
  using dimesh::layout, dimesh::placed, dimesh::ragged, dimesh::split, dimesh::uneven;
  for (const boundary ends : {boundary::zero, boundary::periodic})
    for_each_grid<plane>([ends](const dimesh::grid<plane>& g) {
      const odd::maker make(g);
      check_odd<layout<plane, split<ragged<p>, x>>>(make, ends);
      check_odd<layout<plane, split<ragged<q>, y, x>>>(make, ends);
      check_odd<layout<plane, split<ragged<p>, y>, split<ragged<q>, x>>>(make, ends);
      check_odd<layout<plane, split<uneven<p>, x>, placed<y, 1>>>(make, ends);
      check_odd<layout<plane, split<ragged<q>, y>, placed<x, 0>>>(make, ends);
    });
}

struct upwind {  // sees what lies before along p, and behind along q
  template <class U> auto operator()(const U& u) const {
    return at<p>(u, -1) * 2.0 + at<q>(u, 2) - at<>(u);
  }
};
constexpr layout_choice some_layouts{.partial = false, .uneven = true, .stride = 3, .first = 1};

TEST_CASE("stencil, stencil_exchange: halos on the sides that are looked at") {
  using dimesh::halo;
  for (const boundary ends : {boundary::zero, boundary::periodic})
    for_each_case<plane, some_layouts, p, q>({{5, 6}, {3, 40}}, [ends](auto v, const array& a) {
      const auto halos = [ends](const auto& t) {
        return dimesh::halo_exchange<halo<p, 1, 0>, halo<q, 0, 2>>(t, ends);
      };
      const auto f = [halos](const auto& t) { return dimesh::stencil(upwind{}, halos(t)); };
      CHECK(agrees(f(v), make(a.dims, a.size, [&](const extents& i) {
                     return 2 * around(a, i, -1, 0, ends) + around(a, i, 0, 2, ends) -
                            value_at(a, a.dims, i);
                   })));
      check_movement(f, a, v);
      const auto u = halos(v), y = dimesh::stencil_exchange(upwind{}, ends, u),
                 beside = dimesh::stencil_exchange(upwind{}, dimesh::beside_interior(ends), u),
                 z = halos(f(v));
      static_assert(std::is_same_v<decltype(y), decltype(z)>);
      const auto same = [&y](const auto& other) {
        return std::equal(on_host(y).data(), on_host(y).data() + y.local_size(),
                          on_host(other).data());
      };
      CHECK(same(beside));
      CHECK(same(z));
      check_movement([=](const auto& t) { return f(dimesh::stencil(upwind{}, halos(t))); }, a, v);
    });
}

TEST_CASE("stencil: what a halo on one side does not hold") {
  for_each_grid<plane>([](const dimesh::grid<plane>& g) {
    using L = dimesh::layout<plane, dimesh::split<dimesh::uneven<p>, x>>;
    const auto u = dimesh::halo_exchange<dimesh::halo<p, 0, 2>>(
        scattered<dimesh::tensor<double, L, p, q>>(g, numbers({"p", "q"}, {8, 3}, 1)));
    const auto back = [](const auto& v) { return at<p>(v, 2) - at<p>(v, -1); };
    CHECK_THROWS_WITH_AS((void)dimesh::stencil(back, u),
                         doctest::Contains("at -1 along p, and blocks carry a halo of 0 before "
                                           "them; exchange one of 1"),
                         dimesh::error);
    const auto far = [](const auto& v) { return at<p>(v, 3); };
    CHECK_THROWS_WITH_AS((void)dimesh::stencil(far, u),
                         doctest::Contains("a halo of 2 after them; exchange one of 3"),
                         dimesh::error);
  });
}

/// f, two halos wide, of u and of what else there is; its squared norm, over 8.
template <class F> struct energy {
  template <class P> constexpr auto operator()(const P& all) const {
    return std::apply(
        [](const auto& u, const auto&... more) {
          const auto y =
              dimesh::stencil(F{}, dimesh::halo_exchange<2, p, q>(u, boundary::periodic), more...);
          return dimesh::complete(dimesh::einsum<>(y, y)) * 0.125;
        },
        all);
  }
};
/// The squared norm of the gradient of that.
template <class F> struct squared_gradient {
  template <class P> constexpr auto operator()(const P& all) const {
    const auto found = dimesh::complete(dimesh::value_and_grad(energy<F>{}, all)());
    return std::apply(
        [](const auto&... g) { return (dimesh::complete(dimesh::einsum<>(g, g)) + ...); },
        found.gradient);
  }
};
template <class F, class... X> void check_twice(const std::tuple<X...>& all) {
  const auto found = dimesh::complete(dimesh::value_and_grad(squared_gradient<F>{}, all)());
  const auto moved = [&](double by) {
    return std::apply(
        [by](const auto&... v) { return std::tuple(v + dimesh::sin(v * 3.0) * by...); }, all);
  };
  const double slope = std::apply(
      [&](const auto&... v) {
        return std::apply(
            [&](const auto&... g) {
              return (dimesh::value(dimesh::complete(dimesh::einsum<>(g, dimesh::sin(v * 3.0)))) +
                      ...);
            },
            found.gradient);
      },
      all);
  const auto at = [&](double by) { return dimesh::value(squared_gradient<F>{}(moved(by))); };
  const double h = 1e-4;
  CHECK(std::abs(slope) > 1e-2);
  CHECK(slope == doctest::Approx((at(h) - at(-h)) / (2 * h)).epsilon(1e-6));
}

struct waves {  // curved in every neighbour, and in products of two operands' neighbours
  template <class U, class... C> auto operator()(const U& u, const C&... c) const {
    return dimesh::tanh(at<p, q>(u, -1, 1)) * at<p>(u, 2) * (at<>(c) + ... + 1.0) +
           dimesh::square(at<q>(u, -1)) * at<>(u);
  }
};

TEST_CASE("stencil: gradients of gradients") {
  for_each_grid<plane>([](const dimesh::grid<plane>& g) {
    using L = dimesh::layout<plane, dimesh::split<dimesh::uneven<p>, x>,
                             dimesh::split<dimesh::uneven<q>, y>>;
    const auto tenth = [](const auto& v) { return v * 0.1; };
    const auto u =
        tenth(scattered<dimesh::tensor<double, L, p, q>>(g, numbers({"p", "q"}, {5, 7}, 1)));
    const auto w =
        tenth(scattered<dimesh::tensor<double, L, q, p>>(g, numbers({"q", "p"}, {7, 5}, 2)));
    const auto by_q = tenth(scattered<dimesh::tensor<double, L, q>>(g, numbers({"q"}, {7}, 3)));
    const auto by_p = tenth(scattered<dimesh::tensor<double, L, p>>(g, numbers({"p"}, {5}, 4)));
    check_twice<laplace>(std::tuple(u));
    check_twice<waves>(std::tuple(u));
    check_twice<waves>(std::tuple(u, by_q));
    check_twice<waves>(std::tuple(w, by_p, u));
  });
}

struct stored_points {  // a variable without a dim, whose cotangent is a long sum
  template <class U, class C> auto operator()(const U& u, const C& c) const {
    return at<p>(u, -1) - at<p>(u, 1) + at<>(c) * at<>(u);
  }
};
template <class T, class G> void check_stored(const G& g) {
  using L = dimesh::layout<plane, dimesh::split<dimesh::uneven<p>, x>,
                           dimesh::split<dimesh::uneven<q>, y>>;
  const auto u = dimesh::constant<dimesh::tensor<T, L, p, q>>(g, 1, p{5}, q{300});
  const auto c = dimesh::constant<dimesh::tensor<T, L, p>>(g, 3, p{5});
  const auto points = [](const auto& v, const auto& by) {
    return dimesh::stencil(stored_points{}, dimesh::halo_exchange<1, p>(v), by);
  };
  const auto ends = [](double first, double inside, double last) {
    return [=](const extents& i) { return i[0] == 0 ? first : i[0] == 4 ? last : inside; };
  };
  const auto y = points(u, c);
  static_assert(std::is_same_v<std::remove_const_t<decltype(y)>, std::remove_const_t<decltype(u)>>);
  CHECK(agrees(y, make({"p", "q"}, {5, 300}, ends(2, 3, 4))));
  const auto [value, gradient] = dimesh::complete(dimesh::value_and_grad(
      [&](const auto& all) { return dimesh::sum<float>(std::apply(points, all)); },
      std::tuple(u, c))());
  CHECK(agrees(std::get<0>(gradient), make({"p", "q"}, {5, 300}, ends(4, 3, 2))));
  CHECK(agrees(std::get<1>(gradient), make({"p"}, {5}, [](const extents&) { return 300; })));
}
TEST_CASE("stencil of bfloat16 and half: computed in float, and their gradients") {
  for_each_grid<plane>([](const dimesh::grid<plane>& g) {
    check_stored<dimesh::bfloat16>(g);
    check_stored<dimesh::half>(g);
  });
}

TEST_CASE("stencil: nothing is read beyond the halo") {
  for_each_grid<plane>([](const dimesh::grid<plane>& g) {
    using L = dimesh::layout<plane, dimesh::split<dimesh::uneven<p>, x>>;
    const auto u = dimesh::halo_exchange<1, p>(
        scattered<dimesh::tensor<double, L, p, q>>(g, numbers({"p", "q"}, {8, 3}, 1)));
    const auto two_on = [](const auto& v) { return at<p>(v, 2) + at<>(v); };
    const auto two_back = [](const auto& v) { return at<p>(v, 1) - at<p>(v, -2); };
    CHECK_THROWS_WITH_AS((void)dimesh::stencil(two_on, u),
                         doctest::Contains("stencil: the function reads the neighbour at 2 along"),
                         dimesh::error);
    CHECK_THROWS_WITH_AS((void)dimesh::stencil(two_back, u),
                         doctest::Contains("blocks carry a halo of 1; exchange one of 2"),
                         dimesh::error);
  });
}

}  // namespace
