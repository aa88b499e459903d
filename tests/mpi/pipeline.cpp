// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A model whose layers live on the stages of a pipeline: what a rank does is what its stage does,
// and values, gradients, norms and updates are those of ranks that hold everything.
//
// ranks: 2 4
// checks: 137 137
#include <doctest/doctest.h>

#include <census.hpp>
#include <cmath>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/accumulate.hpp>
#include <dimesh/grad/cost.hpp>
#include <dimesh/grad/jvp.hpp>
#include <dimesh/grad/overlap.hpp>
#include <dimesh/grad/recompute.hpp>
#include <dimesh/grad/vjp.hpp>
#include <dimesh/grad/with_transpose.hpp>
#include <dimesh/nn/initialize.hpp>
#include <dimesh/optim/adafactor.hpp>
#include <dimesh/optim/adam.hpp>
#include <dimesh/optim/clip.hpp>
#include <dimesh/optim/sgd.hpp>
#include <dimesh/optim/sharded.hpp>
#include <dimesh/show/print.hpp>
#include <span>
#include <sstream>
#include <vector>

#include "support/distance.hpp"

namespace dm = dimesh;
namespace nn = dimesh::nn;

namespace {

using test_support::distance;

struct batch : dm::dim<8> {};
struct pixel : dm::dim<6> {};
struct hidden : dm::dim<16> {};
struct label : dm::dim<4> {};
struct stage : dm::axis<2> {};
struct rows : dm::axis<> {};
struct pod : dm::mesh<stage, rows> {};

template <class L, bool Staged, int K> struct on_stage {
  using type = dm::layout_with<L, dm::placed<stage, K>>;
};
template <class L, int K> struct on_stage<L, false, K> {
  using type = L;
};

/// Staged: its layers live on two stages, `shared` on both; else everywhere.
template <class L, bool Staged> struct model {
  using first = typename on_stage<L, Staged, 0>::type;
  using second = typename on_stage<L, Staged, 1>::type;
  using w1_type = nn::parameter<nn::he_normal<pixel>, double, first, pixel, hidden>;
  using b1_type = nn::parameter<nn::normal<std::ratio<1, 10>>, double, first, hidden>;
  using shared_type = nn::parameter<nn::normal<std::ratio<1, 2>>, double, L, hidden>;
  using w2_type = nn::parameter<nn::he_normal<hidden>, double, second, hidden, label>;
  using scale_type = nn::parameter<nn::ones, double, second>;
  BOOST_HANA_DEFINE_STRUCT(model, (w1_type, w1), (b1_type, b1), (shared_type, shared),
                           (w2_type, w2), (scale_type, scale));
};

/// To stage K, and from stage to stage, where there are stages.
template <bool Staged, int K, class X> constexpr auto to_stage(const X& x) {
  if constexpr (!Staged)
    return x;
  else if constexpr (dm::use_of<dm::spec_of<X>, stage> == dm::use::placed)
    return dm::send<stage, K>(x);
  else
    return dm::place<stage, K>(x);
}

template <bool Staged> struct loss {
  template <class P, class X, class Y>
  constexpr auto operator()(const P& p, const X& x, const Y& y) const {
    const auto z = dm::einsum<batch, hidden>(to_stage<Staged, 0>(x), p.w1);
    const auto h = dm::tanh(z + p.b1) * to_stage<Staged, 0>(p.shared);
    const auto g = to_stage<Staged, 1>(h) * to_stage<Staged, 1>(p.shared);
    const auto d = dm::einsum<batch, label>(g, p.w2) * p.scale - to_stage<Staged, 1>(y);
    return dm::complete(dm::einsum<>(d, d)) * 0.5;
  }
};

using everywhere = dm::layout<pod>;
using by_rows = dm::layout<pod, dm::split<batch, rows>>;
using inputs = dm::tensor<double, by_rows, batch, pixel>;
using targets = dm::tensor<double, by_rows, batch, label>;

template <class S> S begun(const dm::grid<pod>& g) {
  S s = dm::make<S>(g);
  nn::initialize(s, dm::random_key{7});
  return s;
}
struct problem {
  dm::grid<pod> g;
  inputs x = dm::normal<inputs>(g, dm::random_key{1}, 0, 1);
  targets y = dm::normal<targets>(g, dm::random_key{2}, 0, 1);
  model<everywhere, true> staged = begun<model<everywhere, true>>(g);
  model<everywhere, false> plain = begun<model<everywhere, false>>(g);
};

constexpr double rounding = 1e-13;

TEST_CASE("numbers by path are those of a model that all ranks hold") {
  const problem p;
  CHECK(distance(p.staged, p.plain) == 0);
  const bool first = p.g.coord<stage>() == 0;
  CHECK((p.staged.w1.data() != nullptr) == first);
  CHECK(p.staged.w1.local_size() == (first ? 6 * 16 : 0));
  CHECK(p.staged.scale.local_size() == (first ? 0 : 1));
  CHECK(p.staged.shared.local_size() == 16);
}

TEST_CASE("gradients are those of a model that all ranks hold") {
  const problem p;
  const auto one = dm::complete(dm::value_and_grad(loss<true>{}, p.staged)(p.x, p.y));
  const auto two = dm::complete(dm::value_and_grad(loss<false>{}, p.plain)(p.x, p.y));
  CHECK(std::abs(dm::value(dm::broadcast<stage>(one.value)) - dm::value(two.value)) < rounding);
  CHECK(distance(one.gradient, two.gradient) < rounding);
  CHECK(std::abs(dm::global_norm(one.gradient) - dm::global_norm(two.gradient)) < rounding);

  const auto block = dm::recompute(loss<true>{});
  const auto three = dm::complete(dm::value_and_grad(block, p.staged)(p.x, p.y));
  CHECK(distance(three.gradient, one.gradient) == 0);
  const auto four = dm::value_and_grad_all_reduce(loss<true>{}, p.staged)(p.x, p.y);
  CHECK(distance(four.gradient, one.gradient) < rounding);
  CHECK(distance(dm::clone(one.gradient), one.gradient) == 0);
}

TEST_CASE("a loss that all ranks get has the same gradients") {
  const problem p;
  const auto told = [](const auto& m, const auto& x, const auto& y) {
    return dm::broadcast<stage>(loss<true>{}(m, x, y));
  };
  const auto one = dm::complete(dm::value_and_grad(told, p.staged)(p.x, p.y));
  const auto two = dm::complete(dm::value_and_grad(loss<false>{}, p.plain)(p.x, p.y));
  CHECK(std::abs(dm::value(one.value) - dm::value(two.value)) < rounding);
  CHECK(distance(one.gradient, two.gradient) < rounding);
}

/// The first layer alone: it gives what the second stage needs, by a function of the user's own
/// transpose where Own.
template <bool Staged, bool Own> struct first_layer {
  template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
    const auto z = dm::einsum<batch, hidden>(to_stage<Staged, 0>(x), p.w1) + p.b1;
    if constexpr (Own)
      return to_stage<Staged, 1>(own(z));
    else
      return to_stage<Staged, 1>(dm::tanh(z));
  }
  template <class Z> static constexpr auto own(const Z& z) {
    return dm::with_transpose([](const auto& v) { return dm::tanh(v); },
                              [](const auto& ybar, const auto& y, const auto&) {
                                return ybar * (y * y * -1.0 + 1.0);
                              })(z);
  }
};

TEST_CASE("pullbacks, tangents, transposes of one's own, gradients of gradients") {
  const problem p;
  using there = dm::layout<pod, dm::placed<stage, 1>, dm::split<batch, rows>>;
  const auto bar =
      dm::normal<dm::tensor<double, by_rows, batch, hidden>>(p.g, dm::random_key{3}, 0, 1);
  auto [y, back] = dm::vjp(first_layer<true, false>{}, p.staged, p.x);
  auto [v, forth] = dm::vjp(first_layer<false, false>{}, p.plain, p.x);
  static_assert(std::is_same_v<decltype(y), dm::tensor<double, there, batch, hidden>>);
  const auto [g, xbar] = back(dm::place<stage, 1>(bar));
  // Addends along the stages, whose sum is the same: of the second stage alone.
  const auto once = dm::to_rank(bar);
  auto addends = dm::zeros<dm::tensor<double, dm::gradient<by_rows>, batch, hidden>>(p.g);
  std::vector<double> all(8 * 16);
  if (p.g.rank() == 0) all = once;
  MPI_Bcast(all.data(), 8 * 16, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  dm::fill_from(addends, std::span<const double>(all));
  const auto [h, ubar] = forth(addends);
  CHECK(distance(y, v) < rounding);
  CHECK(distance(dm::complete(g), dm::complete(h)) < rounding);
  CHECK(distance(xbar, ubar) < rounding);

  auto direction = dm::clone(p.staged);
  dm::rescale(direction, 0.5);
  auto other = dm::clone(p.plain);
  dm::rescale(other, 0.5);
  const auto at_x = [&p](const auto& m) { return first_layer<true, false>{}(m, p.x); };
  const auto plain_at_x = [&p](const auto& m) { return first_layer<false, false>{}(m, p.x); };
  CHECK(distance(dm::jvp(at_x, p.staged, direction).tangent,
                 dm::jvp(plain_at_x, p.plain, other).tangent) < rounding);

  auto [again, own_back] = dm::vjp(first_layer<true, true>{}, p.staged, p.x);
  CHECK(distance(dm::complete(std::get<0>(own_back(dm::place<stage, 1>(bar)))), dm::complete(g)) <
        rounding);

  // Half the square of the gradient: its own gradient is a product with the Hessian.
  const auto square = [&p]<bool Staged>(std::bool_constant<Staged>) {
    return [&p](const auto& m) {
      const auto inner = [&p](const auto& n) { return loss<Staged>{}(n, p.x, p.y); };
      const auto d = dm::complete(dm::value_and_grad(inner, m)()).gradient;
      return dm::complete(dm::sum(d.shared * d.shared));
    };
  };
  const auto one = dm::complete(dm::value_and_grad(square(std::true_type{}), p.staged)());
  const auto two = dm::complete(dm::value_and_grad(square(std::false_type{}), p.plain)());
  CHECK(std::abs(dm::value(one.value) - dm::value(two.value)) < rounding);
  CHECK(distance(one.gradient, two.gradient) < 1e-12);
}

TEST_CASE("micro-batches add up where tensors live; a gradient that both stages use is their sum") {
  const problem p;
  const auto f = dm::value_and_grad(loss<true>{}, p.staged);
  const auto sum = dm::complete(dm::accumulate(3, [&](dm::index_t) { return f(p.x, p.y); }));
  const auto one = dm::complete(f(p.x, p.y));
  CHECK(distance(sum.gradient, one.gradient) < rounding);

  // `shared` stands for a weight that is tied between the stages: what each of them adds.
  using tied = dm::tensor<double, everywhere, hidden>;
  const auto s = dm::normal<tied>(p.g, dm::random_key{4}, 0, 1);
  const auto both = [](const auto& w) {
    const auto h = dm::send<stage, 1>(dm::exp(dm::place<stage, 0>(w)));
    return dm::sum(h * dm::place<stage, 1>(w));
  };
  const auto g = dm::value_and_grad(both, s)().gradient;
  static_assert(std::is_same_v<std::remove_const_t<decltype(g)>,
                               dm::tensor<double, dm::gradient<everywhere>, hidden>>);
  const auto want = dm::exp(s) * s + dm::exp(s);
  CHECK(distance(dm::complete(g), want) < rounding);
}

TEST_CASE("one message forward, one back") {
  const problem p;
  const auto f = dm::value_and_grad(loss<true>{}, p.staged);
  dm::event_list events;
  census::reset();
  {
    const dm::watch here(events);
    (void)f(p.x, p.y);
  }
  const census::counts seen = census::snapshot();
  constexpr unsigned along_stages = 1u;
  const auto block = 8 / p.g.size<rows>() * 16 * 8;
  CHECK(seen.calls_on(along_stages) == 1);
  CHECK(seen.bytes_on(along_stages) == block);
  const bool first = p.g.coord<stage>() == 0;
  int sent = 0;
  for (const dm::event& e : events.events)
    if (e.kind == dm::event_kind::message) {
      ++sent;
      CHECK(e.bytes == block);
      CHECK(e.backward() == !first);
    }
  CHECK(sent == 1);
  CHECK(seen.calls_on(2u) == (p.g.size<rows>() > 1 && !first ? 1 : 0));  // the loss
}

struct few : dm::dim<5> {};

/// A tensor of the first stage between two of all: of rows that do not fill 64 bytes.
template <class L, bool Staged> struct surrounded {
  using first = typename on_stage<L, Staged, 0>::type;
  using a_type = nn::parameter<nn::normal<std::ratio<1>>, double, L, few>;
  using w_type = nn::parameter<nn::normal<std::ratio<1>>, double, first, few>;
  using c_type = nn::parameter<nn::normal<std::ratio<1>>, double, L, few>;
  BOOST_HANA_DEFINE_STRUCT(surrounded, (a_type, a), (w_type, w), (c_type, c));
};
template <bool Staged> struct surrounded_loss {
  template <class P> constexpr auto operator()(const P& p) const {
    const auto h = to_stage<Staged, 0>(p.a) * p.w * to_stage<Staged, 0>(p.c);
    return dm::sum(to_stage<Staged, 1>(h) * to_stage<Staged, 1>(p.a) * to_stage<Staged, 1>(p.c));
  }
};
struct surrounded_step {
  template <class P> constexpr auto operator()(const P& p) const {
    return dm::complete(dm::value_and_grad(surrounded_loss<true>{}, p)());
  }
};

TEST_CASE("a tensor of one stage between two that all hold: all ranks sum alike") {
  const problem p;
  const auto staged = begun<surrounded<everywhere, true>>(p.g);
  const auto plain = begun<surrounded<everywhere, false>>(p.g);
  const auto want = dm::complete(dm::value_and_grad(surrounded_loss<false>{}, plain)());
  const auto kept = dm::value_and_grad(surrounded_loss<true>{}, staged)();
  const auto from_kept = dm::complete(kept);
  CHECK(distance(from_kept.gradient, want.gradient) < rounding);

  census::reset();
  const auto step = surrounded_step{}(staged);
  const census::counts seen = census::snapshot();
  CHECK(distance(step.gradient, want.gradient) < rounding);
  const auto check = [&](const auto& foreseen) {
    CHECK(seen.bytes_on(1u) == foreseen.template bytes<stage>());
    CHECK(seen.bytes_on(2u) == foreseen.template bytes<rows>());
    CHECK(seen.bytes_on(3u) == foreseen.template bytes<stage, rows>());
  };
  if (p.g.coord<stage>() == 0)
    check(dm::count_at<stage, 0>(surrounded_step{}, staged));
  else
    check(dm::count_at<stage, 1>(surrounded_step{}, staged));
}

TEST_CASE("ranks without a tensor compute nothing, send nothing and hold nothing") {
  const problem p;
  using at_one = dm::layout<pod, dm::placed<stage, 1>>;
  const bool here = p.g.coord<stage>() == 1;
  const auto x = dm::place<stage, 1>(p.x);
  const auto f = [](const auto& w, const auto& v) {
    const auto y = dm::exp(dm::einsum<batch, hidden>(v, w) * 0.1 + 1.0);
    return dm::complete(dm::sum(dm::softmax<hidden>(y) * y));
  };
  dm::event_list events;
  {
    const dm::watch all(events);
    auto w = dm::zeros<dm::tensor<double, at_one, pixel, hidden>>(p.g);
    const dm::tensor<double, at_one, pixel, hidden> nobodys;
    auto [value, g] = dm::complete(dm::value_and_grad(f, w)(x));
    auto state = dm::adam{}.start(w);
    dm::adam{}(w, g, state);
    CHECK(nobodys.memory().data() == nullptr);
    CHECK((value.data() != nullptr) == here);
  }
  dm::index_t flops = 0, moved = 0, bytes = 0, memory = 0;
  for (const dm::event& e : events.events) {
    flops += e.flops, moved += e.moved, bytes += e.bytes;
    memory += e.memory > 0 ? e.memory : 0;
  }
  CHECK((flops > 0) == here);
  CHECK((moved > 0) == here);
  CHECK((memory > 0) == here);
  CHECK((bytes > 0) == (here && p.g.size<rows>() > 1));
}

/// Weights on two stages, and a bias that was never given a grid.
struct with_a_default {
  template <int K, class... D>
  using there = dm::tensor<double, dm::layout<pod, dm::placed<stage, K>>, D...>;
  using in_type = there<0, pixel, hidden>;
  using out_type = there<1, hidden, label>;
  using bias_type = there<1, label>;
  BOOST_HANA_DEFINE_STRUCT(with_a_default, (in_type, in), (out_type, out), (bias_type, bias));
};

TEST_CASE(
    "structs with leaves on stages, one of them default-constructed, walk, complete and step") {
  const problem p;
  using dm::zeros_like;
  with_a_default w;
  w.in = dm::place<stage, 0>(dm::constant<dm::tensor<double, everywhere, pixel, hidden>>(p.g, 1));
  w.out = dm::place<stage, 1>(dm::constant<dm::tensor<double, everywhere, hidden, label>>(p.g, 2));
  const std::size_t rank = static_cast<std::size_t>(p.g.coord<stage>());
  const auto held = [&rank](const with_a_default& s) {
    return (s.in.data() != nullptr) == (rank == 0) && (s.out.data() != nullptr) == (rank == 1) &&
           s.bias.memory().data() == nullptr;
  };
  CHECK(held(w));
  const with_a_default done = dm::complete(dm::clone(w));
  CHECK(held(done));
  with_a_default g = dm::clone(w);
  auto state = dm::adam{}.start(w);
  dm::adam{}(w, g, state);
  CHECK(held(w));
  dm::sgd{}(w, g);
  CHECK(held(w));
  std::ostringstream said;
  using dm::operator<<;  // of a struct that nothing of the library's is a part of by name
  said << w;
  CHECK(said.str().find("in: ") == 0);
  CHECK(said.str().find("\nbias: not made on a grid") != std::string::npos);
  CHECK(said.str().find("placed<stage, 0>") != std::string::npos);
  CHECK(said.str().find("placed<stage, 1>") != std::string::npos);
}

TEST_CASE("optimizers move what lives on stages as what lives everywhere") {
  using spread = dm::layout<pod, dm::spread<rows>>;
  const auto run = [](const auto& optimizer, const auto& of, bool whole) {
    problem p;
    auto one = optimizer.start(p.staged);
    auto two = of.start(p.plain);
    for (int i = 0; i < 3; ++i) {
      auto g = dm::value_and_grad(loss<true>{}, p.staged)(p.x, p.y).gradient;
      auto h = dm::value_and_grad(loss<false>{}, p.plain)(p.x, p.y).gradient;
      if constexpr (requires { optimizer.optimizer; }) {
        optimizer(p.staged, g, one);
      } else {
        auto done = dm::complete(g);
        (void)dm::clip_by_global_norm(done, 1.0);
        optimizer(p.staged, done, one);
      }
      auto all = dm::complete(h);
      if (!whole) (void)dm::clip_by_global_norm(all, 1.0);
      of(p.plain, all, two);
    }
    CHECK(distance(p.staged, p.plain) < 1e-10);
  };
  run(dm::adam{.rate = 1e-2}, dm::adam{.rate = 1e-2}, false);
  run(dm::momentum{.rate = 1e-2}, dm::momentum{.rate = 1e-2}, false);
  run(dm::adafactor{}, dm::adafactor{}, false);
  run(dm::sharded<spread>(dm::adam{.rate = 1e-2}), dm::adam{.rate = 1e-2}, true);
  problem p;
  const auto g = dm::complete(dm::value_and_grad(loss<true>{}, p.staged)(p.x, p.y)).gradient;
  const auto h = dm::complete(dm::value_and_grad(loss<false>{}, p.plain)(p.x, p.y)).gradient;
  dm::sgd{.rate = 0.1}(p.staged, g);
  dm::sgd{.rate = 0.1}(p.plain, h);
  CHECK(distance(p.staged, p.plain) < rounding);
}

}  // namespace
