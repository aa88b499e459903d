// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// checks: 3400 5900 19000
// timeout: 600
// labels: sanitize
// Moves that are started and awaited: each gives what the blocking call gives, in any order, and
// recorded where its operand is; handles that are dropped, moved from, or left by an exception
// leave nothing behind; a steady step works out no plan.
#include "dimesh/op/start.hpp"

#include <dimesh/dimesh.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>

#include "dimesh/grad/cost.hpp"
#include "dimesh/grad/vjp.hpp"
#include "dimesh/op/chunks.hpp"
#include "support/host.hpp"
#include "support/movement.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
using dm::index_t;

/// Is it the same, element by element?
template <class X> bool same(const X& a, const X& b) {
  return a.local_size() == b.local_size() &&
         std::equal(test_support::on_host(a).data(),
                    test_support::on_host(a).data() + a.local_size(),
                    test_support::on_host(b).data());
}

/// Every mover of x that its layout allows: f(blocking call, its start).
template <class A, class D, class X, class F> void for_each_mover(const X&, const F& f) {
  using S = dm::spec_of<X>;
  constexpr auto now = S::table.axis[dm::axis_index<typename S::mesh, A>];
  if constexpr (now.what == dm::use::partial) {
    f([](const auto& v) { return dm::all_reduce<A>(v); },
      [](const auto& v) { return dm::start_all_reduce<A>(v); });
    f([](const auto& v) { return dm::reduce_scatter<dm::uneven<D>, A>(v); },
      [](const auto& v) { return dm::start_reduce_scatter<dm::uneven<D>, A>(v); });
  } else if constexpr (now.what == dm::use::split) {
    using From = dm::detail::type_at<now.dim, typename S::dims>;
    if constexpr (now.level + 1 == S::table.split_count(now.dim)) {
      f([](const auto& v) { return dm::all_gather<A>(v); },
        [](const auto& v) { return dm::start_all_gather<A>(v); });
      if constexpr (!std::is_same_v<From, D>)
        f([](const auto& v) { return dm::all_to_all<From, dm::uneven<D>, A>(v); },
          [](const auto& v) { return dm::start_all_to_all<From, dm::uneven<D>, A>(v); });
    }
  } else {
    f([](const auto& v) { return dm::broadcast<A>(v); },
      [](const auto& v) { return dm::start_broadcast<A>(v); });
  }
  f([](const auto& v) { return dm::whole<D>(v); },
    [](const auto& v) { return dm::start_whole<D>(v); });
  f([](const auto& v) { return dm::shift<D>(v, 2, dm::boundary::zero); },
    [](const auto& v) { return dm::start_shift<D>(v, 2, dm::boundary::zero); });
  f([](const auto& v) { return dm::shift<D>(v, -1); },
    [](const auto& v) { return dm::start_shift<D>(v, -1); });
  f([](const auto& v) { return dm::halo_exchange<2, p, q>(v, dm::boundary::periodic); },
    [](const auto& v) { return dm::start_halo_exchange<2, p, q>(v, dm::boundary::periodic); });
  f([](const auto& v) { return dm::halo_exchange<1, q, p>(v); },
    [](const auto& v) { return dm::start_halo_exchange<1, q, p>(v); });
  using goal = dm::layout<typename S::mesh, dm::split<dm::uneven<D>, A>>;
  f([](const auto& v) { return dm::relayout<goal>(v); },
    [](const auto& v) { return dm::start_relayout<goal>(v); });
  if constexpr (!S::table.any_partial())
    f([](const auto& v) { return dm::exchange<goal>(v); },
      [](const auto& v) { return dm::start_exchange<goal>(v); });
  if constexpr (std::is_same_v<A, x>)  // of all axes together
    f([](const auto& v) { return dm::complete(v); },
      [](const auto& v) { return dm::start_complete(v); });
}

/// The start of a mover gives the same values at the same cost, and is as foreseen.
template <class F, class G, class X> void check_start(const F& f, const G& g, const X& x) {
  census::reset();
  const auto want = f(x);
  const auto blocking = census::snapshot();
  census::reset();
  auto coming = g(x);
  const auto got = dm::await(std::move(coming));
  const auto started = census::snapshot();
  static_assert(std::is_same_v<decltype(got), decltype(want)>);
  CHECK(same(got, want));
  CHECK(started.bytes() == blocking.bytes());
  CHECK(started.calls() == blocking.calls());
  const auto plans = dm::detail::plans_made();
  (void)dm::await(g(x));
  (void)f(x);
  CHECK(dm::detail::plans_made() == plans);
  CHECK_THROWS_WITH((void)dm::await(std::move(coming)),
                    "await: there is no move in this handle: it was awaited before, moved from, or "
                    "never started");
}

const std::vector<extents> sizes = {{8, 12}, {5, 4}, {0, 3}};
constexpr layout_choice sample{.partial = true, .uneven = true, .stride = 3, .first = 1};

TEST_CASE("started moves give what the blocking calls give") {
  for_each_case<plane, sample, p, q>(sizes, [](const auto& v, const array&) {
    const auto check = [&v](const auto& f, const auto& g) { check_start(f, g, v); };
    for_each_mover<x, p>(v, check);
    for_each_mover<y, q>(v, check);
  });
}

TEST_CASE("started moves cost what is foreseen, and their transposes are those of the calls") {
  for_each_case<line, layout_choice{.partial = true, .uneven = true}, p, q>(
      {{5, 4}}, [](const auto& v, const array& a) {
        for_each_mover<x, p>(v, [&](const auto&, const auto& g) {
          const auto both = [&g](const auto& w) { return dm::await(g(w)); };
          const auto costs = costs_as_foreseen(both, v);  // of the rank at the origin
          if (v.grid().rank() == 0) CHECK(costs);
          using Y = std::remove_cvref_t<decltype(both(v))>;
          constexpr bool plain = std::none_of(std::begin(dm::spec_of<Y>::table.halo),
                                              std::end(dm::spec_of<Y>::table.halo),
                                              [](const auto& h) { return h.any(); });
          if constexpr (plain) check_movement(both, a, v);
        });
      });
}

TEST_CASE("start_complete: maxima, and minima beside addends, of which the last begin") {
  const auto whole = [](const auto& v) { return dm::complete(v); };
  const auto started = [](const auto& v) { return dm::start_complete(v); };
  const auto filled = [](auto v) {
    for (index_t i = 0; i < v.local_size(); ++i)
      test_support::on_host(v)[i] = static_cast<double>((i + 1) * (v.grid().rank() + 1) % 7);
    return v;
  };
  for_each_grid<plane>([&](const dm::grid<plane>& g) {
    using L = dm::layout<plane, dm::split<dm::uneven<p>, x>, dm::split<dm::uneven<q>, y>>;
    const auto v = filled(dm::tensor<double, L, p, q>(g, p{5}, q{3}));
    check_start(whole, started, dm::max<q>(v));
    check_start(whole, started, dm::min<p, q>(v));
    const auto check = [&](auto layout) {
      check_start(whole, started,
                  filled(dm::tensor<double, typename decltype(layout)::type, p>(g, p{5})));
    };
    check(std::type_identity<dm::layout<plane, dm::partial<x>, dm::partial_max<y>>>{});
    check(std::type_identity<dm::layout<plane, dm::partial_min<x>, dm::partial<y>>>{});
    check(std::type_identity<dm::layout<plane, dm::partial_max<x>, dm::partial_min<y>>>{});
  });
}

struct rows : dm::axis<> {};
struct pod : dm::mesh<rows> {};
struct batch : dm::dim<> {};
struct hidden : dm::dim<> {};
using by_batch = dm::layout<pod, dm::split<batch, rows>>;
using matrix = dm::tensor<double, by_batch, batch, hidden>;
using addends = dm::tensor<double, dm::layout<pod, dm::partial<rows>>, batch, hidden>;

matrix counted(const dm::grid<pod>& g, index_t n, index_t first) {
  matrix m(g, batch{g.ranks()}, hidden{n});
  for (index_t i = 0; i < m.local_size(); ++i)
    test_support::on_host(m)[i] = static_cast<double>(first + 1000 * g.rank() + i);
  return m;
}

/// Blocks after they have changed places, of one dim that is split over axes in some order.
template <class A, class D, class X>
array exchanged(const X& v, const array& a, const std::vector<index_t>& to) {
  using S = dm::spec_of<X>;
  constexpr int axis = dm::axis_index<typename S::mesh, A>;
  constexpr auto d = static_cast<std::size_t>(dm::detail::index_of<D, typename S::dims>);
  const auto* const along = v.grid().state().sizes();
  array out = a;
  for_each_index(a.size, [&](const extents& index) {
    const index_t ranks = dm::detail::ranks_over(S::table, d, along), length = a.size[d] / ranks;
    index_t below = 1;  // ranks along the axes that cut the blocks of A
    for (int b = 0; b < S::table.axes; ++b)
      if (S::table.axis[b].what == dm::use::split && S::table.axis[b].dim == static_cast<int>(d) &&
          S::table.axis[b].level > S::table.axis[axis].level)
        below *= along[b];
    const index_t block = index[d] / length, mine = block / below % along[axis];
    extents there = index;
    there[d] += (to[static_cast<std::size_t>(mine)] - mine) * below * length;
    std::size_t from = 0, at = 0;
    for (std::size_t e = 0; e < index.size(); ++e) {
      from = from * static_cast<std::size_t>(a.size[e]) + static_cast<std::size_t>(index[e]);
      at = at * static_cast<std::size_t>(a.size[e]) + static_cast<std::size_t>(there[e]);
    }
    out.values[at] = a.values[from];
  });
  return out;
}

/// Every permutation of few ranks, some of many.
template <class F> void for_each_permutation(index_t n, const F& f) {
  std::vector<index_t> to(static_cast<std::size_t>(n));
  for (index_t i = 0; i < n; ++i) to[static_cast<std::size_t>(i)] = i;
  int tried = 0;
  do f(to);
  while (++tried < 24 && std::next_permutation(to.begin(), to.end()));
}

TEST_CASE("permute_along: blocks change places, go back, and cost a message") {
  for_each_case<plane, layout_choice{.partial = true}, p, q>(
      {{24, 12}, {0, 12}}, [](const auto& v, const array& a) {
        using S = dm::spec_of<std::remove_cvref_t<decltype(v)>>;
        for_each_of(dm::detail::list<x, y>{}, [&](auto axis) {
          using A = typename decltype(axis)::type;
          constexpr auto now = S::table.axis[dm::axis_index<plane, A>];
          if constexpr (now.what == dm::use::split) {
            using D = dm::detail::type_at<now.dim, typename S::dims>;
            for_each_permutation(v.grid().template size<A>(), [&](const auto& to) {
              const auto move = [&to](const auto& w) { return dm::permute_along<A>(w, to); };
              const auto start = [&to](const auto& w) {
                return dm::start_permute_along<A>(
                    w, [&to](index_t i) { return to[static_cast<std::size_t>(i)]; });
              };
              CHECK(agrees(move(v), exchanged<A, D>(v, a, to)));
              check_start(move, start, v);
              check_movement(move, a, v);
            });
          }
        });
      });
}

TEST_CASE("several on one axis, awaited in any order, blocking calls between them") {
  const dm::grid<pod> g;
  const matrix a = counted(g, 6, 0), b = counted(g, 40, 7), c = counted(g, 6, 77);
  const auto want_a = dm::all_gather<rows>(a);
  const auto want_b = dm::shift<batch>(b, 1);
  const auto want_c = dm::all_gather<rows>(c);
  const auto want_d = dm::shift<batch>(c, 1);
  const auto want_e = dm::all_to_all<batch, dm::uneven<hidden>, rows>(b);
  std::vector<int> order{0, 1, 2, 3, 4};
  do {
    auto s0 = dm::start_all_gather<rows>(a);
    auto s1 = dm::start_shift<batch>(b, 1);
    auto s2 = dm::start_all_gather<rows>(c);
    CHECK(same(dm::shift<batch>(b, 1), want_b));
    auto s3 = dm::start_shift<batch>(c, 1);
    auto s4 = dm::start_all_to_all<batch, dm::uneven<hidden>, rows>(b);
    CHECK(same(dm::all_gather<rows>(c), want_c));
    for (const int i : order) {
      if (i == 0) CHECK(same(dm::await(std::move(s0)), want_a));
      if (i == 1) CHECK(same(dm::await(std::move(s1)), want_b));
      if (i == 2) CHECK(same(dm::await(std::move(s2)), want_c));
      if (i == 3) CHECK(same(dm::await(std::move(s3)), want_d));
      if (i == 4) CHECK(same(dm::await(std::move(s4)), want_e));
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("ranks may await in different orders") {
  const dm::grid<pod> g;
  const matrix a = counted(g, 3000, 0), b = counted(g, 5, 7);
  auto first = dm::start_all_gather<rows>(a);
  auto second = dm::start_all_gather<rows>(b);
  if (g.rank() % 2 == 0) {
    CHECK(same(dm::await(std::move(first)), dm::relayout<dm::layout<pod>>(a)));
    CHECK(same(dm::await(std::move(second)), dm::relayout<dm::layout<pod>>(b)));
  } else {
    const auto two = dm::await(std::move(second));
    CHECK(same(dm::await(std::move(first)), dm::relayout<dm::layout<pod>>(a)));
    CHECK(same(two, dm::relayout<dm::layout<pod>>(b)));
  }
}

TEST_CASE("the operand may change, or go, while it travels") {
  const dm::grid<pod> g;
  const auto want = dm::all_gather<rows>(counted(g, 100, 3));
  matrix a = counted(g, 100, 3);
  auto coming = dm::start_all_gather<rows>(a);
  dm::fill(a, -1.0);
  CHECK(same(dm::await(std::move(coming)), want));
  CHECK(test_support::on_host(a)[0] == -1);
  auto of_nobody = dm::start_all_gather<rows>(counted(g, 100, 3));
  CHECK(same(dm::await(std::move(of_nobody)), want));
}

TEST_CASE("handles: moved, assigned, kept in a vector, asked") {
  const dm::grid<pod> g;
  const matrix a = counted(g, 50, 3);
  const auto want = dm::all_gather<rows>(a);
  std::vector<dm::started<std::remove_const_t<decltype(want)>>> all;
  for (int i = 0; i < 5; ++i) all.push_back(dm::start_all_gather<rows>(a));
  auto last = std::move(all.back());
  CHECK(!all.back().holds());
  CHECK_THROWS_WITH((void)all.back().ready(),
                    "ready: there is no move in this handle: it was awaited before, moved from, or "
                    "never started");
  all.pop_back();
  all[1] = std::move(all[0]);  // the one that was there ends
  CHECK(!all[0].holds());
  while (!last.ready()) {}
  CHECK(last.ready());
  CHECK(same(dm::await(std::move(last)), want));
  CHECK(same(dm::await(std::move(all[1])), want));
  CHECK(same(dm::await(std::move(all[3])), want));
}

TEST_CASE("halos of two dims, asked until they are there") {
  const dm::grid<pod> g;
  const matrix a = counted(g, 7, 3);
  auto coming = dm::start_halo_exchange<1, batch, hidden>(a, dm::boundary::periodic);
  while (!coming.ready()) {}
  CHECK(same(dm::await(std::move(coming)),
             dm::halo_exchange<1, batch, hidden>(a, dm::boundary::periodic)));
}

TEST_CASE("halos of two split dims: messages of both are counted, awaited at once or asked for") {
  using L = dm::layout<plane, dm::split<p, x>, dm::split<q, y>>;
  const auto exchanged = [](const auto& v) {
    return dm::await(dm::start_halo_exchange<1, p, q>(v, dm::boundary::periodic));
  };
  const auto asked = [](const auto& v) {
    auto coming = dm::start_halo_exchange<1, p, q>(v, dm::boundary::periodic);
    if (!dm::detail::core_of(v).is_shape)
      while (!coming.ready()) {}
    return dm::await(std::move(coming));
  };
  for_each_grid<plane>([&](const auto& g) {
    const auto v = dm::constant<dm::tensor<double, L, p, q>>(g, 1.0, p{8}, q{8});
    const auto at_once = costs_as_foreseen(exchanged, v), later = costs_as_foreseen(asked, v);
    CHECK(at_once);
    CHECK(later);
  });
}

TEST_CASE("dropped handles, and exceptions that pass: nothing is left behind") {
  const dm::grid<pod> g;
  const matrix a = counted(g, 20000, 3);
  const auto want = dm::all_gather<rows>(a);
  const index_t live = dm::detail::pool::instance().figures().live;
  {
    const auto dropped = dm::start_all_gather<rows>(a);
    const auto too = dm::start_shift<batch>(a, 1);
  }
  CHECK(dm::detail::pool::instance().figures().live == live);
  for (int i = 0; i < 3; ++i) {
    const auto throws = [&] {
      const auto one = dm::start_shift<batch>(a, 1);
      const auto two = dm::start_all_gather<rows>(a);
      const auto three = dm::start_all_to_all<batch, dm::uneven<hidden>, rows>(a);
      throw std::runtime_error("in between");
    };
    CHECK_THROWS_WITH(throws(), "in between");
    while (dm::collective::requests_given_up() > 0) {}
    CHECK(dm::detail::pool::instance().figures().live == live);
  }
  CHECK(same(dm::await(dm::start_all_gather<rows>(a)), want));
}

TEST_CASE("recorded: gradients, and gradients of gradients, through a started move") {
  const dm::grid<pod> g;
  const matrix a = counted(g, 5, 3);
  const auto blocking = [](const auto& v) {
    const auto w = dm::shift<batch>(v, 1) * v;
    return dm::complete(dm::sum(w * w));
  };
  const auto started = [](const auto& v) {
    auto coming = dm::start_shift<batch>(v, 1);
    auto unused = dm::start_shift<batch>(v, 2);
    const auto w = dm::await(std::move(coming)) * v;
    return dm::complete(dm::sum(w * w));
  };
  const auto want = dm::complete(dm::value_and_grad(blocking, a)());
  const auto got = dm::complete(dm::value_and_grad(started, a)());
  CHECK(same(got.value, want.value));
  CHECK(same(got.gradient, want.gradient));
  const auto twice = [&](const auto& f) {
    const auto norm = [&f](const auto& v) {
      const auto inner = dm::value_and_grad(f, v)();
      return dm::complete(dm::sum(dm::square(dm::complete(inner.gradient))));
    };
    return dm::complete(dm::value_and_grad(norm, a)()).gradient;
  };
  CHECK(same(twice(started), twice(blocking)));
}

TEST_CASE("permute_along: what is no permutation is named, on all ranks") {
  const dm::grid<pod> g;
  const matrix a = counted(g, 3, 0);
  const std::string last = std::to_string(g.ranks() - 1), ranks = std::to_string(g.ranks());
  const std::string end = "; each of the coordinates 0.." + last + " must be named once";
  CHECK_THROWS_WITH(
      (void)dm::permute_along<rows>(a, [](index_t i) { return i - 1; }),
      ("permute_along: along axis 'rows' the block at 0 is sent to -1" + end).c_str());
  CHECK_THROWS_WITH((void)dm::start_permute_along<rows>(a, std::array<int, 9>{}),
                    ("permute_along: along axis 'rows' lie " + ranks +
                     " ranks, and the table has 9 entries" + end)
                        .c_str());
  const auto many = dm::detail::checked_permutation<rows>([](index_t i) { return 99 - i; }, 100, 1);
  CHECK(many.to == 98);
  CHECK(many.from == 98);
  CHECK(many.any_moves);
  CHECK_THROWS_WITH(
      (void)dm::detail::checked_permutation<rows>([](index_t i) { return i % 70; }, 100, 0),
      "permute_along: along axis 'rows' the blocks at 0 and 70 are both sent to 0; each of the "
      "coordinates 0..99 must be named once");
  if (g.ranks() == 1) return;
  CHECK_THROWS_WITH(
      (void)dm::permute_along<rows>(a, [](index_t) { return 0; }),
      ("permute_along: along axis 'rows' the blocks at 0 and 1 are both sent to 0" + end).c_str());
  using ragged =
      dm::tensor<double, dm::layout<pod, dm::split<dm::uneven<batch>, rows>>, batch, hidden>;
  const ragged b(g, batch{g.ranks() + 1}, hidden{2});
  CHECK_THROWS_WITH(
      (void)dm::permute_along<rows>(b, [](index_t i) { return i; }),
      ("permute_along: the " + std::to_string(g.ranks() + 1) +
       " elements of dim 'batch' are cut into blocks of different lengths by " + ranks +
       " ranks along axis 'rows'; blocks that change places must be equal, or ragged")
          .c_str());
}

struct token : dm::dim<> {};
struct expert : dm::dim<> {};
struct feature : dm::dim<> {};
struct part : dm::dim<> {};
using routed = dm::tensor<double, dm::layout<pod, dm::split<token, rows>>, token, expert, feature>;

TEST_CASE("count: moves that begin cost what they cost, also of tensors with data") {
  const dm::grid<pod> g;
  const auto x = dm::zeros<routed>(g, token{2 * g.ranks()}, expert{3}, feature{4});
  const auto blocking = [](const auto& v) { return dm::whole<token>(v); };
  const auto begun = [](const auto& v) { return dm::await(dm::start_whole<token>(v)); };
  CHECK(dm::count(begun, x).template bytes<>() == dm::count(blocking, x).template bytes<>());
  CHECK(dm::count(begun, x).template bytes<>() ==
        dm::count(begun, dm::shapes_of(x)).template bytes<>());
  CHECK(dm::zeros_like(x).local_size() == x.local_size());
  const auto like = [](const auto& v) { return v + dm::zeros_like(v); };
  CHECK(dm::count(like, x).template bytes<>() == 0);
}

TEST_CASE("start_broadcast: from the place where a tensor lives") {
  const dm::grid<pod> g;
  using here = dm::tensor<double, dm::layout<pod, dm::placed<rows, 0>>, token>;
  const auto x = dm::constant<here>(g, 3, token{5});
  auto coming = dm::start_broadcast<rows>(x);
  const auto y = dm::await(std::move(coming));
  CHECK(y.local_size() == 5);
  CHECK(test_support::on_host(y)[4] == 3);
}

TEST_CASE("start_send and start_reduce: several at a time, to a place and back") {
  const dm::grid<pod> g;
  if (g.ranks() < 2) return;
  using here = dm::tensor<double, dm::layout<pod, dm::placed<rows, 0>>, token>;
  using there = dm::tensor<double, dm::layout<pod, dm::placed<rows, 1>>, token>;
  const auto x = dm::constant<here>(g, 3, token{5});
  const auto y = dm::constant<there>(g, 4, token{5});
  census::reset();
  auto one = dm::start_send<rows, 1>(x);
  auto back = dm::start_send<rows, 1, 0>(y);
  auto two = dm::start_send<rows, 1>(2.0 * x);
  const here from_there = dm::await(std::move(back));
  const there last = dm::await(std::move(two));
  const there first = dm::await(std::move(one));
  if (g.coord<rows>() == 0) CHECK(test_support::on_host(from_there)[4] == 4);
  if (g.coord<rows>() == 1)
    CHECK(test_support::on_host(first)[4] + 10 * test_support::on_host(last)[0] == 63);
  if (g.coord<rows>() < 2) CHECK(census::snapshot().bytes() == (g.coord<rows>() == 0 ? 80 : 40));
  const auto sent = [](const auto& v) { return dm::await(dm::start_send<rows, 1>(v)); };
  CHECK(dm::count(sent, x).template bytes<>() == 40);  // of the rank that sends
  CHECK(dm::await(dm::start_send<rows, 0>(x)).data() == x.data());  // it is there
  { auto dropped = dm::start_send<rows, 1>(x); }

  const auto sum = [](const auto& v) { return dm::await(dm::start_reduce<rows, 1>(v)); };
  dm::tensor<double, dm::layout<pod, dm::partial<rows>>, token> addend(g, token{5});
  for (index_t i = 0; i < 5; ++i) test_support::on_host(addend)[i] = 1.0 + g.rank();
  auto [total, pull] = dm::vjp(sum, addend);
  if (g.coord<rows>() == 1)
    CHECK(test_support::on_host(total)[2] == g.ranks() * (g.ranks() + 1) / 2);
  const auto sent_back = pull(dm::await(dm::start_send<rows, 1>(x)));
  CHECK(test_support::on_host(sent_back)[3] == 3);  // on every rank
}

TEST_CASE("join_chunks: of nothing") {
  using piece = dm::tensor<double, dm::layout<pod, dm::split<token, rows>>, token, expert, part>;
  CHECK_THROWS_WITH((void)(dm::join_chunks<part, feature>(std::vector<piece>{})),
                    "join_chunks: 0 chunks of together 0 elements make no dim 'feature'; there are "
                    "1 to 16 of them, as an operation has no more operands (join some first, to a "
                    "dim of their own), and they have its extent");
}

struct some_parts : dm::dim<> {};
TEST_CASE("join_chunks: more than an operation has operands, in two rounds, and the gradient") {
  using lone = dm::tensor<double, dm::layout<pod, dm::split<token, rows>>, token, part>;
  const dm::grid<pod> g;
  const auto joined = [](const auto& x) {
    std::vector<std::remove_cvref_t<decltype(x)>> few;
    for (int k = 0; k < 12; ++k) few.push_back(x * double(k));
    const auto once = dm::join_chunks<part, some_parts>(few);
    return dm::join_chunks<some_parts, feature>(std::vector{once, once * 2.0});
  };
  const auto x = dm::constant<lone>(g, 1.0, token{g.ranks()}, part{2});
  const auto y = joined(x);
  CHECK(y.extent<feature>() == 48);
  for (index_t i = 0; i < y.local_size(); ++i)
    CHECK(test_support::on_host(y)[i] == double(i / 2 % 12 * (i / 24 + 1)));
  const auto sum = [&joined](const auto& v) { return dm::complete(dm::sum(joined(v))); };
  const auto step = dm::value_and_grad(sum, x)();
  CHECK(test_support::on_host(step.gradient)[0] == 66 * 3);
  CHECK_THROWS((void)(dm::join_chunks<part, feature>(std::vector<lone>(17, x))));
}

TEST_CASE("all_to_all in chunks: a function of each, joined, and its gradient") {
  const dm::grid<pod> g;
  routed r(g, token{2 * g.ranks()}, expert{3 * g.ranks()}, feature{12});
  for (index_t i = 0; i < r.local_size(); ++i)
    test_support::on_host(r)[i] = static_cast<double>((100 * g.rank() + 7 * i) % 23 - 11);
  const auto whole = [](const auto& v) {
    const auto there = dm::all_to_all<token, expert, rows>(v);
    return dm::all_to_all<expert, token, rows>(there * there);
  };
  for (const index_t chunks : {1, 3, 12}) {
    const auto in_chunks = [chunks](const auto& v) {
      return dm::join_chunks<part, feature>(
          dm::all_to_all_in_chunks<token, expert, rows, feature, part>(
              v, chunks,
              [](const auto& c) { return dm::start_all_to_all<expert, token, rows>(c * c); }));
    };
    census::reset();
    const auto y = in_chunks(r);
    const auto seen = census::snapshot();
    census::reset();
    const auto want = whole(r);
    CHECK(seen.bytes() == census::snapshot().bytes());
    static_assert(std::is_same_v<decltype(y), decltype(want)>);
    CHECK(same(y, want));
    const auto loss_of = [](const auto& f) {
      return [&f](const auto& v) { return dm::complete(dm::sum(dm::square(f(v)))); };
    };
    CHECK(same(dm::value_and_grad(loss_of(in_chunks), r)().gradient,
               dm::value_and_grad(loss_of(whole), r)().gradient));
  }
  index_t elements = 0;
  dm::all_to_all_in_chunks<token, expert, rows, feature, part>(
      r, 4, [&elements](const auto& c) { elements += c.local_size(); });
  CHECK(elements == r.local_size());
  CHECK_THROWS_WITH(
      (void)(dm::all_to_all_in_chunks<token, expert, rows, feature, part>(
          r, 5, [](const auto& c) { return c; })),
      "all_to_all_in_chunks: the 12 elements of dim 'feature' cannot be cut into 5 chunks; their "
      "number is 1 to 16, and their length what the extent says");
}

TEST_CASE("a helping thread needs an MPI that is started for threads") {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  REQUIRE(level < MPI_THREAD_MULTIPLE);  // as the tests' main starts it
  CHECK_THROWS_WITH(dm::progress_thread{},
                    ("progress_thread: MPI grants thread level " + std::to_string(level) +
                     ", and a thread of its own needs " + std::to_string(int{MPI_THREAD_MULTIPLE}) +
                     "; start the program with runtime(argc, argv, MPI_THREAD_MULTIPLE)")
                        .c_str());
}

TEST_CASE("a steady step works out no plan") {
  const dm::grid<pod> g;
  const matrix a = counted(g, 12, 3);
  const auto step = [&] {
    auto s = dm::start_all_to_all<batch, dm::uneven<hidden>, rows>(a);
    auto t = dm::start_halo_exchange<1, batch>(a);
    const auto loss = [](const auto& v) {
      auto h = dm::halo_exchange<1, batch, hidden>(v);
      auto w = dm::all_gather<rows>(dm::shift<batch>(v, 1));
      auto z = dm::all_to_all<batch, dm::uneven<hidden>, rows>(v);
      auto u = dm::own<batch, rows>(w);
      auto k =
          dm::stencil([](const auto& e) { return dm::at<batch>(e, 1) * dm::at<hidden>(e, 1); }, h);
      return dm::complete(dm::sum(u * k)) + dm::complete(dm::sum(z * z));
    };
    auto result = dm::complete(dm::value_and_grad(loss, a)());
    (void)dm::await(std::move(s));
    (void)dm::await(std::move(t));
    return result;
  };
  const index_t before = dm::detail::plans_made();
  const auto first = step();
  const index_t made = dm::detail::plans_made();
  CHECK(made > before);
  const auto second = step();
  CHECK(dm::detail::plans_made() == made);
  CHECK(same(first.gradient, second.gradient));
  const matrix other = counted(g, 13, 3);  // other extents, another plan
  (void)dm::all_to_all<batch, dm::uneven<hidden>, rows>(other);
  CHECK(dm::detail::plans_made() == made + 1);
}

TEST_CASE("shifts that go around, or beyond the ends, are not more plans than moves") {
  const dm::grid<pod> g;
  const matrix a = counted(g, 12, 3);
  const matrix once = dm::shift<batch>(a, 5), none = dm::shift<batch>(a, 13, dm::boundary::zero);
  const index_t made = dm::detail::plans_made();
  for (index_t t = 1; t < 100; ++t) {
    CHECK(same(dm::shift<batch>(a, 5 + 12 * t), once));
    CHECK(same(dm::shift<batch>(a, 13 + t, dm::boundary::zero), none));
  }
  CHECK(dm::detail::plans_made() == made);
}

TEST_CASE("events: the start says the bytes, the finish how long one waited") {
  const dm::grid<pod> g;
  const matrix a = counted(g, 6, 0);
  dm::event_list list;
  {
    const dm::watch all(list);
    auto s = dm::start_all_gather<rows>(a);
    const auto y = dm::await(std::move(s));
  }
  std::vector<dm::event> moves;
  for (const auto& e : list.events)
    if (dm::is_communication(e.kind)) moves.push_back(e);
  CHECK(moves.empty() == (g.ranks() == 1));
  if (moves.empty()) return;
  REQUIRE(moves.size() == 2);
  CHECK(moves[0].part == dm::event_part::start);
  CHECK(moves[0].kind == dm::event_kind::all_gather);
  CHECK(moves[0].what == "all_gather");
  CHECK(moves[0].bytes == a.local_bytes());
  CHECK(moves[1].part == dm::event_part::finish);
  CHECK(moves[1].kind == dm::event_kind::all_gather);
  CHECK(moves[1].what == "all_gather");
  CHECK(moves[1].axes == 1);
  CHECK(moves[1].bytes == 0);
  CHECK(moves[1].begin >= moves[0].end);
}

}  // namespace
