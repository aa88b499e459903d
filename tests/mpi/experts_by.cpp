// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// labels: device
// A layer of experts by other routings than its form's: experts that choose, scores with a bias;
// slots whose number the type says; a layer in bfloat16; a rank of another opinion about capacity,
// padding or experts.
#include <dimesh/dimesh.hpp>

#include <doctest/doctest.h>

#include "dimesh/nn/moe/dropless.hpp"
#include "support/experts.hpp"

namespace {
using namespace test_support;
using namespace test_support::moe;
using dm::layout;
using dm::split;
using dm::uneven;

using spread_experts = layout<plane, split<uneven<moe::expert>, x>, split<moe::hidden, y>>;
using by_row = layout<plane, split<p, x>>;
using over_rows = layout<plane, split<moe::expert, x>, split<moe::hidden, y>>;
using over_columns = layout<plane, split<p, x>, split<moe::expert, y>>;
using tokens_of = dm::tensor<double, by_row, p, q, moe::model>;

// ---- experts choose -----------------------------------------------------------------------------

struct every : dm::dim<> {
  using dm::dim<>::dim;
};
struct chosen_by_experts : gated {
  using choice = every;
};
struct by_experts {
  template <class P> constexpr auto operator()(const P& of) const {
    return nn::expert_choice<q, moe::expert, every>(nn::gating{.capacity_factor = 1.5}, of);
  }
};

/// Each expert takes two of the five tokens of a group: 1.5 * 5 / 4, rounded up.
array best_of_each() {
  array w = probabilities();
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t e = 0; e < 4; ++e) {
      const auto at = [&](std::size_t t) -> double& { return w.values[(i * 5 + t) * 4 + e]; };
      std::vector<double> sorted;
      for (std::size_t t = 0; t < 5; ++t) sorted.push_back(at(t));
      std::sort(sorted.rbegin(), sorted.rend());
      for (std::size_t t = 0; t < 5; ++t)
        if (at(t) < sorted[1]) at(t) = 0;
    }
  return w;
}

template <class E> void check_experts_choose(const dm::grid<plane>& g) {
  const auto in = scattered<tokens_of>(g, tokens);
  const auto w = parameters_on<E, chosen_by_experts>(g);
  const auto through = [&](const auto& i, const auto& weights) {
    return nn::mixture_by<E>(nn::model<by_row, chosen_by_experts>{}, weights, i, by_experts{});
  };
  const auto got = through(in, w);
  CHECK(got.route.capacity == 2);
  CHECK(agrees(got.y, weighted<chosen_by_experts>(best_of_each()), 1e-12));
  // A token that is no number goes first, and is seen; the others of its group are numbers.
  const auto marked = [](double v) {
    return make({"p", "q", "model"}, {4, 5, 3},
                [v](const extents& at) { return at[0] == 2 && at[1] == 4 ? v : 0.; });
  };
  const array bad = marked(std::numeric_limits<double>::quiet_NaN());
  const auto seen = through(in + scattered<tokens_of>(g, bad), w).y;
  CHECK(agrees(dm::cast<double>(seen != seen), marked(1)));
  const auto f = [&](const auto& i, const auto& r, const auto& u, const auto& d) {
    struct {
      decltype(r) router;
      decltype(u) up, gate;
      decltype(d) down;
    } weights{r, u, u, d};
    return through(i, weights).y;
  };
  check_operation(f, precision{1e-5, 1e-6}, {tokens, router, up, down}, in, w.router, w.up, w.down);
}

TEST_CASE("experts choose tokens: the layer, its gradients, bytes as foreseen") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    check_experts_choose<over_rows>(g);
    check_experts_choose<over_columns>(g);
  });
}

// ---- a bias that balances -----------------------------------------------------------------------

template <class B> struct by_bias {
  const B& bias;
  nn::gating how = roomy::gate;
  template <class P> constexpr auto operator()(const P& of) const {
    return nn::route_by<q, moe::expert, moe::choice>(how, of, of + bias);
  }
};

TEST_CASE("a bias decides who is chosen, and weighs nothing; without slots nobody is full") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    const array bias = make({"expert"}, {4}, [](const extents& at) { return at[0] < 2 ? 2. : 0.; });
    using B = dm::tensor<double, layout<plane>, moe::expert>;
    const B b = scattered<B>(g, bias);
    const auto w = parameters_on<over_rows, roomy>(g);
    const auto got = nn::mixture_by<over_rows>(nn::model<by_row, roomy>{}, w,
                                               scattered<tokens_of>(g, tokens), by_bias<B>{b});
    array weights = probabilities();  // the first two experts take all
    for (std::size_t t = 0; t < weights.values.size(); t += 4) {
      double* const v = &weights.values[t];
      const double all = v[0] + v[1];
      v[0] /= all, v[1] /= all, v[2] = v[3] = 0;
    }
    CHECK(agrees(got.y, weighted<roomy>(weights), 1e-12));
    const auto without_slots = nn::dropless_mixture_by<x, spread_experts>(
        nn::model<by_row, roomy>{}, parameters_on<spread_experts, roomy>(g),
        scattered<tokens_of>(g, tokens), by_bias<B>{b, {.capacity_factor = 0.5}});
    CHECK(agrees(without_slots.y, weighted<roomy>(weights), 1e-12));
  });
}

// ---- slots whose number the type says -----------------------------------------------------------

struct seats : dm::dim<nn::capacity_of(tight::gate, 2, 5, 4)> {};
static_assert(seats::extent == 2);
struct seated : tight {
  using slot = seats;
};
struct wrong_seats : dm::dim<3> {};
struct wrongly_seated : tight {
  using slot = wrong_seats;
};

TEST_CASE("static slots: as those that the run counts, and the all-to-all is known by its type") {
  using held = dm::tensor<double, by_row, moe::expert, p, seats, moe::model>;
  static_assert(std::is_same_v<dm::relayout_plan<held, layout<plane, split<moe::expert, x>>>::steps,
                               dm::steps<dm::all_to_all_step<p, moe::expert, x>>>);
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    check_as_alone(outcome<by_row, over_rows, over_rows, seated>(g, g));
    const auto w = parameters_on<over_rows, wrongly_seated>(g);
    const auto in = scattered<tokens_of>(g, tokens);
    CHECK_THROWS_WITH_AS(
        (void)nn::mixture<over_rows>(nn::model<by_row, wrongly_seated>{}, w, in),
        "mixture: dim 'wrong_seats' has 3 slots, and each expert takes 2 tokens of a group; give "
        "it capacity_of(...) as its extent, or leave that to the run",
        dm::error);
  });
}

// ---- in bfloat16 --------------------------------------------------------------------------------

struct narrow : roomy {
  using element = dm::bfloat16;
};

TEST_CASE("a layer in bfloat16: routes of float, values and gradients to its digits") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    const auto w = parameters_on<over_rows, narrow>(g);
    const auto in = scattered<dm::tensor<dm::bfloat16, by_row, p, q, moe::model>>(g, tokens);
    const auto got = nn::mixture<over_rows>(nn::model<by_row, narrow>{}, w, in);
    static_assert(std::is_same_v<decltype(got.y), std::remove_cv_t<decltype(in)>>);
    static_assert(std::is_same_v<dm::value_of<decltype(got.probabilities)>, float>);
    CHECK(agrees(dm::cast<float>(got.y), all_experts<narrow>(), 0.04));
    const auto slope = [&](const auto& m, const auto& x, const auto& p0) {
      const auto f = [&](const auto& v) {
        const auto y = nn::mixture<over_rows>(m, v, x).y;
        return dm::complete(dm::mean<float>(y * y));
      };
      return dm::cast<float>(dm::complete(dm::value_and_grad(f, p0)()).gradient.router);
    };
    const auto wide = slope(nn::model<by_row, roomy>{}, scattered<tokens_of>(g, tokens),
                            parameters_on<over_rows, roomy>(g));
    const auto near = slope(nn::model<by_row, narrow>{}, in, w);
    const auto most = dm::value(dm::complete(dm::max(dm::abs(wide))));
    CHECK(dm::value(dm::complete(dm::max(dm::abs(wide - near)))) < 0.05f * most);
  });
}

// ---- a rank of another opinion ------------------------------------------------------------------

struct by_opinion {
  double factor;
  template <class P> constexpr auto operator()(const P& of) const {
    return nn::route<q, moe::expert, moe::choice>(nn::gating{.capacity_factor = factor}, of);
  }
};

#ifdef DIMESH_CHECKED  // what compares operands says it first
const std::string said(const char*, int, int) { return "elements"; }
#else
std::string said(const char* dim, int least, int most) {
  return "extents_all_reduce: dim '" + std::string(dim) + "' has " + std::to_string(least) +
         " elements on one rank and " + std::to_string(most) +
         " on another; all ranks give a dim one extent";
}
#endif
/// f ends in this error, on every rank.
template <class F> void check_refused(const std::string& text, F&& f) {
  CHECK_THROWS_WITH_AS(f(), doctest::Contains(text.c_str()), dm::error);
}
using here = layout<line, split<uneven<p>, x>>;
using spread = layout<line, split<uneven<moe::expert>, x>>;
using lines = dm::tensor<double, here, p, q, moe::model>;

TEST_CASE("a rank with another capacity: an error on all ranks, whatever the type says of slots") {
  const dm::grid<line> g;
  if (g.everyone().size() == 1) return;
  const auto in = scattered<lines>(g, tokens);
  const by_opinion how{g.rank() == 1 ? 1.0 : 0.5};
  check_refused(said("slot", 2, 3), [&] {
    (void)nn::mixture_by<spread>(nn::model<here, tight>{}, parameters_on<spread, tight>(g), in,
                                 how);
  });
  check_refused(said("seats", 2, 3), [&] {
    (void)nn::mixture_by<spread>(nn::model<here, seated>{}, parameters_on<spread, seated>(g), in,
                                 how);
  });
}

struct counted : dm::dim<> {
  using dm::dim<>::dim;
};
struct of_counted : tight {
  using expert = counted;
};
struct chosen_counted : of_counted {
  using choice = every;
};
struct gated_counted : of_counted {
  static constexpr nn::activation act = nn::activation::swiglu;
};

TEST_CASE("a rank with another mask, or other experts: an error on all ranks, with slots or not") {
  const dm::grid<line> g;
  if (g.everyone().size() == 1) return;
  using there = layout<line, split<uneven<counted>, x>>;
  const nn::model<here, of_counted> m;
  const auto in = scattered<lines>(g, tokens);
  const auto liars =
      dm::make<nn::mixture_parameters<there, of_counted>>(g, counted{g.rank() == 1 ? 5 : 4});
  check_refused(said("counted", 4, 5), [&] { (void)nn::mixture<there>(m, liars, in); });
  using even = layout<line, split<p, x>>;
  const dm::tensor<double, even, p, q, moe::model> rows(g, p{4 * g.everyone().size()}, q{5});
  check_refused(said("counted", 4, 5), [&] {
    (void)nn::dropless_mixture<x, there>(nn::model<even, of_counted>{}, liars, rows);
  });
  const auto w = dm::make<nn::mixture_parameters<there, of_counted>>(g, counted{4});
  const dm::tensor<double, here, p, q> mask(g, p{4}, q{g.rank() == 1 ? 6 : 5});
  check_refused(said("q", 5, 6), [&] { (void)nn::mixture<there>(m, w, in, mask); });
  const dm::tensor<double, even, p, q> rows_mask(g, p{4 * g.everyone().size()},
                                                 q{g.rank() == 1 ? 6 : 5});
  check_refused(said("q", 5, 6), [&] {
    (void)nn::dropless_mixture<x, there>(nn::model<even, of_counted>{}, w, rows, rows_mask);
  });
  // A mask that only the routing reads: experts that choose.
  const auto choosing = [](const auto& valid) {
    return [&valid](const auto& of) {
      return nn::expert_choice<q, counted, every>(nn::gating{}, of, valid);
    };
  };
  check_refused(said("q", 5, 6), [&] {
    const auto v = dm::make<nn::mixture_parameters<there, chosen_counted>>(g, counted{4});
    (void)nn::mixture_by<there>(nn::model<here, chosen_counted>{}, v, in, choosing(mask), mask);
  });
  // One that differs in one parameter alone; the last of a gated layer.
  using gated_type = nn::mixture_parameters<there, gated_counted>;
  auto mixed = dm::make<gated_type>(g, counted{4});
  mixed.down_bias = liars.down_bias;
  check_refused(said("counted", 4, 5),
                [&] { (void)nn::mixture<there>(nn::model<here, gated_counted>{}, mixed, in); });
}

}  // namespace
