// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// Do the events of a run on data come as the run on shapes foresees them, one by one? Operations,
// collectives, both ways; stencils, whose operations are typed; what goes in one message.
#include "dimesh/ledger/event.hpp"

#include <doctest/doctest.h>
#include <dimesh/dimesh.hpp>

#include <algorithm>
#include <sstream>

#include "dimesh/fill.hpp"
#include "dimesh/grad/accumulate.hpp"
#include "dimesh/grad/cost.hpp"
#include "dimesh/grad/overlap.hpp"
#include "dimesh/optim/adam.hpp"
#include "dimesh/optim/clip.hpp"
#include "dimesh/optim/sgd.hpp"
#include "dimesh/optim/shards.hpp"
#include "dimesh/reflect/clone.hpp"
#include "dimesh/show/events.hpp"

namespace {
namespace dm = dimesh;

struct rows : dm::axis<> {};
struct cols : dm::axis<> {};
struct pod : dm::mesh<rows, cols> {};
struct batch : dm::dim<8> {};
struct in : dm::dim<12> {};
struct hidden : dm::dim<4> {};

using data = dm::layout<pod, dm::split<batch, rows, cols>>;
using hybrid = dm::layout<pod, dm::split<batch, rows>, dm::split<hidden, cols>>;
using inner = dm::layout<pod, dm::split<batch, rows>, dm::split<in, cols>>;

template <class L> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (dm::tensor<float, L, in, hidden>, first),
                           (dm::tensor<float, L, hidden>, second));
};
template <class L> using input = dm::tensor<float, L, batch, in>;

struct loss {
  template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
    const auto h = dm::relu(dm::complete(dm::einsum<batch, hidden>(x, p.first)));
    return dm::sum(dm::square(dm::complete(dm::einsum<batch>(h, p.second))));
  }
};
struct step {
  template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
    return dm::complete(dm::value_and_grad(loss{}, p)(x));
  }
};
/// Two batches, and the sum scattered over those that share it.
struct sharded_step {
  template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
    const auto sum =
        dm::accumulate(2, [&](dm::index_t) { return dm::value_and_grad(loss{}, p)(x); });
    return dm::reduce_scatter_together<dm::layout<pod, dm::spread<rows>>>(sum.gradient);
  }
};

/// What happened, without memory, which slabs and scratch share out otherwise, and without times.
std::vector<std::string> text_of(const std::vector<dm::event>& events) {
  std::vector<std::string> lines;
  for (const dm::event& e : events) {
    if (e.kind == dm::event_kind::acquire || e.kind == dm::event_kind::release) continue;
    std::ostringstream out;
    out << e.phase << ' ' << e.what << " <- " << e.transpose_of << ' ' << name_of(e.kind) << ' '
        << e.axes << ": " << e.flops << ' ' << e.moved << ' ' << e.bytes << ' ' << e.ring_bytes;
    lines.push_back(out.str());
  }
  return lines;
}
std::vector<std::string> sorted(std::vector<std::string> lines) {
  std::sort(lines.begin(), lines.end());
  return lines;
}

/// A half of a grid's ranks along each axis, if there are four.
dm::grid<pod> make_grid() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return dm::grid<pod>(rows{size > 1 ? 2 : 1}, cols{size > 2 ? 2 : 1});
}
template <class F, class... X> std::vector<dm::event> watched(const F& f, const X&... x) {
  dm::event_list list;
  {
    const dm::watch all(list);
    [[maybe_unused]] const auto y = f(x...);
  }
  return list.events;
}
/// In one order, or (a collective reports itself before its operation's arithmetic) in any.
template <class F, class... X> void check(bool in_order, const F& f, const X&... x) {
  const auto ahead = text_of(dm::events_of(f, dm::shapes_of(x)...).events);
  const auto done = text_of(watched(f, x...));
  if (std::get<0>(std::tie(x...)).grid().rank() != 0) return;  // others hold less at times
  if (std::get<0>(std::tie(x...)).grid().ranks() == 4) CHECK(!ahead.empty());
  if (in_order)
    CHECK(done == ahead);
  else
    CHECK(sorted(done) == sorted(ahead));
}

template <class L> void check_step(const dm::grid<pod>& g) {
  const auto p = dm::zeros<network<L>>(g);
  const auto x = dm::zeros<input<L>>(g);
  const auto ahead = dm::events_of(step{}, dm::shapes_of(p), dm::shapes_of(x));
  const auto done = watched(step{}, p, x);
  if (g.rank() == 0) CHECK(text_of(done) == text_of(ahead.events));
  for (const dm::event& e : done) CHECK((e.begin > 0 && e.end >= e.begin));
  const auto shards_ahead = dm::events_of(sharded_step{}, dm::shapes_of(p), dm::shapes_of(x));
  const auto shards_done = watched(sharded_step{}, p, x);
  if (g.rank() == 0) CHECK(text_of(shards_done) == text_of(shards_ahead.events));
  const auto log = dm::events_on(g, done);
  CHECK(log.sizes.size[0] * log.sizes.size[1] == g.ranks());
  CHECK(log.total().flops() > 0);
  if (g.rank() == 0) CHECK(log.total().counts.over == ahead.total().counts.over);
}

TEST_CASE("events of a training step: as foreseen, one by one") {
  const auto g = make_grid();
  check_step<data>(g);
  check_step<hybrid>(g);
  check_step<inner>(g);
}

TEST_CASE("events of movements and stencils: as foreseen") {
  const auto g = make_grid();
  const auto x = dm::zeros<input<inner>>(g);
  check(false, [](const auto& v) { return dm::shift<in>(v, 5); }, x);
  check(false, [](const auto& v) { return dm::halo_exchange<1, in>(v); }, x);
  check(
      false,
      [](const auto& v) {
        return dm::stencil([](const auto& u) { return dm::at<in>(u, 1) - dm::at<in>(u, -1); },
                           dm::halo_exchange<1, in>(v));
      },
      x);
  check(true, [](const auto& v) { return dm::relayout<data>(v); }, x);
  check(true, [](const auto& v) { return dm::whole<in>(dm::clone(v)) * 2.0f; }, x);
  check(true, [](const auto& v) { return dm::max<in>(v); }, x);
}

/// A step of each optimizer, behind gradients cut to a norm.
template <class Optimizer> struct training {
  Optimizer optimizer;
  template <class P, class X> void operator()(const P& parameters, const X& x) const {
    P p = dm::clone(parameters);
    auto step = dm::complete(dm::value_and_grad(loss{}, p)(x));
    dm::clip_by_global_norm(step.gradient, 1e-3);
    if constexpr (requires { optimizer.start(p); }) {
      auto state = optimizer.start(p);
      optimizer(p, step.gradient, state);
    } else {
      optimizer(p, step.gradient);
    }
  }
};
template <class L> void check_training(const dm::grid<pod>& g) {
  auto p = dm::zeros<network<L>>(g);
  dm::fill(p.first, 0.5f);
  dm::fill(p.second, 0.25f);
  auto x = dm::zeros<input<L>>(g);
  dm::fill(x, 1);
  const auto one = [&](const auto& optimizer) {
    const training<std::remove_cvref_t<decltype(optimizer)>> f{optimizer};
    const auto run = [&f](const auto&... a) {
      f(a...);
      return 0;
    };
    const auto shaped = dm::events_of(run, dm::shapes_of(p), dm::shapes_of(x));
    const auto typed = dm::events_of(run, p, x);
    const auto done = watched(run, p, x);
    if (g.rank() != 0) return;
    CHECK(text_of(done) == text_of(shaped.events));
    CHECK(text_of(done) == text_of(typed.events));
    CHECK(dm::events_on(g, done).total().flops() == dm::count(run, p, x).flops());
    CHECK(std::count_if(done.begin(), done.end(),
                        [](const dm::event& e) { return e.what == "update_each"; }) == 2);
    CHECK(std::count_if(done.begin(), done.end(), [](const dm::event& e) {
            return e.what == "rescale" && e.kind == dm::event_kind::compute;
          }) == 2);
  };
  one(dm::sgd{});
  one(dm::momentum{});
  one(dm::adam{});
}
TEST_CASE(
    "events of norms and optimizers: as foreseen, on shapes and on tensors that are counted") {
  const auto g = make_grid();
  check_training<data>(g);
  check_training<hybrid>(g);
  check_training<inner>(g);
}

TEST_CASE("sums that overlap: buckets and messages as foreseen") {
  const auto g = make_grid();
  const auto check_buckets = [&g](auto layout) {
    using L = decltype(layout);
    const auto p = dm::zeros<network<L>>(g);
    const auto x = dm::zeros<input<L>>(g);
    for (const dm::index_t bucket : {64, 100, 200, 1 << 20})
      for (const bool overlap : {true, false}) {
        const auto f = [=](const auto& parameters, const auto& in) {
          return dm::value_and_grad_all_reduce(loss{}, parameters, {bucket, overlap})(in);
        };
        const auto done = dm::events_on(g, watched(f, p, x)).total();
        if (g.rank() != 0) continue;
        CHECK(done.counts.over == dm::count(f, dm::shapes_of(p), dm::shapes_of(x)).counts.over);
        CHECK(done.counts.over == dm::count(f, p, x).counts.over);
      }
  };
  check_buckets(data{});
  check_buckets(hybrid{});
  check_buckets(inner{});
}

TEST_CASE("events of memory: what is taken and given back while one looks") {
  const auto g = make_grid();
  const auto x = dm::zeros<input<data>>(g);
  dm::index_t held = 0, most = 0, times = 0;
  dm::event_list list;
  {
    const dm::watch all(list);
    const auto y = dm::square(x);
  }
  for (const dm::event& e : list.events) {
    held += e.memory;
    most = std::max(most, held);
    times += e.kind == dm::event_kind::acquire && e.what == "square";
  }
  CHECK((held == 0 && most == x.local_bytes() && times == 1));
  CHECK(watched([&](const auto& v) { return v; }, x).empty());
}

}  // namespace
