// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// labels: device
// A feed-forward layer with experts: with slots for all it is the sum over all experts with masks;
// with few, under every layout the same slots and values as on one rank; gradients; tokens that are
// no numbers; experts that begin as copies of a dense checkpoint.
#include "dimesh/nn/moe/experts.hpp"

#include <dimesh/dimesh.hpp>

#include <doctest/doctest.h>

#include "dimesh/create.hpp"
#include "dimesh/io/checkpoint/load.hpp"
#include "dimesh/nn/initialize.hpp"
#include "dimesh/nn/moe/dropless.hpp"
#include "dimesh/nn/moe/upcycle.hpp"
#include "support/adjoint.hpp"
#include "support/checkpoints.hpp"
#include "support/experts.hpp"

namespace {
using namespace test_support;
using namespace test_support::moe;
namespace dm = dimesh;
namespace nn = dm::nn;

template <class T, class E, class M> void check_all(const dm::grid<plane>& g) {
  const auto in = scattered<dm::tensor<double, T, p, q, model>>(g, tokens);
  const auto w = parameters_on<E, M>(g);
  const auto got = nn::mixture<E>(nn::model<T, M>{}, w, in);
  static_assert(std::is_same_v<decltype(got.y), std::remove_cv_t<decltype(in)>>);
  CHECK(agrees(got.y, all_experts<M>(), 1e-12));
}

using by_row = dm::layout<plane, dm::split<p, x>>;
using alone = dm::layout<plane>;
using over_rows = dm::layout<plane, dm::split<expert, x>, dm::split<hidden, y>>;
using over_all = dm::layout<plane, dm::split<expert, x, y>>;
using over_columns = dm::layout<plane, dm::split<p, x>, dm::split<expert, y>>;
using nowhere = dm::layout<plane, dm::split<p, x>, dm::split<hidden, y>>;
using by_model = dm::layout<plane, dm::split<p, x>, dm::split<dm::uneven<model>, y>>;
using by_length = dm::layout<plane, dm::split<p, x>, dm::split<dm::uneven<q>, y>>;

TEST_CASE("with slots for all: every expert on every token, with masks") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    check_all<by_row, over_rows, roomy>(g);
    check_all<by_row, over_all, roomy>(g);
    check_all<by_row, nowhere, roomy>(g);
    check_all<by_length, over_columns, roomy>(g);
    check_all<by_row, over_rows, gated>(g);
    check_all<by_row, over_rows, gated_biased>(g);
  });
}

/// As on one rank: the same slots, and values and gradients to rounding.
template <class T, class E> void check_alike(const dm::grid<plane>& g) {
  static const auto one = [] {
    const dm::grid<line> alone(MPI_COMM_SELF, x{1});
    using L = dm::layout<line>;
    const auto in = scattered<dm::tensor<double, L, p, q, model>>(alone, tokens);
    const auto r = nn::mixture(nn::model<L, tight>{{.key = dm::random_key{11}}},
                               parameters_on<L, tight>(alone), in);
    return std::array{moe::whole(r.route.slots), moe::whole(r.route.chosen), moe::whole(r.y)};
  }();
  const auto in = scattered<dm::tensor<double, T, p, q, model>>(g, tokens);
  const auto got = nn::mixture<E>(nn::model<T, tight>{{.key = dm::random_key{11}}},
                                  parameters_on<E, tight>(g), in);
  CHECK(agrees(got.route.slots, one[0]));
  CHECK(agrees(got.route.chosen, one[1]));
  CHECK(agrees(got.y, one[2], 1e-12));
  check_as_alone(outcome<T, E, E, tight>(g, g));
}

TEST_CASE("with few slots: any layout routes as one rank does, and has its values and gradients") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    check_alike<by_row, over_rows>(g);
    check_alike<by_row, over_all>(g);
    check_alike<by_model, over_columns>(g);
  });
}

TEST_CASE("layers have chances of their own, without dropout and in evaluation, too") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    const auto in = scattered<dm::tensor<double, by_row, p, q, model>>(g, tokens);
    const auto w = parameters_on<over_rows, tight>(g);
    const auto routes = [&](std::size_t layer, bool training) {
      const nn::model<by_row, tight> m{{.key = dm::random_key{11}, .training = training}};
      const auto got = nn::mixture<over_rows>(m.part("layers", layer), w, in);
      return dm::to_rank(got.route.slots);
    };
    const auto first = routes(0, true);
    CHECK(routes(0, false) == first);
    const auto second = routes(1, true);
    int differ = g.rank() == 0 && first != second;
    MPI_Bcast(&differ, 1, MPI_INT, 0, g.everyone().handle());
    CHECK(differ == 1);
  });
}

/// One expert for each token, as Switch has it.
struct alone_chosen : dm::dim<1> {};
struct top_one : gated {
  using choice = alone_chosen;
};
/// A route by a gate that the run says, experts chosen by moved scores.
template <class Choice> struct by_gate {
  nn::gating how;
  double first_is_better;  // by so much
  template <class P> constexpr auto operator()(const P& of) const {
    return nn::route_by<q, expert, Choice>(how, of, of * (1 + first_is_better * (of > 0.25)));
  }
};

template <class M> void check_gradients(const dm::grid<plane>& g, const nn::gating& how) {
  const auto in = scattered<dm::tensor<double, by_row, p, q, model>>(g, tokens);
  const auto w = parameters_on<over_rows, M>(g);
  const auto f = [&](const auto& i, const auto& r, const auto& u, const auto& d) {
    struct {
      decltype(r) router;
      decltype(u) up, gate;
      decltype(d) down;
    } weights{r, u, u, d};
    return nn::mixture_by<over_rows>(nn::model<by_row, M>{}, weights, i,
                                     by_gate<typename M::choice>{how, 0.5})
        .y;
  };
  check_operation(f, precision{1e-5, 1e-6}, {tokens, router, up, down}, in, w.router, w.up, w.down);
}

TEST_CASE("gradients through gates, experts and all-to-alls; bytes as foreseen") {
  using nn::renormalise;
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    check_gradients<gated>(g, gated::gate);
    for (const auto gates :
         {renormalise::before_capacity, renormalise::after_drops, renormalise::never})
      check_gradients<gated>(g, {.capacity_factor = 0.5,
                                 .gates = gates,
                                 .later = nn::later_choices::random_freeing,
                                 .key = dm::random_key{3}});
    check_gradients<top_one>(g, {.capacity_factor = 0.75, .gates = renormalise::never});
  });
}

TEST_CASE("one expert a token: what its expert says, times its probability") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    const auto in = scattered<dm::tensor<double, by_row, p, q, model>>(g, tokens);
    const auto w = parameters_on<over_rows, top_one>(g);
    const by_gate<alone_chosen> all{{.capacity_factor = 4, .gates = nn::renormalise::never}, 0};
    const auto got = nn::mixture_by<over_rows>(nn::model<by_row, top_one>{}, w, in, all);
    CHECK(agrees(got.y, all_experts<top_one>(), 1e-12));
  });
}

using even_rows = dm::layout<plane, dm::split<p, x>>;
template <class M> void check_dropless(const dm::grid<plane>& g) {
  const auto in = scattered<dm::tensor<double, even_rows, p, q, model>>(g, tokens);
  const auto w = parameters_on<over_rows, M>(g);
  const auto got = nn::dropless_mixture<x, over_rows>(nn::model<even_rows, M>{}, w, in);
  static_assert(std::is_same_v<decltype(got.y), std::remove_cv_t<decltype(in)>>);
  CHECK(agrees(got.y, all_experts<M>(), 1e-12));
  // Gradients as of slots for all.
  const auto mask = scattered<dm::tensor<double, even_rows, p, q>>(
      g, make({"p", "q"}, {4, 5}, [](const extents& at) { return at[1] == 4 ? 0. : 1.; }));
  const auto f = [&](const auto& weights) {
    const auto y =
        nn::dropless_mixture<x, over_rows>(nn::model<even_rows, M>{}, weights, in, mask).y;
    return dm::complete(dm::mean(y * y));
  };
  const auto h = [&](const auto& weights) {
    const auto y = nn::mixture<over_rows>(nn::model<even_rows, M>{}, weights, in, mask).y;
    return dm::complete(dm::mean(y * y));
  };
  const auto [a, da] = dm::value_and_grad(f, w)();
  const auto [b, db] = dm::value_and_grad(h, w)();
  CHECK(dm::value(a) == doctest::Approx(dm::value(b)));
  const auto dp = dm::complete(da);
  const auto dq = dm::complete(db);
  const auto apart = [](const auto& s, const auto& t) {
    return dm::value(dm::complete(dm::max(dm::abs(s - t))));
  };
  CHECK(apart(dp.router, dq.router) < 1e-12);
  CHECK(apart(dp.up, dq.up) < 1e-12);
  CHECK(apart(dp.down, dq.down) < 1e-12);
  if constexpr (M::biases && !nn::is_gated(M::act)) CHECK(apart(dp.up_bias, dq.up_bias) < 1e-12);
  if constexpr (M::biases) CHECK(apart(dp.down_bias, dq.down_bias) < 1e-12);
}

/// What padding holds touches nothing, though it were not a number.
void check_padding(const dm::grid<plane>& g) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto is_padding = [](const extents& at) { return at[1] == 4 || at[0] == 2; };
  const array mask =
      make({"p", "q"}, {4, 5}, [&](const extents& at) { return is_padding(at) ? 0. : 1.; });
  const auto masked = [&](const array& a, double filler) {
    return make(a.dims, a.size, [&](const extents& at) {
      return is_padding(at) ? filler : value_at(a, a.dims, at);
    });
  };
  const auto in = scattered<dm::tensor<double, even_rows, p, q, model>>(g, masked(tokens, nan));
  const auto valid = scattered<dm::tensor<double, even_rows, p, q>>(g, mask);
  const auto w = parameters_on<over_rows, roomy>(g);
  const nn::model<even_rows, roomy> m;
  const array want = masked(all_experts<roomy>(), 0);
  CHECK(agrees(nn::dropless_mixture<x, over_rows>(m, w, in, valid).y, want, 1e-12));
  CHECK(agrees(nn::mixture<over_rows>(m, w, in, valid).y, want, 1e-12));
  // What is no padding, and no number, is seen: of each token, if all find slots.
  const array bad = masked(make(tokens.dims, tokens.size, [](const extents&) { return 0.; }), 1);
  const auto all = scattered<dm::tensor<double, even_rows, p, q>>(
      g, make({"p", "q"}, {4, 5}, [](const extents&) { return 1.; }));
  const auto check = [&](const auto& y) {
    CHECK(agrees(dm::cast<double>(y != y), bad));
    CHECK(agrees(dm::select(y == y, y, 0.), want, 1e-12));
  };
  check(nn::dropless_mixture<x, over_rows>(m, w, in, all).y);
  check(nn::mixture<over_rows>(m, w, in, all).y);
}

/// Tokens that are no numbers find slots, though they stand last and slots are few.
void check_seen(const dm::grid<plane>& g) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto in = scattered<dm::tensor<double, by_row, p, q, model>>(
      g, make(tokens.dims, tokens.size, [&](const extents& at) {
        return at[1] >= 3 ? nan : value_at(tokens, tokens.dims, at);
      }));
  const nn::model<by_row, tight> m{{.key = dm::random_key{11}}};
  const auto y = nn::mixture<over_rows>(m, parameters_on<over_rows, tight>(g), in).y;
  const array seen =
      make({"p", "q", "model"}, {4, 5, 3}, [](const extents& at) { return at[1] >= 3 ? 1. : 0.; });
  CHECK(agrees(dm::cast<double>(y != y), seen));
}

/// Tokens whose length is stored first go where the same ones go in the other order.
void check_length_first(const dm::grid<plane>& g) {
  const auto in = scattered<dm::tensor<double, even_rows, p, q, model>>(g, tokens);
  const auto mask = scattered<dm::tensor<double, even_rows, p, q>>(
      g, make({"p", "q"}, {4, 5}, [](const extents& at) { return at[1] == at[0] ? 0. : 1.; }));
  const auto w = parameters_on<over_rows, roomy>(g);
  using usual = dm::detail::list<p, q, model>;
  const auto apart = [](const auto& s, const auto& t) {
    return dm::value(dm::complete(dm::max(dm::abs(s - t))));
  };
  const auto check = [&](const auto&... valid) {
    const auto f = [&](const auto& all) {
      const auto& [t, weights] = all;
      const auto y =
          nn::dropless_mixture<x, over_rows>(nn::model<even_rows, roomy>{}, weights, t, valid...).y;
      static_assert(std::is_same_v<typename dm::spec_of<decltype(y)>::dims,
                                   typename dm::spec_of<std::remove_cvref_t<decltype(t)>>::dims>);
      return dm::complete(dm::sum(y * y * t));
    };
    const auto want = dm::complete(dm::value_and_grad(f, std::tuple{in, w})());
    const auto turned = dm::detail::permuted<dm::detail::list<q, p, model>>(in);
    const auto got = dm::complete(dm::value_and_grad(f, std::tuple{turned, w})());
    CHECK(dm::value(got.value) == doctest::Approx(dm::value(want.value)).epsilon(1e-12));
    const auto& [dx, dw] = got.gradient;
    CHECK(apart(dm::detail::permuted<usual>(dx), std::get<0>(want.gradient)) < 1e-12);
    CHECK(apart(dw.router, std::get<1>(want.gradient).router) < 1e-12);
    CHECK(apart(dw.up, std::get<1>(want.gradient).up) < 1e-12);
  };
  check();
  check(mask);
}

/// Tokens that are sums not yet completed are completed.
void check_partial(const dm::grid<plane>& g) {
  const auto parts = scattered<dm::tensor<double, nowhere, p, q, model, hidden>>(
      g, make({"p", "q", "model", "hidden"}, {4, 5, 3, 4}, [](const extents& at) {
        return value_at(tokens, tokens.dims, {at[0], at[1], at[2]}) / 4;
      }));
  const auto w = parameters_on<over_rows, roomy>(g);
  const nn::model<even_rows, roomy> m;
  const auto with_slots = [&](const auto& in) { return nn::mixture<over_rows>(m, w, in).y; };
  const auto without = [&](const auto& in) {
    return nn::dropless_mixture<x, over_rows>(m, w, in).y;
  };
  const auto check = [&](const auto& layer) {
    CHECK(agrees(layer(dm::sum<hidden>(parts)), all_experts<roomy>(), 1e-12));
    const auto gradient_of = [&](const auto& finish) {
      const auto f = [&](const auto& of) {
        const auto y = layer(finish(dm::sum<hidden>(of)));
        return dm::complete(dm::sum(y * y));
      };
      return dm::to_rank(dm::complete(dm::value_and_grad(f, parts)()).gradient);
    };
    const auto got = gradient_of([](const auto& in) { return in; });
    const auto want = gradient_of([](const auto& in) { return dm::complete(in); });
    REQUIRE(got.size() == want.size());
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == doctest::Approx(want[i]));
  };
  check(with_slots);
  check(without);
}

TEST_CASE("without slots: as with slots for all; padding nowhere; what is no number is seen") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    check_dropless<roomy>(g);
    check_dropless<gated_biased>(g);
    check_padding(g);
    check_seen(g);
    check_length_first(g);
    check_partial(g);
  });
}

TEST_CASE("experts that begin as copies of a dense checkpoint, written under another layout") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    const scratch at("dense");
    using written = dm::layout<plane, dm::split<hidden, x>>;
    auto before = dm::make<nn::feed_forward_parameters<written, roomy>>(g);
    nn::initialize(before, dm::random_key{5});
    dm::save_checkpoint(at.path, {.step = 1}, {}, dm::part("feed_forward", before));

    auto dense = dm::make<nn::feed_forward_parameters<nowhere, roomy>>(g);
    dm::load_checkpoint(at.path, {}, dm::part("feed_forward", dense));
    auto w = dm::make<nn::mixture_parameters<over_rows, roomy>>(g);
    nn::initialize(w, dm::random_key{6});
    nn::upcycle(dense, w);
    const auto in = scattered<dm::tensor<double, by_row, p, q, model>>(g, tokens);
    const nn::model<nowhere, roomy> m;
    const auto want = nn::feed_forward(m, dense, in);
    const auto got = nn::mixture<over_rows>(nn::model<by_row, roomy>{}, w, in).y;
    CHECK(dm::value(dm::complete(dm::max(dm::abs(want - got)))) < 1e-12);
    CHECK(dm::value(dm::complete(dm::max(dm::abs(got)))) > 0);
  });
}

}  // namespace
