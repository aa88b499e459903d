// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// checks: 750 1650 2550
// Started moves of tensors that live at one place of an axis, and of blocks of any lengths: what
// the blocking calls give, at their cost, or the same error; several at once, and dropped ones.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>

#include "dimesh/dimesh.hpp"
#include "dimesh/op/cuts.hpp"
#include "dimesh/op/start.hpp"
#include "dimesh/op/start_to_rank.hpp"
#include "support/host.hpp"
#include "support/movement.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;

template <class X> bool same(const X& a, const X& b) {
  return a.local_size() == b.local_size() &&
         std::equal(on_host(a).data(), on_host(a).data() + a.local_size(), on_host(b).data());
}

/// What axis A may do to x: f(blocking call, its start).
template <class A, class X, class F> void for_each_mover_along(const F& f) {
  using S = dm::spec_of<X>;
  constexpr auto now = S::table.axis[dm::axis_index<typename S::mesh, A>];
  if constexpr (now.what == dm::use::partial) {
    f([](const auto& v) { return dm::all_reduce<A>(v); },
      [](const auto& v) { return dm::start_all_reduce<A>(v); });
    f([](const auto& v) { return dm::reduce<A, 0>(v); },
      [](const auto& v) { return dm::start_reduce<A, 0>(v); });
    f([](const auto& v) { return dm::reduce_scatter<dm::uneven<r>, A>(v); },
      [](const auto& v) { return dm::start_reduce_scatter<dm::uneven<r>, A>(v); });
  } else if constexpr (now.what == dm::use::split) {
    using From = dm::detail::type_at<now.dim, typename S::dims>;
    if constexpr (now.level + 1 == S::table.split_count(now.dim)) {
      f([](const auto& v) { return dm::all_gather<A>(v); },
        [](const auto& v) { return dm::start_all_gather<A>(v); });
      f([](const auto& v) { return dm::all_to_all<From, dm::uneven<r>, A>(v); },
        [](const auto& v) { return dm::start_all_to_all<From, dm::uneven<r>, A>(v); });
    }
    const auto next = [](const auto& v) {
      return [n = v.grid().template size<A>()](index_t i) { return (i + 1) % n; };
    };
    f([=](const auto& v) { return dm::permute_along<A>(v, next(v)); },
      [=](const auto& v) { return dm::start_permute_along<A>(v, next(v)); });
  } else {
    f([](const auto& v) { return dm::broadcast<A>(v); },
      [](const auto& v) { return dm::start_broadcast<A>(v); });
    if constexpr (now.what == dm::use::placed)
      f([](const auto& v) { return dm::send<A, 0>(v); },
        [](const auto& v) { return dm::start_send<A, 0>(v); });
  }
}
/// All movers of x, of which some go along A or D.
template <class A, class D, class X, class F> void for_each_mover(const X&, const F& f) {
  for_each_mover_along<A, X>(f);
  using M = typename X::mesh_type;
  using goal = dm::layout<M, dm::split<dm::uneven<r>, A>>;
  f([](const auto& v) { return dm::whole<D>(v); },
    [](const auto& v) { return dm::start_whole<D>(v); });
  f([](const auto& v) { return dm::shift<D>(v, 2, dm::boundary::zero); },
    [](const auto& v) { return dm::start_shift<D>(v, 2, dm::boundary::zero); });
  f([](const auto& v) { return dm::halo_exchange<1, q, p>(v); },
    [](const auto& v) { return dm::start_halo_exchange<1, q, p>(v); });
  f([](const auto& v) { return dm::relayout<goal>(v); },
    [](const auto& v) { return dm::start_relayout<goal>(v); });
  f([](const auto& v) { return dm::complete(v); },
    [](const auto& v) { return dm::start_complete(v); });
}

/// f(), or what it throws.
template <class F, class Y = std::invoke_result_t<F>>
std::optional<Y> tried(const F& f, std::string& error) {
  try {
    return f();
  } catch (const dm::error& e) {
    error = e.what();
    return {};
  }
}
/// The start of a mover does what the mover does.
template <class X, class F, class G> void check_start(const X& v, const F& f, const G& begin) {
  std::string said, said_later;
  census::reset();
  const auto want = tried([&] { return f(v); }, said);
  const auto blocking = census::snapshot();
  census::reset();
  const auto got = tried([&] { return dm::await(begin(v)); }, said_later);
  CHECK(census::snapshot() == blocking);
  CHECK(said == said_later);
  CHECK((!want || same(*got, *want)));
}
/// Several on their way at once, awaited from the last to the first; others that nobody wants.
template <class X> void check_many(const X& v, const array& a) {
  auto whole = dm::start_whole<p>(v);
  auto moved = dm::start_shift<p>(v, 1);
  auto complete = dm::start_complete(v);
  auto there = dm::start_to_rank(v);
  const auto values = dm::await(std::move(there));
  if (v.grid().rank() == 0)
    CHECK(std::equal(values.begin(), values.end(), a.values.begin(), a.values.end()));
  CHECK(same(dm::await(std::move(complete)), dm::complete(v)));
  CHECK(same(dm::await(std::move(moved)), dm::shift<p>(v, 1)));
  CHECK(same(dm::await(std::move(whole)), dm::whole<p>(v)));
  {
    [[maybe_unused]] const auto dropped = dm::start_whole<p>(v);
    [[maybe_unused]] const auto other = dm::start_shift<p>(v, 1);
  }
  CHECK(agrees(dm::complete(v), a));
}

/// A block for each rank; where it is not rising, the last one is empty, else the first.
template <class D, class Grid> dm::cuts<D> cut_up(const Grid& g, index_t n, bool rising) {
  std::vector<double> weight;
  const int ranks = g.ranks();
  for (int i = 0; i < ranks; ++i) weight.push_back(ranks == 1 ? 1 : rising ? i : ranks - 1 - i);
  return dm::cuts_by_speed<D>(n, weight);
}

TEST_CASE("started moves of what lives at one place, and of blocks of any lengths") {
  constexpr layout_choice odd{
      .partial = true, .ragged = true, .places = 2, .stride = 6, .first = 3};
  for_each_grid<plane>([&](const dm::grid<plane>& g) {
    for_each_layout<plane, dm::detail::list<p, q>, odd>([&](auto t) {
      using X = dm::tensor<double, typename decltype(t)::type, p, q, r>;
      INFO("layout ", std::string(dm::detail::spelled<typename X::layout_type>()));
      for (const extents& n : {extents{7, 4, 3}, extents{1, 5, 2}, extents{0, 2, 2}}) {
        if (!comes_out_even<dm::spec_of<X>>(g, n)) continue;
        const array a = numbers({"p", "q", "r"}, n, 1);
        const X v = scattered<X>(g, a, cut_up<p>(g, n[0], true), cut_up<q>(g, n[1], false));
        const auto check = [&v](const auto& f, const auto& begin) { check_start(v, f, begin); };
        for_each_mover<x, p>(v, check);
        for_each_mover<y, q>(v, check);
        check_many(v, a);
      }
    });
  });
}

}  // namespace
