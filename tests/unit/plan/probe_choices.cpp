// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: -O0
// alone: it takes half a minute to compile
// Operations that do one thing under some layouts and another one under others: events of probes,
// one after the other, are those of types, under every layout of a plane.
#include <doctest/doctest.h>

#include <algorithm>

#include "dimesh/dimesh.hpp"
#include "dimesh/grad/cost.hpp"
#include "dimesh/op/contract.hpp"
#include "dimesh/op/extreme_all_reduce.hpp"
#include "dimesh/op/parts/contract_best.hpp"
#include "dimesh/op/reductions.hpp"
#include "dimesh/plan/probe.hpp"
#include "support/happenings.hpp"
#include "support/layouts.hpp"

namespace {
namespace dm = dimesh;
namespace by = dm::by;
using dm::split;
using test_support::for_each_layout, test_support::layout_choice, test_support::what_happens;

struct batch : dm::dim<16> {};
struct pixel : dm::dim<32> {};
struct hidden : dm::dim<64> {};
struct label : dm::dim<8> {};
struct open_batch : dm::dim<> {};
struct open_hidden : dm::dim<> {};
struct open_pixel : dm::dim<> {};
struct rows : dm::axis<2> {};
struct cols : dm::axis<2> {};
struct pod : dm::mesh<rows, cols> {};
template <class... Rule> using L = dm::layout<pod, Rule...>;
using value = dm::layout_value<pod>;
using dims = dm::detail::list<batch, pixel, hidden>;
template <class C, class... D> using shape = dm::tensor<float, dm::shaped<C>, D...>;
const dm::mesh_sizes<pod> sizes;

template <class T, class C, class... D> auto probe_like(const dm::shaped_tensor<T, C, D...>& x) {
  const auto extent_of = [&]<class E>(dm::detail::list<E>) {
    if constexpr (E::extent == dm::dynamic)
      return std::tuple(E{x.template extent<E>()});
    else
      return std::tuple<>();
  };
  return std::apply(
      [](const auto&... e) {
        return dm::probe_of<dm::probe<T, pod, D...>>(value(C{}), sizes, e...);
      },
      std::tuple_cat(extent_of(dm::detail::list<D>{})...));
}
template <class F, class... X> void check_same(const F& f, const X&... x) {
  const std::string text = (value(typename dm::spec_of<X>::layout{}).text() + ... + "");
  CAPTURE(text);
  CHECK(what_happens(f, probe_like(x)...) == what_happens(f, x...));
}
/// f, and its gradient by the first operand.
template <class F> struct slope_of {
  F f;
  template <class X, class... Y> constexpr auto operator()(const X& x, const Y&... y) const {
    const auto loss = [&](const auto& v) { return dm::complete(dm::sum(f(v, y...))); };
    return dm::complete(dm::value_and_grad(loss, x)());
  }
};

TEST_CASE("probe: extremes over ranks and their gradients") {
  constexpr auto most = [](const auto& v) { return dm::max_all_reduce<pixel>(v); };
  constexpr auto least = [](const auto& v) { return dm::min_all_reduce(v); };
  constexpr auto magnitude = [](const auto& v) { return dm::max_norm<batch>(v); };
  for_each_layout<pod, dm::detail::list<batch, pixel>>([&](auto t) {
    const shape<typename decltype(t)::type, batch, pixel> x;
    check_same(most, x);
    check_same(slope_of{most}, x);
    check_same(slope_of{least}, x);
    check_same(slope_of{magnitude}, x);
  });
}

TEST_CASE("probe: variances and their gradients") {
  constexpr auto columns = [](const auto& v) { return dm::var<batch>(v, 1); };
  constexpr auto all = [](const auto& v) { return dm::stddev(v); };
  for_each_layout<pod, dm::detail::list<batch, pixel>>([&](auto t) {
    const shape<typename decltype(t)::type, batch, pixel> x;
    check_same(slope_of{columns}, x);
    check_same(slope_of{all}, x);
  });
  // Two all-reduces, of one and of two numbers a result; on the way back, of a cotangent of
  // addends, one of one number. (And one of the loss.)
  const shape<L<split<batch, rows>>, batch, pixel> x;
  constexpr auto product = [](const auto& v) { return v * dm::var<batch>(v, 1); };
  const auto there = dm::count(columns, x), both = dm::count(slope_of{product}, x);
  CHECK(there.counts.over[1].calls == 2);
  CHECK(there.counts.over[1].bytes == (1 + 2) * 32 * 4);
  CHECK(both.counts.over[1].calls == 2 + 1 + 1);
  CHECK(both.counts.over[1].bytes == (1 + 2 + 1) * 32 * 4 + 4);
}

template <class L, dm::index_t Memory = 0> struct product {
  template <class X, class W> constexpr auto operator()(const X& x, const W& w) const {
    return dm::contract<by::best<L, Memory>, batch, hidden>(x, w);
  }
};
/// The least memory with which by::best takes these: rings and panels, or else the smallest gather.
template <class X, class W>
constexpr dm::index_t least_memory = std::max(
    dm::index_t{1}, dm::detail::best_rule<void, 1, dm::detail::list<batch, hidden>>::wanted(
                        {dm::detail::facts_list<dm::spec_of<X>, dm::spec_of<W>>::at, 2}));
template <class C, class W> void check_products(const W& w) {
  const shape<C, batch, pixel> x;
  check_same(product<void>{}, x, w);
  check_same(slope_of{product<L<split<batch, cols>>>{}}, x, w);
  check_same(product<void, least_memory<shape<C, batch, pixel>, W>>{}, x, w);
}
TEST_CASE("probe: the best schedule of a product") {
  for_each_layout<pod, dims>([&](auto t) {
    using C = typename decltype(t)::type;
    check_products<C>(shape<C, pixel, hidden>());
  });
  for_each_layout<pod, dm::detail::list<batch, pixel>>([&](auto t) {
    using C = typename decltype(t)::type;
    check_products<C>(shape<L<split<pixel, rows>, split<hidden, cols>>, pixel, hidden>());
    check_products<C>(shape<L<split<hidden, rows>>, pixel, hidden>());
  });
}

template <dm::index_t Memory> struct open_product {
  template <class X, class W> constexpr auto operator()(const X& x, const W& w) const {
    return dm::contract<by::best<void, Memory>, open_batch, open_hidden>(x, w);
  }
};
TEST_CASE("probe: the best schedule where only the run knows extents") {
  constexpr auto f = [](const auto& x, const auto& w) {
    return dm::contract<by::best<>, open_batch, open_hidden>(x, w);
  };
  using X = shape<L<split<open_batch, rows>>, open_batch, pixel>;
  using W = shape<L<split<open_hidden, rows>>, pixel, open_hidden>;
  for (const dm::index_t n : {8, 4096})
    for (const dm::index_t m : {8, 4096})
      check_same(f, X(sizes, open_batch{n}), W(sizes, open_hidden{m}));
}

TEST_CASE("probe: the memory that a product may gather at once, where only the run knows extents") {
  using X = shape<L<split<open_batch, rows>>, open_batch, open_pixel>;
  using W = shape<L<split<open_hidden, rows>>, open_pixel, open_hidden>;
  const auto is_gathered = [](const auto& f, dm::index_t n) {
    const X x(sizes, open_batch{n}, open_pixel{n});
    const W w(sizes, open_pixel{n}, open_hidden{n});
    check_same(f, x, w);
    const auto log = dm::events_of(f, x, w);
    bool gathers = false, messages = false;
    for (const dm::event& e : log.events) {
      gathers = gathers || e.kind == dm::event_kind::all_gather;
      messages = messages || e.kind == dm::event_kind::message;
    }
    CHECK(gathers != messages);
    CHECK(log.total().template bytes<rows>() == n * n / 2 * 4);
    return gathers;
  };
  constexpr open_product<65536> some;  // 128 x 128 numbers
  CHECK(is_gathered(some, 8));
  CHECK(is_gathered(some, 128));
  CHECK(!is_gathered(some, 130));
  CHECK(!is_gathered(some, 8192));
  constexpr open_product<256> few;  // less than extents are taken to be
  CHECK(is_gathered(few, 8));
  CHECK(!is_gathered(few, 10));
  constexpr open_product<1 << 30> many;  // more than what is taken to be long
  CHECK(is_gathered(many, 16384));
  CHECK(!is_gathered(many, 32768));
  // Either operand goes round.
  const auto sent = [&](dm::index_t n, dm::index_t m) {
    const X x(sizes, open_batch{n}, open_pixel{1000});
    const W w(sizes, open_pixel{1000}, open_hidden{m});
    check_same(few, x, w);
    dm::index_t bytes = 0;
    for (const dm::event& e : dm::events_of(few, x, w).events)
      bytes += e.kind == dm::event_kind::message ? e.bytes : 0;
    return bytes;
  };
  CHECK(sent(20, 1000) == 20 * 1000 / 2 * 4);
  CHECK(sent(1000, 20) == 20 * 1000 / 2 * 4);
}

TEST_CASE("probe: the order of a chain of products") {
  constexpr auto three = [](const auto& x, const auto& w, const auto& v) {
    return dm::contract<by::best<>, batch, label>(x, w, v);
  };
  for_each_layout<pod, dims>([&](auto t) {
    using C = typename decltype(t)::type;
    check_same(three, shape<C, batch, pixel>(), shape<C, pixel, hidden>(),
               shape<C, hidden, label>());
  });
}

template <int I> struct link : dm::dim<16> {};
template <int I> using matrix = dm::probe<float, pod, link<I>, link<I + 1>>;

TEST_CASE("probe: a chain whose order no type says, and of which not all orders are compiled") {
  constexpr auto five = [](const auto&... x) {
    return dm::contract<by::best<>, link<0>, link<5>>(x...);
  };
  const auto run = [&](const value& l) {
    return dm::count(five, dm::probe_of<matrix<0>>(l, sizes), dm::probe_of<matrix<1>>(l, sizes),
                     dm::probe_of<matrix<2>>(l, sizes), dm::probe_of<matrix<3>>(l, sizes),
                     dm::probe_of<matrix<4>>(l, sizes));
  };
  CHECK(run(value()).flops() == 4 * 2 * 16 * 16 * 16);  // the order of whole operands
  std::string what;
  try {
    (void)run(value(L<split<link<4>, rows>>{}));
  } catch (const dm::error& e) {
    what = e.what();
  }
  CHECK(what ==
        "contract: an operand is a probe, and which pair of more than 4 operands is multiplied "
        "first follows from a layout that no type says; multiply some of them by a contract of "
        "their own");
}

TEST_CASE("probe: a chain whose order the addends decide that its result is to hold") {
  using goal = L<dm::partial<rows>>;
  constexpr auto five = [](const auto&... x) {
    return dm::contract<by::best<goal>, link<0>, link<5>>(x...);
  };
  using cut = L<split<link<1>, rows>>;
  const auto run = [&](const auto& last) {
    return what_happens(five, shape<cut, link<0>, link<1>>(), shape<cut, link<1>, link<2>>(),
                        shape<L<>, link<2>, link<3>>(), shape<L<>, link<3>, link<4>>(), last);
  };
  const shape<L<>, link<4>, link<5>> last;
  CHECK(run(probe_like(last)) == run(last));
}

}  // namespace
