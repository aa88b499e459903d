// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4 6
// labels: device
// Contractions of operands that einsum refuses, by every schedule: blocks of the right values, on
// every shape of the mesh, uneven and empty blocks among them; transposes; and the bytes foreseen.
#include "dimesh/op/contract.hpp"

#include <doctest/doctest.h>

#include "dimesh/grad/cost.hpp"
#include "dimesh/op/complex.hpp"
#include "dimesh/op/parts/contract_call.hpp"
#include "dimesh/op/parts/panels.hpp"
#include "dimesh/op/parts/schedules.hpp"
#include "support/adjoint.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
namespace by = dm::by;

template <class D, class A> using cut = dm::split<dm::uneven<D>, A>;
template <class M, class... R> using L = dm::layout<M, R...>;

/// Extents of p, q, r.
const std::vector<extents> sizes = {{5, 4, 3}, {1, 7, 2}, {0, 3, 2},
                                    {3, 0, 2}, {2, 9, 6}, {2, 6, 3}};

template <class Schedule, class LX, class LY, class Grid> void check_schedule(const Grid& g) {
  INFO("schedule ", std::string(dm::detail::spelled<Schedule>()));
  INFO("layouts ", std::string(dm::detail::spelled<LX>()), std::string(dm::detail::spelled<LY>()));
  for (const extents& n : sizes) {
    const array a = numbers({"p", "q"}, {n[0], n[1]}, 1), b = numbers({"q", "r"}, {n[1], n[2]}, 2);
    const auto v = scattered<dm::tensor<double, LX, p, q>>(g, a);
    const auto w = scattered<dm::tensor<double, LY, q, r>>(g, b);
    const auto f = [](const auto& i, const auto& j) { return dm::contract<Schedule, r, p>(i, j); };
    CHECK(agrees(f(v, w), einsum({"r", "p"}, {a, b})));
    check_operation(f, {}, {a, b}, v, w);
  }
}
template <class M, class LX, class LY, class... Schedule> void check_schedules() {
  for_each_grid<M>([](const dm::grid<M>& g) { (check_schedule<Schedule, LX, LY>(g), ...); });
}

TEST_CASE("two free dims want one axis") {
  check_schedules<line, L<line, cut<p, x>>, L<line, cut<r, x>>, by::ring<x>, by::gather,
                  by::best<>>();
}
TEST_CASE("an axis splits a free dim here, the summed dim there") {
  check_schedules<line, L<line, cut<q, x>>, L<line, cut<r, x>>, by::ring<x>, by::gather>();
}
struct few : dm::dim<6> {};
struct many : dm::dim<60> {};
TEST_CASE("the first operand goes round, over one rank, too") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    const array a = numbers({"few", "q"}, {6, 4}, 1), b = numbers({"q", "many"}, {4, 60}, 2);
    const auto v = scattered<dm::tensor<double, L<line, cut<few, x>>, few, q>>(g, a);
    const auto w = scattered<dm::tensor<double, L<line, cut<many, x>>, q, many>>(g, b);
    const auto f = [](const auto& i, const auto& j) {
      return dm::contract<by::ring<x>, few, many>(i, j);
    };
    CHECK(agrees(f(v, w), einsum({"few", "many"}, {a, b})));
    check_operation(f, {}, {a, b}, v, w);
  });
}
TEST_CASE("by best where nothing fits, the operand goes round that the run finds smaller") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    for (const extents& n : {extents{60, 4, 6}, extents{6, 4, 60}}) {
      const array a = numbers({"p", "q"}, {n[0], n[1]}, 1),
                  b = numbers({"q", "r"}, {n[1], n[2]}, 2);
      const auto v = scattered<dm::tensor<double, L<line, cut<p, x>>, p, q>>(g, a);
      const auto w = scattered<dm::tensor<double, L<line, cut<r, x>>, q, r>>(g, b);
      const auto f = [](const auto& i, const auto& j) {
        return dm::contract<by::best<L<line, cut<p, x>>, 1>, p, r>(i, j);
      };
      CHECK(agrees(f(v, w), einsum({"p", "r"}, {a, b})));
      check_operation(f, {}, {a, b}, v, w);
      dm::event_list all;
      dm::count_to(all, f, v, w);
      dm::index_t sent = 0;
      for (const dm::event& e : all.events) sent += e.kind == dm::event_kind::message ? e.bytes : 0;
      const dm::index_t ranks = g.ranks();
      CHECK(sent <= (ranks - 1) * ((6 + ranks - 1) / ranks * 4 * 8));
      CHECK(sent >= (ranks > 1 ? 6 * 4 * 8 - (6 + ranks - 1) / ranks * 4 * 8 : 0));
    }
  });
}
TEST_CASE("the summed dim is split in one operand only") {
  check_schedules<line, L<line, cut<q, x>>, L<line>, by::reduce_scatter<dm::uneven<p>, x>,
                  by::gather, by::best<L<line, cut<r, x>>>>();
}
TEST_CASE("blocks of a plane") {
  using LX = L<plane, cut<p, x>, cut<q, y>>;
  using LY = L<plane, cut<q, x>, cut<r, y>>;
  check_schedules<plane, LX, LY, by::summa<x, y, 2>, by::summa<y, x, 3>, by::best<>>();
}
TEST_CASE("the second operand's blocks are turned") {
  using LX = L<plane, cut<q, x>, cut<p, y>>;
  using LY = L<plane, cut<r, x>, cut<q, y>>;
  check_schedules<plane, LX, LY, by::summa<x, y>, by::best<L<plane>, 16>>();
}
TEST_CASE("a spare axis") {
  using LX = L<cube, cut<p, x>, cut<q, y>>;
  using LY = L<cube, cut<q, x>, cut<r, y>>;
  check_schedules<cube, LX, LY, by::summa<x, y, 2, z>>();
}

/// What comes of both parts of a complex tensor, told apart.
struct both_parts {
  template <class Z> auto operator()(const Z& z) const { return dm::real(z) + dm::imag(z) * 2.0; }
};
template <class Schedule, class LX, class LY, class Grid> void check_complex_by(const Grid& g) {
  INFO("schedule ", std::string(dm::detail::spelled<Schedule>()));
  for (const extents& n : {extents{5, 4, 3}, extents{2, 9, 6}, extents{3, 0, 2}}) {
    const array re = numbers({"p", "q"}, {n[0], n[1]}, 1), im = numbers(re.dims, re.size, 2);
    const array to = numbers({"q", "r"}, {n[1], n[2]}, 3), by = numbers(to.dims, to.size, 4);
    const auto dot = [](const array& a, const array& b) { return einsum({"r", "p"}, {a, b}); };
    const auto v = [&](const array& a) { return scattered<dm::tensor<double, LX, p, q>>(g, a); };
    const auto w = [&](const array& a) { return scattered<dm::tensor<double, LY, q, r>>(g, a); };
    const auto product = [](const auto& i, const auto& j, const auto& k, const auto& l) {
      return dm::contract<Schedule, r, p>(dm::as_complex(i, j), dm::as_complex(k, l));
    };
    const auto y = product(v(re), v(im), w(to), w(by));
    const auto less = [](const auto& e) { return e[0] - e[1]; };
    const auto more = [](const auto& e) { return e[0] + e[1]; };
    CHECK(agrees(dm::real(y), map(less, {dot(re, to), dot(im, by)})));
    CHECK(agrees(dm::imag(y), map(more, {dot(re, by), dot(im, to)})));
    check_operation([&](const auto&... part) { return both_parts{}(product(part...)); }, {},
                    {re, im, to, by}, v(re), v(im), w(to), w(by));
  }
}
template <class M, class LX, class LY, class... Schedule> void check_complex() {
  for_each_grid<M>([](const dm::grid<M>& g) { (check_complex_by<Schedule, LX, LY>(g), ...); });
}
TEST_CASE("complex operands by every schedule") {
  check_complex<line, L<line, cut<p, x>>, L<line, cut<r, x>>, by::ring<x>, by::gather,
                by::best<>>();
  check_complex<line, L<line, cut<q, x>>, L<line>, by::reduce_scatter<dm::uneven<p>, x>>();
  check_complex<plane, L<plane, cut<p, x>, cut<q, y>>, L<plane, cut<q, x>, cut<r, y>>,
                by::summa<x, y, 2>>();
}
TEST_CASE("three complex operands") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    const array a = numbers({"p", "q"}, {3, 4}, 1), b = numbers({"q", "r"}, {4, 5}, 2),
                c = numbers({"r", "s"}, {5, 2}, 3);
    const auto u = scattered<dm::tensor<double, L<plane, cut<p, x>, cut<q, y>>, p, q>>(g, a);
    const auto v = scattered<dm::tensor<double, L<plane, cut<q, x>, cut<r, y>>, q, r>>(g, b);
    const auto w = scattered<dm::tensor<double, L<plane, cut<r, x>, cut<s, y>>, r, s>>(g, c);
    const auto product = [](const auto& i, const auto& j, const auto& k) {  // times (1 + 2i)(1 - i)
      return dm::contract<by::best<>, s, p>(dm::as_complex(i, i * 2.0), dm::as_complex(j, -j),
                                            dm::as_complex(k));
    };
    const array right = einsum({"s", "p"}, {einsum({"p", "r"}, {a, b}), c});
    const auto y = product(u, v, w);
    CHECK(agrees(dm::real(y), map([](const auto& e) { return 3 * e[0]; }, {right})));
    CHECK(agrees(dm::imag(y), right));
    check_operation([&](const auto&... t) { return both_parts{}(product(t...)); }, smooth,
                    {a, b, c}, u, v, w);
  });
}

TEST_CASE("three operands and four, whatever their layouts") {
  const auto check = [](const auto& g, auto lx, auto ly, auto lz) {
    using LX = decltype(lx);
    using LY = decltype(ly);
    using LZ = decltype(lz);
    INFO("layouts ", std::string(dm::detail::spelled<LX>()), std::string(dm::detail::spelled<LY>()),
         std::string(dm::detail::spelled<LZ>()));
    for (const extents& n : sizes) {
      const array a = numbers({"p", "q"}, {n[0], n[1]}, 1),
                  b = numbers({"q", "r"}, {n[1], n[2]}, 2), c = numbers({"r", "s"}, {n[2], 4}, 3);
      const auto u = scattered<dm::tensor<double, LX, p, q>>(g, a);
      const auto v = scattered<dm::tensor<double, LY, q, r>>(g, b);
      const auto w = scattered<dm::tensor<double, LZ, r, s>>(g, c);
      const auto f = [](const auto&... t) { return dm::contract<by::best<>, s, p>(t...); };
      const array right = einsum({"s", "p"}, {einsum({"p", "r"}, {a, b}), c});
      CHECK(agrees(f(u, v, w), right));
      check_operation(f, smooth, {a, b, c}, u, v, w);
      const auto under = [](const auto&... t) {
        return dm::contract<by::best<L<plane, cut<q, x>>>, q, p, s>(t...);
      };
      CHECK(agrees(under(u, v, w, v), einsum({"q", "p", "s"}, {a, b, c, b})));
    }
  };
  for_each_grid<plane>([&](const dm::grid<plane>& g) {
    check(g, L<plane, cut<q, x>>{}, L<plane, cut<q, x>>{}, L<plane, cut<s, x>>{});
    check(g, L<plane, cut<p, x>, cut<q, y>>{}, L<plane, cut<q, x>, cut<r, y>>{},
          L<plane, cut<r, x>, cut<s, y>>{});
    check(g, L<plane, cut<q, x>>{}, L<plane>{}, L<plane, cut<r, y>>{});  // of two, one is cut
  });
}

// ---- addends ------------------------------------------------------------------------------------

/// Every layout of [p, q] with addends, some of [q, r] and of [r, s], as values.
constexpr layout_choice summed{.partial = true, .uneven = true};
constexpr layout_choice some_summed{.partial = true, .uneven = true, .stride = 2};
constexpr layout_choice few_summed{.partial = true, .uneven = true, .stride = 5, .first = 3};

TEST_CASE("operands that are yet to be summed, whatever the layouts of the others") {
  using here = dm::layout<plane, dm::held_at_run_time>;
  const array a = numbers({"p", "q"}, {5, 4}, 1), b = numbers({"q", "r"}, {4, 3}, 2),
              c = numbers({"r", "s"}, {3, 2}, 3);
  const array two = einsum({"r", "p"}, {a, b}), right = einsum({"s", "p"}, {two, c});
  int turn = 0;
  for_each_grid<plane>([&](const dm::grid<plane>& g) {
    for_each_layout_value<plane, dm::detail::list<p, q>, summed>([&](auto) {
      const auto u = scattered<dm::tensor<double, here, p, q>>(g, a);
      for_each_layout_value<plane, dm::detail::list<q, r>, some_summed>([&](auto) {
        const auto v = scattered<dm::tensor<double, here, q, r>>(g, b);
        const auto pair = [](const auto&... t) { return dm::contract<by::best<>, r, p>(t...); };
        CHECK(agrees(pair(u, v), two));
        if (++turn % 3 == 0) check_operation(pair, smooth, {a, b}, u, v);
        for_each_layout_value<plane, dm::detail::list<r, s>, few_summed>([&](auto) {
          const auto w = scattered<dm::tensor<double, here, r, s>>(g, c);
          const auto f = [](const auto&... t) { return dm::contract<by::best<>, s, p>(t...); };
          CHECK(agrees(f(u, v, w), right));
          if (++turn % 7 == 0) check_operation(f, smooth, {a, b, c}, u, v, w);
        });
      });
    });
  });
}

TEST_CASE("operands that are yet to be summed, as types: summed, or carried to the end") {
  using sums = dm::partial<x>;
  const auto check = [](const auto& g, auto lx, auto ly, auto lz) {
    INFO("layouts ", std::string(dm::detail::spelled<decltype(lx)>()),
         std::string(dm::detail::spelled<decltype(ly)>()),
         std::string(dm::detail::spelled<decltype(lz)>()));
    const array a = numbers({"p", "q"}, {5, 4}, 1), b = numbers({"q", "r"}, {4, 3}, 2),
                c = numbers({"r", "s"}, {3, 4}, 3);
    const auto u = scattered<dm::tensor<double, decltype(lx), p, q>>(g, a);
    const auto v = scattered<dm::tensor<double, decltype(ly), q, r>>(g, b);
    const auto w = scattered<dm::tensor<double, decltype(lz), r, s>>(g, c);
    const auto f = [](const auto&... t) { return dm::contract<by::best<>, s, p>(t...); };
    const array right = einsum({"s", "p"}, {einsum({"p", "r"}, {a, b}), c});
    CHECK(agrees(f(u, v, w), right));
    check_operation(f, smooth, {a, b, c}, u, v, w);
    const auto held = [](const auto&... t) {
      return dm::contract<by::best<L<plane, sums, cut<p, y>>>, s, p>(t...);
    };
    CHECK(agrees(held(u, v, w), right));
    check_operation(held, smooth, {a, b, c}, u, v, w);
  };
  for_each_grid<plane>([&](const dm::grid<plane>& g) {
    check(g, L<plane, sums>{}, L<plane>{}, L<plane, cut<s, y>>{});
    check(g, L<plane, cut<p, y>>{}, L<plane, sums>{}, L<plane, cut<r, y>>{});
    check(g, L<plane, sums, cut<q, y>>{}, L<plane, sums>{}, L<plane, dm::partial<y>>{});
  });
}

}  // namespace
