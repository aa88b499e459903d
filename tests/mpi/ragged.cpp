// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4
// Blocks of any lengths, empty ones anywhere and none of them special: in every layout the values
// of a whole array, moves to and from even, uneven and other ragged blocks, transposes, and MPI's
// bytes as foreseen; and cuts that do not fit.
#include <dimesh/dimesh.hpp>

#include <doctest/doctest.h>

#include "dimesh/layout/layout_set.hpp"
#include "dimesh/op/cuts.hpp"
#include "dimesh/op/gather.hpp"
#include "dimesh/show/picture.hpp"
#include "support/adjoint.hpp"
#include "support/movement.hpp"
#include "support/places.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
using dm::ragged;

/// n elements in as many blocks as there are ranks. 0: all in the last one; 1: none in the first,
/// ever more behind; 2: every other one is empty; 3: none has any but the first.
template <class D, class Grid> dm::cuts<D> cut_up(const Grid& g, index_t n, int pattern) {
  const auto blocks = static_cast<index_t>(g.everyone().size());
  std::vector<double> weight;
  for (index_t i = 0; i < blocks; ++i)
    weight.push_back(pattern == 0   ? i + 1 == blocks
                     : pattern == 1 ? static_cast<double>(blocks == 1 ? 1 : i)
                     : pattern == 2 ? static_cast<double>(blocks == 1 || i % 2 == 1)
                                    : i == 0);
  return dm::cuts_by_speed<D>(n, weight);
}
constexpr int patterns = 4;

template <class X, class Grid> X cut_tensor(const Grid& g, const array& a, int pattern) {
  return scattered<X>(g, a, cut_up<p>(g, a.size[0], pattern), cut_up<q>(g, a.size[1], pattern));
}

constexpr layout_choice raggedly{.ragged = true};
constexpr layout_choice raggedly_with_partial{.partial = true, .ragged = true};
constexpr layout_choice some_raggedly{.ragged = true, .stride = 2};
constexpr layout_choice some_unevenly{.uneven = true, .stride = 2, .first = 1};

TEST_CASE("ragged: what a rank holds, whole tensors, and operations that move nothing") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    for_each_layout<plane, dm::detail::list<p, q>, raggedly_with_partial>([&](auto t) {
      using X = dm::tensor<double, typename decltype(t)::type, p, q>;
      INFO("layout ", std::string(dm::detail::spelled<typename decltype(t)::type>()));
      for (int k = 0; k < patterns; ++k)
        for (const extents& n : {extents{7, 5}, extents{0, 3}, extents{1, 6}}) {
          const array a = numbers({"p", "q"}, n, 1);
          const X v = cut_tensor<X>(g, a, k);
          CHECK(agrees(v, a));
          CHECK(agrees(v + v, map([](const auto& e) { return 2 * e[0]; }, {a})));
          CHECK(agrees(dm::sum<q>(v), sum({"p"}, a)));
          CHECK(agrees(dm::sum<p>(v), sum({"q"}, a)));
          CHECK(agrees(dm::zeros_like(v) + v, a));
          const auto whole = dm::to_rank(v);
          if (g.rank() == 0) CHECK(std::equal(whole.begin(), whole.end(), a.values.begin()));
          if (n[1] != 5) continue;
          for (const dm::index_t i : {0, 3, 6})
            CHECK(dm::broadcast_element(v, {i, i % 5}) ==
                  a.values[static_cast<std::size_t>(5 * i + i % 5)]);
        }
    });
  });
}

TEST_CASE("ragged: from any layout to any other, and to even and uneven blocks and back") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    for_each_layout<plane, dm::detail::list<p, q>, raggedly_with_partial>([&](auto t) {
      using X = dm::tensor<double, typename decltype(t)::type, p, q>;
      const auto check = [&](auto s) {
        using L = typename decltype(s)::type;
        INFO(std::string(dm::detail::spelled<typename X::layout_type>()), " to ",
             std::string(dm::detail::spelled<L>()));
        for (int k = 0; k < patterns; ++k) {
          const array a = numbers({"p", "q"}, {7, 5}, 1);
          const auto y = dm::relayout<L>(cut_tensor<X>(g, a, k));
          CHECK(agrees(y, a));
          if constexpr (!dm::spec_of<X>::table.any_partial())
            CHECK(agrees(dm::relayout<typename X::layout_type>(y), a));
        }
      };
      for_each_layout<plane, dm::detail::list<p, q>, some_raggedly>(check);
      for_each_layout<plane, dm::detail::list<p, q>, some_unevenly>(check);
    });
  });
}

TEST_CASE("ragged: to finer blocks of any kind, where there are no finer cuts") {
  for_each_grid<cube>([](const dm::grid<cube>& g) {
    const array a = numbers({"p", "q"}, {7, 5}, 1);
    std::vector<index_t> lengths(static_cast<std::size_t>(g.size<x>()), 0);
    lengths.front() += 3;
    lengths.back() += 4;
    const auto check = [&]<class From, class... To>(dm::layout_tag<From>, dm::layout_tag<To>...) {
      const auto v = scattered<dm::tensor<double, From, p, q>>(g, a, dm::cuts<p>(lengths));
      const auto to = [&](const auto& y) { CHECK(agrees(y, a)); };
      (to(dm::relayout<To>(v)), ...);
    };
    using finer = dm::layout<cube, dm::split<dm::uneven<p>, x, y>>;
    using other = dm::layout<cube, dm::split<dm::uneven<p>, y, x>>;
    using third = dm::layout<cube, dm::split<dm::uneven<p>, z, x>, dm::split<dm::uneven<q>, y>>;
    const dm::layout_tag<finer> to_finer;
    const dm::layout_tag<other> to_other;
    const dm::layout_tag<third> to_third;
    using one = dm::layout<cube, dm::split<ragged<p>, x>, dm::partial<y>>;
    using two = dm::layout<cube, dm::split<ragged<p>, x>, dm::partial<y>, dm::partial<z>>;
    check(dm::layout_tag<one>{}, to_finer, to_other, to_third);
    check(dm::layout_tag<two>{}, to_finer, to_other, to_third);
  });
}

TEST_CASE("ragged: transposes of moves, and their bytes") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    using R = dm::layout<line, dm::split<ragged<p>, x>>;
    using U = dm::layout<line, dm::split<dm::uneven<p>, x>>;
    using Q = dm::layout<line, dm::split<ragged<q>, x>>;
    using W = dm::layout<line>;
    const array a = numbers({"p", "q"}, {7, 5}, 1);
    for (int k = 0; k < patterns; ++k) {
      const auto v = cut_tensor<dm::tensor<double, R, p, q>>(g, a, k);
      const auto u = cut_tensor<dm::tensor<double, U, p, q>>(g, a, k);
      const auto w = cut_tensor<dm::tensor<double, W, p, q>>(g, a, k);
      const auto s =
          cut_tensor<dm::tensor<double, dm::layout<line, dm::partial<x>>, p, q>>(g, a, k);
      const auto gather = [](const auto& i) { return dm::all_gather<x>(i); };
      const auto own = [](const auto& i) { return dm::own<ragged<p>, x>(i); };
      const auto scatter = [](const auto& i) { return dm::reduce_scatter<ragged<p>, x>(i); };
      const auto turn = [](const auto& i) { return dm::all_to_all<p, ragged<q>, x>(i); };
      const auto even = [](const auto& i) { return dm::relayout<U>(i); };
      const auto back = [](const auto& i) { return dm::relayout<R>(i); };
      CHECK(agrees(gather(v), a));
      CHECK(agrees(own(w), a));
      CHECK(agrees(scatter(s), a));
      CHECK(agrees(turn(v), a));
      check_operation(gather, {}, {a}, v);
      check_operation(own, {}, {a}, w);
      check_operation(scatter, {}, {a}, s);
      check_operation(turn, {}, {a}, v);
      check_operation(even, {}, {a}, v);
      check_operation(back, {}, {a}, u);
      check_operation([](const auto& i) { return dm::relayout<Q>(i); }, {}, {a}, u);
    }
  });
}

struct no_sink final : dm::event_sink {
  void take(const dm::event&) override {}
};
/// The gradient by v of the sum of squares of f(v).
template <class F, class V> V squares_gradient(const F& f, const V& v) {
  const auto loss = [&f](const auto& i) {
    const auto z = f(i);
    return dm::sum(z * z);
  };
  return dm::value_and_grad(loss, v)().gradient;
}

TEST_CASE("ragged: gradients where what a value met was cut otherwise, or nowhere") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    using R = dm::layout<line, dm::split<ragged<p>, x>>;
    using U = dm::layout<line, dm::split<dm::uneven<p>, x>>;
    using W = dm::layout<line>;
    const array a = numbers({"p", "q"}, {8, 64}, 1), b = numbers({"p", "q"}, {8, 64}, 2);
    const array both = map([](const auto& e) { return 2 * (e[0] + e[1]); }, {a, b});
    const array twice = map([](const auto& e) { return 2 * e[0]; }, {a});
    const auto even = scattered<dm::tensor<double, U, p, q>>(g, b);
    const auto whole = scattered<dm::tensor<double, W, p, q>>(g, b);
    for (int k = 0; k < patterns; ++k) {
      const auto cuts = cut_up<p>(g, 8, k), others = cut_up<p>(g, 8, patterns - 1 - k);
      const auto v = scattered<dm::tensor<double, R, p, q>>(g, a, cuts);
      const auto u = scattered<dm::tensor<double, R, p, q>>(g, b, others);
      const auto ahead = [&](const auto& i) { return dm::relayout<U>(u) + dm::relayout<U>(i); };
      const auto behind = [&](const auto& i) { return dm::relayout<U>(i) + dm::relayout<U>(u); };
      const auto again = [&](const auto& i) {
        return dm::relayout<R>(dm::with_cuts(dm::relayout<U>(i), others));
      };
      const auto beside = [&](const auto& i) { return even + dm::relayout<U>(i); };
      const auto gathered = [&](const auto& i) { return whole + dm::all_gather<x>(i); };
      CHECK(agrees(squares_gradient(ahead, v), both));
      CHECK(agrees(squares_gradient(behind, v), both));
      CHECK(agrees(squares_gradient(again, v), twice));
      CHECK(dm::cuts_of<p>(beside(v)) == cuts);
      CHECK(agrees(squares_gradient(beside, v), both));
      no_sink sink;
      const dm::watch costs_are_asked(sink);
      CHECK(agrees(squares_gradient(gathered, v), both));
      CHECK(agrees(squares_gradient(ahead, v), both));
    }
  });
}

TEST_CASE("ragged: transposes of products, sums, maps and rows of tables") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    for_each_layout<plane, dm::detail::list<p>, raggedly>([&](auto t) {
      using L = typename decltype(t)::type;
      const array a = numbers({"p", "q"}, {7, 3}, 1), b = numbers({"q", "r"}, {3, 4}, 2);
      const array c = numbers({"p", "r"}, {7, 4}, 3);
      for (int k = 0; k < patterns; ++k) {
        const auto cuts = cut_up<p>(g, 7, k);
        const auto v = scattered<dm::tensor<double, L, p, q>>(g, a, cuts);
        const auto w = scattered<dm::tensor<double, L, q, r>>(g, b);
        const auto z = scattered<dm::tensor<double, L, p, r>>(g, c, cuts);
        const auto product = [](const auto& i, const auto& j) { return dm::einsum<p, r>(i, j); };
        const auto inner = [](const auto& i, const auto& j) { return dm::einsum<q, r>(i, j); };
        const auto times = [](const auto& i, const auto& j) {
          return dm::sum<p>(dm::einsum<p, r>(i, j) * dm::einsum<p, r>(i, j));
        };
        CHECK(agrees(product(v, w), einsum({"p", "r"}, {a, b})));
        CHECK(agrees(inner(v, z), einsum({"q", "r"}, {a, c})));
        check_operation(product, {}, {a, b}, v, w);
        check_operation(inner, {}, {a, c}, v, z);
        check_operation(times, precision{1e-3, 1e-5}, {a, b}, v, w);
        const auto rows = [](const auto& i) {
          return dm::take<p>(i, places_beside<dm::layout<plane>, r>(
                                    i, [](index_t e) { return (3 * e + 1) % 7; }, r{4}));
        };
        check_operation(rows, {}, {a}, v);
        const auto place = [](index_t e, index_t j) { return (3 * e + j + 1) % 7; };
        const auto elements = [=](const auto& i) {
          return dm::gather<p, r>(i, places_beside<dm::layout<plane>, r, q>(i, place, r{4}, q{3}));
        };
        CHECK(agrees(elements(v), make({"r", "q"}, {4, 3}, [&](const extents& at) {
                       return value_at(a, a.dims, {place(at[0], at[1]), at[1]});
                     })));
        check_operation(elements, {}, {a}, v);
        const auto ids = dm::generate<dm::tensor<int, L, p, q>>(
            g, [](index_t e, index_t j) { return static_cast<int>((4 * e + j) % 7); }, cuts, q{3});
        CHECK(agrees(dm::scatter_add<p, p>(v, ids), make({"p", "q"}, {7, 3}, [&](extents at) {
                       at[0] = 2 * (at[0] - at[1] + 7) % 7;  // 4 * 2 = 1 modulo 7
                       return value_at(a, a.dims, at);
                     })));
      }
    });
  });
}

TEST_CASE("cuts: by lengths, in blocks of ceil(n/p), by speed") {
  const dm::cuts<p> c{3, 0, 5};
  CHECK(c.blocks() == 3);
  CHECK(c.extent() == 8);
  CHECK(c.at(0) == dm::block{0, 3});
  CHECK(c.at(1) == dm::block{3, 0});
  CHECK(c.at(2) == dm::block{3, 5});
  CHECK(dm::cuts_by_ceil<p>(10, 4) == dm::cuts<p>{3, 3, 3, 1});
  CHECK(dm::cuts_by_ceil<p>(2, 4) == dm::cuts<p>{1, 1, 0, 0});
  CHECK(dm::cuts_by_speed<p>(100, {1, 3}) == dm::cuts<p>{25, 75});
  CHECK(dm::cuts_by_speed<p>(7, {0, 1.5, 1.5, 0}) == dm::cuts<p>{0, 4, 3, 0});
  CHECK(dm::cuts_by_speed<p>(1, {1, 1, 1}) == dm::cuts<p>{0, 1, 0});
  CHECK_THROWS_WITH_AS(((void)dm::cuts<p>{3, -1}),
                       "cuts: block 1 of dim 'p' has length -1; lengths are not negative",
                       dm::error);
  CHECK_THROWS_WITH_AS(
      (void)dm::cuts_by_speed<p>(3, {1, -1}),
      "cuts_by_speed: a speed is negative or no number; a rank that does nothing has 0", dm::error);
  CHECK_THROWS_WITH_AS((void)dm::cuts_by_speed<p>(3, {0, 0}),
                       "cuts_by_speed: no rank has a speed; one must be positive", dm::error);
}

TEST_CASE("ragged: words and pictures say how long blocks are") {
  const dm::grid<line> g;
  const auto ranks = static_cast<index_t>(g.everyone().size());
  std::vector<index_t> lengths(static_cast<std::size_t>(ranks), 3);
  lengths.front() = 0;
  const auto v = dm::zeros<dm::tensor<double, dm::layout<line, dm::split<ragged<p>, x>>, p>>(
      g, dm::cuts<p>(lengths));
  std::string want =
      "double[p=" + std::to_string(3 * ranks - 3) + "/x:" + std::to_string(ranks) + " ragged 0";
  for (index_t i = 1; i < ranks; ++i) want += " 3";
  CHECK(dm::describe(v) == want + "]");
  const dm::detail::picture drawn(dm::facts_of(v));
  REQUIRE(drawn.across.blocks.size() == lengths.size());
  for (std::size_t i = 0; i < lengths.size(); ++i)
    CHECK(drawn.across.blocks[i].length == lengths[i]);
}

TEST_CASE("ragged: the lengths said are those of blocks, where cuts are finer") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    using R = dm::layout<plane, dm::split<ragged<p>, x, y>>;
    const auto over_x = static_cast<index_t>(g.size<x>()),
               over_y = static_cast<index_t>(g.size<y>());
    const std::vector<index_t> lengths(static_cast<std::size_t>(over_x * over_y), 3);
    const auto v = dm::zeros<dm::tensor<double, R, p>>(g, dm::cuts<p>(lengths));
    const auto w = dm::all_gather<y>(v);
    std::string want = "double[p=" + std::to_string(3 * over_x * over_y) +
                       "/x:" + std::to_string(over_x) + " ragged";
    for (index_t i = 0; i < over_x; ++i) want += " " + std::to_string(3 * over_y);
    CHECK(dm::describe(w) == want + "]");
    const dm::detail::picture drawn(dm::facts_of(w));
    CHECK(static_cast<index_t>(drawn.across.blocks.size()) == over_x);
    CHECK(drawn.across.blocks.back().length == 3 * over_y);
  });
}

TEST_CASE("a step whose cuts stay works out no plan; other cuts need others, and both stay known") {
  const dm::grid<line> g;
  using R = dm::layout<line, dm::split<ragged<p>, x>>;
  const array a = numbers({"p", "q"}, {7, 5}, 1);
  const auto step = [&](int pattern) {
    const auto v = cut_tensor<dm::tensor<double, R, p, q>>(g, a, pattern);
    const auto u = dm::relayout<dm::layout<line, dm::split<dm::uneven<p>, x>>>(v);
    CHECK(agrees(dm::shift<p>(dm::shift<p>(v, 1), -1), a));
    CHECK(agrees(dm::relayout<R>(u), a));
    CHECK(agrees(dm::all_to_all<p, ragged<q>, x>(v), a));
  };
  step(0);
  const index_t one = dm::detail::plans_made();
  step(0);
  CHECK(dm::detail::plans_made() == one);
  step(3);
  const index_t two = dm::detail::plans_made();
  CHECK(two >= one);
  CHECK((two > one || g.everyone().size() == 1));
  step(0);
  step(3);
  CHECK(dm::detail::plans_made() == two);
}

/// A whole array whose blocks of p have gone from i to to[i] along axis A.
template <class A, class X>
array exchanged(const X& v, const array& a, const std::vector<index_t>& to) {
  const auto& t = dm::detail::core_of(v).layout();
  const index_t* const sizes = v.grid().state().sizes();
  const index_t blocks = dm::detail::ranks_over(t, 0, sizes);
  const bool minor = t.axis[dm::axis_index<plane, A>].level + 1 == t.split_count(0);
  const index_t along = v.grid().template size<A>(), below = minor ? 1 : blocks / along;
  const auto cuts = dm::cuts_of<p>(v);
  const index_t each = static_cast<index_t>(v.grid().everyone().size()) / blocks;
  std::vector<index_t> from(static_cast<std::size_t>(blocks));  // whose block stands where
  for (index_t b = 0; b < blocks; ++b) {
    const index_t i = b / below % along;
    from[static_cast<std::size_t>(b + (to[static_cast<std::size_t>(i)] - i) * below)] = b;
  }
  std::vector<index_t> row;  // of a
  for (const index_t b : from)
    for (index_t k = b * each; k < (b + 1) * each; ++k)
      for (index_t j = 0; j < cuts.at(k).length; ++j) row.push_back(cuts.at(k).offset + j);
  return make(a.dims, a.size, [&](const extents& at) {
    return value_at(a, a.dims, {row[static_cast<std::size_t>(at[0])], at[1]});
  });
}

TEST_CASE("permute_along: blocks go with their lengths, and gradients come back cut as before") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    const auto check = [&]<class L, class A>(dm::layout_tag<L>, dm::detail::tag<A>) {
      using X = dm::tensor<double, L, p, q>;
      for (int k = 0; k < patterns; ++k)
        for (const index_t rows : {7, 0}) {
          INFO("layout ", std::string(dm::detail::spelled<L>()), ", pattern ", k);
          const array a = numbers({"p", "q"}, {rows, 5}, 1);
          const X v = cut_tensor<X>(g, a, k);
          const auto last = g.template size<A>() - 1;
          std::vector<index_t> next, back;
          for (index_t i = 0; i <= last; ++i) {
            next.push_back(i == last ? 0 : i + 1);
            back.push_back(last - i);
          }
          for (const auto& to : {next, back}) {
            const auto move = [&](const auto& w) { return dm::permute_along<A>(w, to); };
            const auto start = [&](const auto& w) {
              return dm::await(dm::start_permute_along<A>(w, to));
            };
            CHECK(agrees(move(v), exchanged<A>(v, a, to)));
            CHECK(agrees(start(v), exchanged<A>(v, a, to)));
            check_movement(move, a, v);
            check_movement(start, a, v);
            if constexpr (!dm::spec_of<X>::table.any_partial()) {
              const auto loss = [&](const auto& w) {
                const auto there = move(w);
                return dm::complete(dm::sum(there * there));
              };
              const auto slope = dm::complete(dm::value_and_grad(loss, v)()).gradient;
              CHECK(agrees(slope + v, map([](const auto& e) { return 3 * e[0]; }, {a})));
            }
          }
        }
    };
    const dm::detail::tag<x> over_x;
    const dm::detail::tag<y> over_y;
    check(dm::layout_tag<dm::layout<plane, dm::split<ragged<p>, x>>>{}, over_x);
    check(dm::layout_tag<dm::layout<plane, dm::split<ragged<p>, x>, dm::partial<y>>>{}, over_x);
    check(dm::layout_tag<dm::layout<plane, dm::split<ragged<p>, x>, dm::split<ragged<q>, y>>>{},
          over_x);
    check(dm::layout_tag<dm::layout<plane, dm::split<ragged<p>, x, y>>>{}, over_x);
    check(dm::layout_tag<dm::layout<plane, dm::split<ragged<p>, x, y>>>{}, over_y);
    check(dm::layout_tag<dm::layout<plane, dm::split<ragged<p>, y, x>>>{}, over_x);
  });
}

TEST_CASE("cuts that are missing, do not fit, or differ") {
  const dm::grid<line> g;
  using R = dm::tensor<double, dm::layout<line, dm::split<ragged<p>, x>>, p>;
  const auto ranks = static_cast<index_t>(g.everyone().size());
  const std::string n = std::to_string(ranks), m = std::to_string(ranks + 1);
  CHECK_THROWS_WITH_AS((void)dm::zeros<R>(g, p{4}),
                       ("tensor: dim 'p' is ragged over " + n +
                        " blocks of 4 elements, and nothing says where they "
                        "are cut; pass cuts<p>, or take with_cuts(x, ...)")
                           .c_str(),
                       dm::error);
  if (ranks > 1)
    CHECK_THROWS_WITH_AS(
        (void)dm::zeros<R>(g, dm::cuts_by_ceil<p>(4, ranks + 1)),
        ("tensor: dim 'p' is ragged over " + n + " blocks of 4 elements, and its cuts are for " +
         m + " blocks of 4; the blocks must be these, or runs of equally many of them")
            .c_str(),
        dm::error);
  std::vector<index_t> lengths(static_cast<std::size_t>(ranks), 2), others = lengths;
  const auto v = dm::zeros<R>(g, dm::cuts<p>(lengths));
  CHECK(dm::cuts_of<p>(v) == dm::cuts<p>(lengths));
  const dm::tensor<double, dm::layout<line>, q> none(g, q{3});
  CHECK_THROWS_WITH_AS((void)dm::cuts_of<p>(none),
                       "cuts_of: the tensor has no cuts of dim 'p'; give it some by with_cuts",
                       dm::error);
  if (ranks == 1) return;
  others.back() = 3, others.front() = 1;
  const auto w = dm::zeros<R>(g, dm::cuts<p>(others));
  CHECK_THROWS_WITH_AS((void)(v + w),
                       "operator+: the operands cut dim 'p' differently: block 0 has 2 elements "
                       "here, 1 there; relayout one of them, or let the dims have two names",
                       dm::error);
  CHECK_THROWS_WITH_AS((void)dm::with_cuts(v, dm::cuts<p>(others)),
                       "with_cuts: dim 'p' is ragged already, and cut otherwise; relayout it first",
                       dm::error);
}

}  // namespace
