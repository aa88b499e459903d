// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ZeRO as layouts: the parameters after some steps are those of the plain optimizer; messages and
// state have the sizes of closed formulas (Rajbhandari et al. 2020, section 5 and 7).
//
// ranks: 1 2 4
#include "dimesh/optim/sharded.hpp"

#include <doctest/doctest.h>

#include <census.hpp>
#include <cmath>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>
#include <dimesh/grad/overlap.hpp>

#include "dimesh/op/cuts.hpp"
#include "dimesh/optim/adafactor.hpp"
#include "dimesh/optim/adam.hpp"
#include "dimesh/optim/clip.hpp"
#include "dimesh/optim/shards.hpp"
#include "support/host.hpp"
#include "support/worst.hpp"

namespace dm = dimesh;

namespace {

struct batch : dm::dim<8> {};
struct width : dm::dim<12> {};
struct hidden : dm::dim<20> {};
struct few : dm::dim<4> {};
struct odd : dm::dim<3> {};
struct one : dm::axis<> {};
struct two : dm::axis<> {};
struct pod : dm::mesh<one, two> {};

template <class L, class V> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (dm::tensor<float, L, width, hidden>, w),
                           (dm::tensor<float, L, hidden>, b),
                           (std::array<dm::tensor<float, L, V, hidden>, 2>, v),
                           (dm::tensor<float, L>, scale));
};

template <class V> struct loss {
  template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
    auto h = dm::tanh(dm::complete(dm::einsum<batch, hidden>(x, p.w)) + p.b);
    auto y = dm::complete(dm::einsum<batch, V>(h, p.v[0] + p.v[1])) * p.scale;
    return dm::mean<batch>(dm::einsum<batch>(y, y));
  }
};

template <class S> void fill_all(S& s) {
  std::uint64_t seed = 1;
  dm::for_each_tensor(
      [&](const auto&, auto& x) { dm::fill_uniform(x, dm::random_key{seed++}, -0.3f, 0.3f); }, s);
}
template <class S> dm::index_t bytes_of(const S& s) {
  dm::index_t n = 0;
  dm::for_each_tensor([&n](const auto&, const auto& x) { n += x.local_bytes(); }, s);
  return n;
}
template <class A, class B> double farthest(const A& a, const B& b) {
  double most = 0;
  dm::for_each_tensor(
      [&](const auto&, const auto& x, const auto& y) {
        for (dm::index_t i = 0; i < x.local_size(); ++i)
          most = test_support::worst(most, std::abs(double(test_support::on_host(x)[i]) -
                                                    double(test_support::on_host(y)[i])));
      },
      a, b);
  return most;
}

template <class V, class Zero> struct scatter {
  template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
    return dm::reduce_scatter_together<Zero>(dm::value_and_grad(loss<V>{}, p)(x).gradient);
  }
};

template <class L, class Zero, class V = few> void check(const dm::grid<pod>& g) {
  auto plain = dm::make<network<L, V>>(g);
  auto spread = dm::make<network<L, V>>(g);
  fill_all(plain);
  fill_all(spread);
  auto x = dm::uniform<dm::tensor<float, L, batch, width>>(g, dm::random_key{9}, -1.0f, 1.0f);
  const dm::adam adapt{.rate = 1e-2, .weight_decay = 0.1};
  const auto optimizer = dm::sharded<Zero>(adapt);
  auto plain_state = adapt.start(plain);
  auto state = optimizer.start(spread);
  for (int t = 0; t < 3; ++t) {
    adapt(plain, dm::complete(dm::value_and_grad(loss<V>{}, plain)(x)).gradient, plain_state);
    optimizer(spread, dm::value_and_grad(loss<V>{}, spread)(x).gradient, state);
  }
  CHECK(farthest(plain, spread) < 1e-6);

  // The gradient's length is that of the whole; clipping fits between the halves of a step.
  const auto gradients = dm::value_and_grad(loss<V>{}, spread)(x).gradient;
  auto parts = dm::reduce_scatter_together<Zero>(gradients);
  const double norm = dm::global_norm(dm::complete(gradients));
  CHECK(dm::clip_by_global_norm(parts, norm / 2) == doctest::Approx(norm).epsilon(1e-5));
  optimizer.update_all_gather(spread, parts, state);

  // What is sent is what shapes foresee.
  const auto predicted = dm::count(scatter<V, Zero>{}, dm::shapes_of(spread), dm::shapes_of(x));
  census::reset();
  (void)scatter<V, Zero>{}(spread, x);
  const auto seen = census::snapshot();
  for (unsigned mask = 1; mask < 4; ++mask) {
    CAPTURE(mask);
    CHECK(predicted.counts.over[mask].bytes == seen.bytes_on(mask));
    CHECK(predicted.counts.over[mask].calls == seen.calls_on(mask));
  }
}

template <class F> void on_grids(F&& f) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks % 2 == 0) f(dm::grid<pod>(one{2}, two{ranks / 2}));
  f(dm::grid<pod>(one{ranks}, two{1}));
}

using spread_one = dm::layout<pod, dm::spread<one>>;
using spread_both = dm::layout<pod, dm::spread<one>, dm::spread<two>>;
using by_batch = dm::layout<pod, dm::split<batch, one>>;
using by_both = dm::layout<pod, dm::split<batch, one>, dm::split<hidden, two>>;

}  // namespace

TEST_CASE("sharded: data parallel") {
  on_grids([](const auto& g) { check<by_batch, spread_one>(g); });
}
TEST_CASE("sharded: data and model parallel, state over both axes") {
  on_grids([](const auto& g) { check<by_both, spread_both>(g); });
}
TEST_CASE("sharded: nothing split but the state") {
  on_grids([](const auto& g) { check<dm::layout<pod>, spread_one>(g); });
}
TEST_CASE("sharded: uneven shards") {
  using thirds = dm::layout<pod, dm::split<dm::uneven<odd>, one>>;
  on_grids([](const auto& g) { check<by_batch, thirds, odd>(g); });
}

TEST_CASE("sharded: parameters in ragged blocks") {
  on_grids([](const auto& g) {
    using L = dm::layout<pod, dm::split<batch, one>, dm::split<dm::ragged<odd>, two>>;
    using P = std::tuple<dm::tensor<float, L, width, odd>, dm::tensor<float, L, width>>;
    std::vector<dm::index_t> lengths(static_cast<std::size_t>(g.template size<two>()));
    lengths.back() = odd::extent;  // the other blocks are empty
    const dm::cuts<odd> where(lengths);
    const auto x = dm::uniform<dm::tensor<float, L, batch, width>>(g, dm::random_key{9}, -1, 1);
    const auto f = [](const auto& q, const auto& y) {
      const auto h = dm::einsum<batch, odd>(y * std::get<1>(q), std::get<0>(q));
      return dm::sum(h * h);
    };
    const auto check_with = [&](const auto& optimizer) {
      P plain = dm::make<P>(g, where), spread = dm::make<P>(g, where);
      fill_all(plain), fill_all(spread);
      const auto by_shards = dm::sharded<spread_one>(optimizer);
      auto plain_state = optimizer.start(plain);
      auto state = by_shards.start(spread);
      for (int t = 0; t < 3; ++t) {
        optimizer(plain, dm::value_and_grad_all_reduce(f, plain)(x).gradient, plain_state);
        by_shards(spread, dm::value_and_grad(f, spread)(x).gradient, state);
      }
      CHECK(farthest(plain, spread) < 1e-6);
      P unmoved = dm::make<P>(g, where);
      fill_all(unmoved);
      CHECK(farthest(std::tuple{std::get<1>(plain)}, std::tuple{std::get<1>(unmoved)}) > 1e-3);
    };
    check_with(dm::adam{.rate = 1e-2});
    check_with(dm::adafactor{.rate = 1e-2});
  });
}

TEST_CASE("sharded: gradients in bfloat16") {
  on_grids([](const auto& g) {
    using P = std::tuple<dm::tensor<dm::bfloat16, by_batch, width>,
                         dm::tensor<float, by_batch, few>, dm::tensor<dm::bfloat16, by_batch>>;
    P p = dm::make<P>(g);
    dm::for_each_tensor([](const auto&, auto& x) { dm::fill(x, 1.0f); }, p);
    const auto x = dm::constant<dm::tensor<float, by_batch, batch>>(g, 1.0f);
    const auto f = [](const auto& q, const auto& y) {
      return (dm::sum<float>(dm::cast<float>(std::get<0>(q))) + dm::sum(std::get<1>(q)) +
              dm::cast<float>(std::get<2>(q))) *
             dm::sum(y);
    };
    const auto shards =
        dm::reduce_scatter_together<spread_one>(dm::value_and_grad(f, p)(x).gradient);
    dm::for_each_tensor(
        [](const auto&, const auto& s) {
          for (dm::index_t i = 0; i < s.local_size(); ++i)
            CHECK(static_cast<float>(test_support::on_host(s)[i]) == 8);
        },
        shards);
    dm::for_each_tensor([](const auto&, auto& w) { dm::fill(w, 0.0f); }, p);
    dm::all_gather_together(shards, p);
    CHECK(static_cast<float>(test_support::on_host(std::get<0>(p))[11]) == 8);
    CHECK(static_cast<float>(test_support::on_host(std::get<2>(p))[0]) == 8);  // no axis splits it
  });
}

// ---- closed formulas, of static sizes -----------------------------------------------------------

namespace {

struct rows : dm::axis<4> {};
struct farm : dm::mesh<rows> {};
using data = dm::layout<farm, dm::split<batch, rows>>;
using zero = dm::layout<farm, dm::spread<rows>>;
template <class L> struct model {
  BOOST_HANA_DEFINE_STRUCT(model, (dm::tensor<float, L, width, hidden>, w),
                           (dm::tensor<float, L, hidden>, b));
};
constexpr dm::index_t elements = 12 * 20 + 20, n = 4;

using shard = dm::shards<model<data>, zero>;
static_assert(
    std::is_same_v<decltype(shard::w),
                   dm::tensor<float, dm::layout<farm, dm::split<width, rows>>, width, hidden>>);
constexpr dm::index_t shard_bytes = [] {
  dm::index_t bytes = 0;
  dm::for_each_tensor([&](const auto&, const auto& x) { bytes += x.local_bytes(); },
                      dm::shards<model<dm::shaped<data>>, zero>{});
  return bytes;
}();
static_assert(shard_bytes == elements * 4 / n, "each of Adam's averages: 1/n of the parameters");

struct square {
  template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
    auto h = dm::einsum<batch, hidden>(x, p.w) + p.b;
    return dm::sum<batch>(dm::einsum<batch>(h, h));
  }
};
struct stage_two {
  template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
    return dm::reduce_scatter_together<zero>(dm::value_and_grad(square{}, p)(x).gradient);
  }
};
struct all_reduced {
  template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
    return dm::complete(dm::value_and_grad(square{}, p)(x).gradient);
  }
};
using input = dm::tensor<float, dm::shaped<data>, batch, width>;
constexpr auto two_costs = dm::cost_of<stage_two, model<dm::shaped<data>>, input>;
constexpr auto sum_costs = dm::cost_of<all_reduced, model<dm::shaped<data>>, input>;
static_assert(two_costs.calls<rows> == 1);
static_assert(two_costs.bytes<rows> == elements * 4);
static_assert(two_costs.ring_bytes<rows> == elements * 4 * (n - 1) / n, "half of the all-reduce");
static_assert(sum_costs.ring_bytes<rows> == 2 * two_costs.ring_bytes<rows>);

// Stage 3: parameters stored under the shards' layout and gathered where the model uses them.
struct gathered {
  template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
    auto h = dm::einsum<batch, hidden>(x, dm::relayout<data>(p.w)) + dm::relayout<data>(p.b);
    return dm::sum<batch>(dm::einsum<batch>(h, h));
  }
};
struct stage_three {
  template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
    return dm::complete(dm::value_and_grad(gathered{}, p)(x).gradient);
  }
};
using stored = dm::shards<model<dm::shaped<data>>, zero>;
constexpr auto three_costs = dm::cost_of<stage_three, stored, input>;
static_assert(three_costs.ring_bytes<rows> == 2 * elements * 4 * (n - 1) / n,
              "an all-gather forward, a reduce-scatter backward; a second gather if recomputed");
static_assert(std::is_same_v<decltype(stage_three{}(stored{}, input{})), stored>,
              "gradients arrive as shards, by types alone");

}  // namespace

TEST_CASE("sharded: one message each way, whatever the number of tensors") {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const dm::grid<pod> g(one{ranks}, two{1});
  auto p = dm::make<network<by_batch, few>>(g);
  fill_all(p);
  const auto x =
      dm::uniform<dm::tensor<float, by_batch, batch, width>>(g, dm::random_key{9}, -1, 1);
  const auto optimizer = dm::sharded<spread_one>(dm::adam{});
  auto state = optimizer.start(p);
  const auto gradients = dm::value_and_grad(loss<few>{}, p)(x).gradient;
  census::reset();
  optimizer(p, gradients, state);
  const auto seen = census::snapshot();
  using census::operation;
  if (ranks == 1) {
    CHECK(seen.calls() == 0);
    return;
  }
  // All but the scale, which no axis can split.
  const dm::index_t split = bytes_of(p) - 4;
  CHECK(seen.calls(operation::reduce_scatter) == 1);
  CHECK(seen.bytes(operation::reduce_scatter) == split);
  CHECK(seen.calls(operation::all_gather) == 1);
  CHECK(seen.bytes(operation::all_gather) == split / ranks);
  CHECK(seen.calls(operation::all_reduce) == 1);
  CHECK(seen.bytes(operation::all_reduce) == 4);
  CHECK(bytes_of(state.first) == split / ranks + 4);
}

// ---- what lives at one place --------------------------------------------------------------------

namespace {

struct stage : dm::axis<2> {};
struct two_fields : dm::mesh<rows, stage> {};
template <int K> using at_stage = dm::layout<two_fields, dm::placed<stage, K>>;
using spread_rows = dm::layout<two_fields, dm::spread<rows>>;
/// A matrix at each stage: on shapes, and their gradients.
template <template <class> class L>
using two_stages = std::tuple<dm::tensor<float, L<at_stage<0>>, width, hidden>,
                              dm::tensor<float, L<at_stage<1>>, hidden>>;
template <class L> using addends_of = dm::shaped<dm::gradient<L>>;

struct scatter_rows {
  template <class G> constexpr auto operator()(const G& g) const {
    return dm::reduce_scatter_together<spread_rows>(g);
  }
};
constexpr two_stages<addends_of> two_gradients;
constexpr auto first_stage = dm::count_at<stage, 0>(scatter_rows{}, two_gradients);
constexpr auto second_stage = dm::count_at<stage, 1>(scatter_rows{}, two_gradients);
constexpr auto every_stage = dm::count(scatter_rows{}, two_gradients);
static_assert(first_stage.bytes<rows>() == 12 * 20 * 4 && first_stage.calls<rows>() == 1);
static_assert(second_stage.bytes<rows>() == 20 * 4 && second_stage.calls<rows>() == 1);
static_assert(every_stage.bytes<rows>() == elements * 4);

}  // namespace

TEST_CASE("sharded: a rank sends the gradients of its own stage") {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks % 2 != 0) return;
  const dm::grid<pod> g(one{ranks / 2}, two{2});
  using first = dm::layout<pod, dm::placed<two, 0>>;
  using second = dm::layout<pod, dm::placed<two, 1>>;
  const std::tuple addends{dm::zeros_like(dm::tensor<float, dm::gradient<first>, width>(g)),
                           dm::zeros_like(dm::tensor<float, dm::gradient<second>, hidden>(g))};
  census::reset();
  (void)dm::reduce_scatter_together<spread_one>(addends);
  const dm::index_t own = g.coord<two>() == 0 ? 12 * 4 : 20 * 4;
  CHECK(census::snapshot().bytes() == (ranks > 2 ? own : 0));
}

TEST_CASE("adam: a step that is refused is none, and changes nothing") {
  const dm::grid<pod> g(one{dm::dynamic}, two{1}), other(one{dm::dynamic}, two{1});
  using X = dm::tensor<float, dm::layout<pod>, few>;
  const auto ones = [](const auto& on) { return dm::constant<X>(on, 1); };
  std::tuple p{ones(g), ones(g)};
  const std::tuple bad{ones(g), ones(other)};
  const dm::adam adapt{};
  auto state = adapt.start(p);
  CHECK_THROWS_AS(adapt(p, bad, state), dm::error);
  CHECK(state.steps == 0);
  CHECK(farthest(p, std::tuple{ones(g), ones(g)}) == 0);
  CHECK(farthest(state.first, adapt.start(p).first) == 0);
  adapt(p, p, state);
  CHECK(state.steps == 1);
}
