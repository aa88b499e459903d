// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// checks: 4000 8000 12000
// timeout: 600
// labels: sanitize
// Moves that are made again and again: each time they give what the blocking call gives, for the
// same messages, at once or begun and waited for; what was found out the first time is not found
// out again; results that somebody keeps stay; mistakes are told, and nothing is left behind.
#include "dimesh/core/repeated.hpp"

#include <dimesh/any_tensor.hpp>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>
#include <dimesh/op/cuts.hpp>
#include <dimesh/op/persistent.hpp>
#include <dimesh/plan/runtime_tensor.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <vector>

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

/// Every mover of x that its layout allows: f(blocking call, its persistent form).
template <class A, class D, class X, class F> void for_each_mover(const X&, const F& f) {
  using S = dm::spec_of<X>;
  constexpr auto now = S::table.axis[dm::axis_index<typename S::mesh, A>];
  if constexpr (now.what == dm::use::partial) {
    f([](const auto& v) { return dm::all_reduce<A>(v); },
      [](const auto& v) { return dm::persistent_all_reduce<A>(v); });
    f([](const auto& v) { return dm::reduce_scatter<dm::uneven<D>, A>(v); },
      [](const auto& v) { return dm::persistent_reduce_scatter<dm::uneven<D>, A>(v); });
    f([](const auto& v) { return dm::reduce<A, 0>(v); },
      [](const auto& v) { return dm::persistent_reduce<A, 0>(v); });
  } else if constexpr (now.what == dm::use::split) {
    using From = dm::detail::type_at<now.dim, typename S::dims>;
    if constexpr (now.level + 1 == S::table.split_count(now.dim)) {
      f([](const auto& v) { return dm::all_gather<A>(v); },
        [](const auto& v) { return dm::persistent_all_gather<A>(v); });
      if constexpr (!std::is_same_v<From, D>)
        f([](const auto& v) { return dm::all_to_all<From, dm::uneven<D>, A>(v); },
          [](const auto& v) { return dm::persistent_all_to_all<From, dm::uneven<D>, A>(v); });
    }
  } else {
    f([](const auto& v) { return dm::broadcast<A>(v); },
      [](const auto& v) { return dm::persistent_broadcast<A>(v); });
    f([](const auto& v) { return dm::broadcast<A>(v, 0); },
      [](const auto& v) { return dm::persistent_broadcast<A>(v, 0); });
  }
  f([](const auto& v) { return dm::whole<D>(v); },
    [](const auto& v) { return dm::persistent_whole<D>(v); });
  f([](const auto& v) { return dm::shift<D>(v, 2, dm::boundary::zero); },
    [](const auto& v) { return dm::persistent_shift<D>(v, 2, dm::boundary::zero); });
  f([](const auto& v) { return dm::shift<D>(v, -1); },
    [](const auto& v) { return dm::persistent_shift<D>(v, -1); });
  f([](const auto& v) { return dm::halo_exchange<2, p, q>(v, dm::boundary::periodic); },
    [](const auto& v) { return dm::persistent_halo_exchange<2, p, q>(v, dm::boundary::periodic); });
  f([](const auto& v) { return dm::halo_exchange<dm::halo<q, 1, 0>>(v); },
    [](const auto& v) { return dm::persistent_halo_exchange<dm::halo<q, 1, 0>>(v); });
  using goal = dm::layout<typename S::mesh, dm::split<dm::uneven<D>, A>>;
  if constexpr (!S::table.any_partial())
    f([](const auto& v) { return dm::exchange<goal>(v); },
      [](const auto& v) { return dm::persistent_exchange<goal>(v); });
}

/// The persistent form gives the same values at the same cost, each time: with other elements where
/// the last ones were, and in another place.
template <class F, class G, class X>
void check_persistent(const F& call, const G& make, const X& x) {
  auto move = make(dm::clone(x));
  using result = typename decltype(move)::result_type;
  for (int time = 0; time < 7; ++time) {
    const X now = dm::clone(move.operand());
    census::reset();
    const result want = call(now);
    const auto blocking = census::snapshot();
    census::reset();
    bool right = false;
    if (time % 3 != 2) {
      right = same(move.run(), want);
    } else {
      move.start();
      right = move.is_under_way() && same(move.wait(), want);
    }
    CHECK(right);
    const auto again = census::snapshot();
    CHECK(again.bytes() == blocking.bytes());
    CHECK(again.calls() == blocking.calls());
    if (time == 4) {
      move.operand() = now + now;
    } else {
      const auto elements = test_support::on_host(move.operand());
      for (index_t i = 0; i < now.local_size(); ++i) elements[i] = 2 * elements[i] + 1;
    }
  }
}

const std::vector<extents> sizes = {{8, 12}, {5, 4}, {0, 3}};
constexpr layout_choice sample{.partial = true, .uneven = true, .stride = 3, .first = 1};

TEST_CASE("persistent moves give what the blocking calls give, each time") {
  for_each_case<plane, sample, p, q>(sizes, [](const auto& v, const array&) {
    const auto check = [&v](const auto& f, const auto& g) { check_persistent(f, g, v); };
    for_each_mover<x, p>(v, check);
    for_each_mover<y, q>(v, check);
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
  const auto elements = test_support::on_host(m);
  for (index_t i = 0; i < m.local_size(); ++i)
    elements[i] = static_cast<double>(first + 1000 * g.rank() + i);
  return m;
}

TEST_CASE("blocks that change places, even and ragged; tensors that live at a place") {
  const dm::grid<pod> g;
  const auto next = [&g](index_t i) { return (i + 1) % g.ranks(); };
  const auto permuted = [&next](const auto& v) { return dm::permute_along<rows>(v, next); };
  const auto again = [&next](const auto& v) { return dm::persistent_permute_along<rows>(v, next); };
  check_persistent(permuted, again, counted(g, 5, 3));
  using ragged = dm::layout<pod, dm::split<dm::ragged<batch>, rows>>;
  std::vector<index_t> lengths(static_cast<std::size_t>(g.ranks()));
  lengths[0] = g.ranks();
  check_persistent(permuted, again,
                   dm::relayout<ragged>(dm::with_cuts(counted(g, 5, 3), dm::cuts<batch>(lengths))));

  const auto whole = dm::all_gather<rows>(counted(g, 5, 3));
  const auto here = dm::place<rows, 0>(whole);
  check_persistent([](const auto& v) { return dm::broadcast<rows>(v); },
                   [](const auto& v) { return dm::persistent_broadcast<rows>(v); }, here);
  check_persistent([](const auto& v) { return dm::send<rows, 0>(v); },
                   [](const auto& v) { return dm::persistent_send<rows, 0>(v); }, here);
  if (g.ranks() == 1) return;
  check_persistent([](const auto& v) { return dm::send<rows, 1>(v); },
                   [](const auto& v) { return dm::persistent_send<rows, 1>(v); }, here);
  check_persistent([](const auto& v) { return dm::send<rows, 0, 1>(v); },
                   [](const auto& v) { return dm::persistent_send<rows, 0, 1>(v); }, here);
}

TEST_CASE("the first time finds out what there is: plans, memory and MPI's requests are kept") {
  const dm::grid<pod> g;
  auto edges = dm::persistent_halo_exchange<1, batch>(counted(g, 6, 1), dm::boundary::periodic);
  auto turned = dm::persistent_shift<batch>(counted(g, 6, 2), 1);
  auto whole = dm::persistent_all_gather<rows>(counted(g, 6, 3));
  const auto step = [&] {
    turned.start();
    const double* const where[] = {edges.run().data(), whole.run().data()};
    (void)turned.wait();
    return std::vector<const double*>(std::begin(where), std::end(where));
  };
  const auto places = step();
  const index_t plans = dm::detail::plans_made(), made = census::persistent_sends();
  const auto memory = dm::detail::pool::instance().figures();
  CHECK((made > 0) == (g.ranks() > 1));
  for (int i = 0; i < 5; ++i) {
    dm::fill(edges.operand(), static_cast<double>(i));
    CHECK(step() == places);
  }
  CHECK(dm::detail::plans_made() == plans);
  CHECK(census::persistent_sends() == made);
  CHECK(dm::detail::pool::instance().figures().allocations == memory.allocations);
  CHECK(dm::detail::pool::instance().figures().live == memory.live);
}

TEST_CASE("who keeps a result keeps its elements; who writes what travels gets other memory") {
  const dm::grid<pod> g;
  auto move = dm::persistent_all_gather<rows>(counted(g, 4, 0));
  const auto before = move.run();
  const auto want = dm::all_gather<rows>(counted(g, 4, 0));
  dm::fill(move.operand(), -1.0);
  CHECK(test_support::on_host(move.run())[0] == -1);
  CHECK(same(before, want));
  auto edges = dm::persistent_shift<batch>(counted(g, 4, 0), 1);
  const auto shifted = dm::shift<batch>(counted(g, 4, 0), 1);
  edges.start();
  dm::fill(edges.operand(), -1.0);
  CHECK(same(edges.wait(), shifted));
  CHECK(test_support::on_host(edges.run())[0] == -1);
}

TEST_CASE("addends that count once, and others, in the same memory") {
  const dm::grid<pod> g;
  auto sums = dm::persistent_all_reduce<rows>(addends(g, batch{2}, hidden{3}));
  const auto right = [&sums] { return same(sums.run(), dm::all_reduce<rows>(sums.operand())); };
  for (int i = 0; i < 3; ++i) {
    dm::fill(sums.operand(), 3.0);  // on every rank, and once in all
    for (int again = 0; again < 2; ++again) CHECK(right());
    CHECK(test_support::on_host(sums.run())[0] == 3);
    auto parts = addends(g, batch{2}, hidden{3});
    for (index_t k = 0; k < parts.local_size(); ++k)
      test_support::on_host(parts)[k] = static_cast<double>(k + i);
    sums.operand() = parts;
    for (int again = 0; again < 2; ++again) CHECK(right());
    CHECK(test_support::on_host(sums.run())[1] == static_cast<double>(g.ranks() * (1 + i)));
    dm::fill(sums.operand(), 5.0);  // begun in between: of other ranks nothing is wanted
    sums.start();
    CHECK(test_support::on_host(sums.wait())[0] == 5);
    CHECK(test_support::on_host(sums.run())[0] == 5);
  }
}

TEST_CASE(
    "large sums, which go in pieces at once and whole when they begin: a rank keeps a result") {
  const dm::grid<pod> g;
  const index_t n = (dm::collective::cut_above + dm::collective::piece) / 8;
  auto parts = addends(g, batch{1}, hidden{n});
  {
    const auto elements = test_support::on_host(parts);
    for (index_t i = 0; i < n; ++i) elements[i] = static_cast<double>(i % 7 + g.rank());
  }
  auto move = dm::persistent_all_reduce<rows>(std::move(parts));
  const auto right = [&](const auto& y) {
    const auto ranks = static_cast<double>(g.ranks());
    return test_support::on_host(y)[n - 1] ==
           ranks * static_cast<double>((n - 1) % 7) + ranks * (ranks - 1) / 2;
  };
  using result = typename decltype(move)::result_type;
  std::vector<result> kept;
  for (int i = 0; i < 3; ++i) {
    move.start();
    CHECK(right(move.wait()));
    if (g.rank() == 0)
      kept.push_back(move.run());
    else
      CHECK(right(move.run()));
    CHECK(right(move.run()));
  }
  for (const auto& y : kept) CHECK(right(y));
}

/// Hears what is done, and forgets it.
struct hears : dm::event_sink {
  int events = 0;
  void take(const dm::event&) override { ++events; }
};

TEST_CASE("operands that take turns, of which a step is watched, on all ranks or one") {
  const dm::grid<pod> g;
  const auto next = [&g](index_t i) { return (i + 1) % g.ranks(); };
  const auto check = [&](auto move, const auto& call) {
    matrix a = counted(g, 6, 1), b = counted(g, 6, 500);
    const auto step = [&](const matrix& x) {
      move.operand() = x;
      CHECK(same(move.run(), call(x)));
      move.start();
      CHECK(same(move.wait(), call(x)));
    };
    for (const bool everywhere : {true, false}) {
      step(a), step(b), step(a);
      {
        hears sink;
        std::optional<dm::watch> here;
        if (everywhere || g.rank() == 0) here.emplace(sink);
        step(b);
      }
      step(a), step(a), step(b);
    }
  };
  check(dm::persistent_shift<batch>(counted(g, 6, 0), 1),
        [](const matrix& x) { return dm::shift<batch>(x, 1); });
  check(dm::persistent_permute_along<rows>(counted(g, 6, 0), next),
        [&](const matrix& x) { return dm::permute_along<rows>(x, next); });
  check(dm::persistent_halo_exchange<1, batch>(counted(g, 6, 0)),
        [](const matrix& x) { return dm::halo_exchange<1, batch>(x); });
  check(dm::persistent_all_gather<rows>(counted(g, 6, 0)),
        [](const matrix& x) { return dm::all_gather<rows>(x); });
}

template <int> struct one : dm::dim<1> {};

TEST_CASE("more dims than most tensors have") {
  const dm::grid<pod> g;
  using many =
      dm::tensor<double, by_batch, batch, one<1>, one<2>, one<3>, one<4>, one<5>, one<6>, hidden>;
  check_persistent([](const auto& v) { return dm::shift<batch>(v, 1); },
                   [](const auto& v) { return dm::persistent_shift<batch>(v, 1); },
                   dm::constant<many>(g, 2.0, batch{g.ranks()}, hidden{3}));
}

TEST_CASE("several under way at a time, waited for in any order; asked until they are there") {
  const dm::grid<pod> g;
  const matrix a = counted(g, 40, 0), b = counted(g, 3, 7);
  auto one = dm::persistent_shift<batch>(a, 1), two = dm::persistent_shift<batch>(b, 1);
  auto three = dm::persistent_all_gather<rows>(b);
  for (int i = 0; i < 4; ++i) {
    one.start(), two.start(), three.start();
    CHECK(same(dm::shift<batch>(b, 1), two.wait()));
    if (i % 2 == 0)
      while (!three.ready()) {}
    CHECK(same(three.wait(), dm::all_gather<rows>(b)));
    while (!one.ready()) {}
    CHECK(same(one.wait(), dm::shift<batch>(a, 1)));
  }
}

TEST_CASE("handles: what they refuse, moved, kept in a vector, dropped") {
  const dm::grid<pod> g;
  const index_t live = dm::detail::pool::instance().figures().live;
  {
    auto move = dm::persistent_shift<batch>(counted(g, 4, 0), 1);
    using handle = decltype(move);
    CHECK_THROWS_WITH((void)move.wait(),
                      "wait: the persistent move is not under way; start() it first");
    CHECK_THROWS_WITH((void)move.ready(),
                      "ready: the persistent move is not under way; start() it first");
    move.start();
    CHECK_THROWS_WITH(move.start(), "start: the persistent move is under way; wait() for it first");
    CHECK_THROWS_WITH((void)move.run(),
                      "run: the persistent move is under way; wait() for it first");
    std::vector<handle> all;
    all.push_back(std::move(move));
    CHECK_THROWS_WITH(move.start(),
                      "start: there is no move in this handle: it was moved from, or never made");
    CHECK(same(all[0].wait(), dm::shift<batch>(counted(g, 4, 0), 1)));
    all.emplace_back();
    CHECK_THROWS_WITH((void)all[1].run(),
                      "run: there is no move in this handle: it was moved from, or never made");
    all[1] = dm::persistent_shift<batch>(counted(g, 4, 0), 1);
    all[1].start();
    all[1] = std::move(all[0]);  // the one that was there ends
    CHECK(same(all[1].run(), dm::shift<batch>(counted(g, 4, 0), 1)));
    all[1].operand() = counted(g, 5, 0);
    CHECK_THROWS_WITH((void)all[1].run(),
                      "shift: the operand of a persistent move has other extents, cuts or another "
                      "grid than when the move was made; make another move for it");
    all[1].operand() = matrix();
    CHECK_THROWS_WITH((void)all[1].run(),
                      "shift: an operand is not defined: it was moved from, or never made on a "
                      "grid; make it first");
    CHECK_THROWS_WITH((void)dm::persistent_shift<batch>(matrix(), 1),
                      "shift: an operand is not defined: it was moved from, or never made on a "
                      "grid; make it first");
    all[1].operand() = counted(g, 4, 9);
    CHECK(same(all[1].run(), dm::shift<batch>(counted(g, 4, 9), 1)));
    all[1].start();  // and nobody waits
  }
  CHECK(dm::detail::pool::instance().figures().live == live);
}

TEST_CASE("moves that some ranks alone have made before leave no tag behind") {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != 4) return;
  const dm::grid<plane> g(x{2}, y{2});
  using here = dm::layout<plane, dm::split<dm::uneven<p>, x>, dm::placed<y, 0>>;
  const auto v = dm::zeros<dm::tensor<double, here, p>>(g, p{8});
  for (int i = 0; i < 3; ++i) (void)dm::await(dm::start_shift<p>(v, 1));
  const auto u = dm::zeros<dm::tensor<double, dm::layout<plane, dm::split<q, y>>, q>>(g, q{8});
  auto move = dm::persistent_shift<q>(u, 1);  // between ranks of which one made those
  for (int i = 0; i < 3; ++i) CHECK(same(move.run(), dm::shift<q>(u, 1)));
}

TEST_CASE("exceptions that pass: nothing is left behind") {
  const dm::grid<pod> g;
  const index_t live = dm::detail::pool::instance().figures().live;
  for (int i = 0; i < 3; ++i) {
    const auto throws = [&] {
      auto one = dm::persistent_shift<batch>(counted(g, 20000, 3), 1);
      auto two = dm::persistent_all_gather<rows>(counted(g, 20000, 3));
      (void)one.run();
      one.start(), two.start();
      throw std::runtime_error("in between");
    };
    CHECK_THROWS_WITH(throws(), "in between");
    while (dm::collective::requests_given_up() > 0) {}
    CHECK(dm::detail::pool::instance().figures().live == live);
  }
}

TEST_CASE("layouts that only the run knows") {
  const dm::grid<pod> g;
  using any = dm::runtime_tensor<double, pod, batch, hidden>;
  const auto from = dm::any_tensor(counted(g, 4, 0)).as<any>();
  auto whole = dm::persistent_all_gather<rows>(from);
  auto turned = dm::persistent_shift<batch>(from, 1);
  const auto want = dm::all_gather<rows>(from), want_turned = dm::shift<batch>(from, 1);
  for (int i = 0; i < 3; ++i) {
    const auto& got = whole.run();
    CHECK(dm::describe(got) == dm::describe(want));
    CHECK(same(got, want));
    turned.start();
    CHECK(same(turned.wait(), want_turned));
  }
  CHECK_THROWS_WITH_AS((void)dm::persistent_all_reduce<rows>(from),
                       doctest::Contains("all_reduce: axis_not_partial"), dm::error);
}

TEST_CASE("while costs are counted") {
  const dm::grid<pod> g;
  const auto makes = [](const auto& v) {
    if constexpr (!dm::detail::is_shaped<std::remove_cvref_t<decltype(v)>>)
      (void)dm::persistent_shift<batch>(v, 1);
    return v;
  };
  CHECK_THROWS_WITH((void)dm::count(makes, counted(g, 4, 0)),
                    "shift: a persistent move is made of elements, which shapes have none of; "
                    "while costs are counted, call shift, which costs the same");
}

}  // namespace
