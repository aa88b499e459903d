// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A small layer of experts: its dims and forms, tokens and parameters as whole arrays.
#pragma once

#include <dimesh/dimesh.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "dimesh/create.hpp"
#include "dimesh/nn/moe/experts.hpp"
#include "support/adjoint.hpp"
#include "support/host.hpp"

namespace test_support::moe {

namespace dm = dimesh;
namespace nn = dm::nn;

struct heads : dm::dim<1> {};
struct head : dm::dim<3> {};
struct vocab : dm::dim<3> {};
struct model : dm::dim<3> {};
struct hidden : dm::dim<4> {};
struct expert : dm::dim<4> {};
struct choice : dm::dim<2> {};
struct slot : dm::dim<> {};

/// Slots for all: p is the batch, q the length.
struct roomy : nn::transformer {
  using element = double;
  using batch = p;
  using length = q;
  using model = moe::model;
  using heads = dm::shape<moe::heads>;
  using head = moe::head;
  using hidden = moe::hidden;
  using vocab = moe::vocab;
  using expert = moe::expert;
  using choice = moe::choice;
  using slot = moe::slot;
  static constexpr int layers = 1;
  static constexpr nn::activation act = nn::activation::silu;
  static constexpr nn::gating gate{.capacity_factor = 2};
};
struct tight : roomy {
  static constexpr nn::gating gate{.capacity_factor = 0.5,
                                   .later = nn::later_choices::random_consuming};
};
struct gated : roomy {
  static constexpr nn::activation act = nn::activation::swiglu;
  static constexpr bool biases = false;
};
/// A gate, and a bias behind it.
struct gated_biased : roomy {
  static constexpr nn::activation act = nn::activation::swiglu;
};

inline const array tokens = reals({"p", "q", "model"}, {4, 5, 3}, 1),
                   router = reals({"model", "expert"}, {3, 4}, 2),
                   up = reals({"expert", "model", "hidden"}, {4, 3, 4}, 3),
                   up_bias = reals({"expert", "hidden"}, {4, 4}, 4),
                   down = reals({"expert", "hidden", "model"}, {4, 4, 3}, 5),
                   down_bias = reals({"expert", "model"}, {4, 3}, 6),
                   up_gate = reals({"expert", "model", "hidden"}, {4, 3, 4}, 7);

inline double silu(double v) { return v / (1 + std::exp(-v)); }

/// Every expert on every token, times weights[p, q, expert].
template <class M> array weighted(const array& weights) {
  const array in = einsum({"p", "q", "expert", "hidden"}, {tokens, up});
  const array inside =
      nn::is_gated(M::act)
          ? map([](const std::vector<double>& v) { return silu(v[0]) * v[1]; },
                {in, einsum({"p", "q", "expert", "hidden"}, {tokens, up_gate})})
          : map([](const std::vector<double>& v) { return silu(v[0] + v[1]); }, {in, up_bias});
  array out = einsum({"p", "q", "expert", "model"}, {inside, down});
  if (M::biases)
    out = map([](const std::vector<double>& v) { return v[0] + v[1]; }, {out, down_bias});
  return einsum({"p", "q", "model"}, {out, weights});
}
/// softmax of the router's logits.
inline array probabilities() {
  array z = einsum({"p", "q", "expert"}, {tokens, router});
  for (std::size_t t = 0; t < z.values.size(); t += 4) {
    double all = 0;
    for (std::size_t e = 0; e < 4; ++e) all += z.values[t + e] = std::exp(z.values[t + e]);
    for (std::size_t e = 0; e < 4; ++e) z.values[t + e] /= all;
  }
  return z;
}

/// Every expert on every token, times weights that are 0 but for the greatest: two of them, which
/// add up to 1, or one, its probability.
template <class M> array all_experts() {
  constexpr std::ptrdiff_t choices = M::choice::extent;
  array weights = probabilities();
  for (std::size_t t = 0; t < weights.values.size(); t += 4) {
    double* const v = &weights.values[t];
    std::vector<double> best(v, v + 4);
    std::sort(best.rbegin(), best.rend());
    const double all = choices == 1 ? 1 : std::accumulate(best.begin(), best.begin() + choices, 0.);
    for (int e = 0; e < 4; ++e) v[e] = v[e] < best[choices - 1] ? 0 : v[e] / all;
  }
  return weighted<M>(weights);
}

template <class L, class M, class Grid> auto parameters_on(const Grid& g) {
  auto w = dm::make<nn::mixture_parameters<L, M>>(g);
  scatter(router, w.router);
  scatter(up, w.up);
  scatter(down, w.down);
  if constexpr (M::biases) {
    if constexpr (!nn::is_gated(M::act)) scatter(up_bias, w.up_bias);
    scatter(down_bias, w.down_bias);
  }
  if constexpr (nn::is_gated(M::act)) scatter(up_gate, w.gate);
  return w;
}

/// A tensor of one rank, or the same on all, as an array.
template <class X> array whole(const X& t) {
  array a = numbers_like(t, 1);
  std::copy_n(test_support::on_host(t).data(), a.values.size(), a.values.begin());
  return a;
}

/// Tokens and parameters, which may live on two meshes.
template <class T, class K, class M> struct both {
  using tokens_type = dm::tensor<double, T, p, q, model>;
  using weights_type = nn::mixture_parameters<K, M>;
  BOOST_HANA_DEFINE_STRUCT(both, (tokens_type, x), (weights_type, w));
};

/// The mean square of the result and losses of the router, and their gradient, with tokens under T
/// on one grid, experts under E, and their parameters stored under K, on another.
template <class T, class E, class K, class M, class G, class H>
auto outcome(const G& g, const H& h) {
  const nn::run_options run{.key = dm::random_key{11}};
  both<T, K, M> all{scattered<dm::tensor<double, T, p, q, model>>(g, tokens),
                    parameters_on<K, M>(h)};
  const auto f = [&](const auto& in) {
    const auto r = nn::mixture<E>(nn::model<T, M>(run), in.w, in.x);
    return dm::complete(dm::mean(r.y * r.y)) +
           dm::complete(nn::balance_loss<q, expert, choice>(nn::balance_scale::scaled,
                                                            r.probabilities, r.route.chosen)) +
           0.1 * dm::complete(nn::router_z_loss<q, expert>(r.logits));
  };
  return dm::complete(dm::value_and_grad(f, all)());
}

/// That of one rank alone, as whole arrays.
struct alone {
  double value;
  array x, router, up, up_bias, down, down_bias;

  static const alone& outcome() {
    static const alone all = [] {
      const dm::grid<line> g(MPI_COMM_SELF, test_support::x{1});
      using none = dm::layout<line>;
      const auto of = moe::outcome<none, none, none, tight>(g, g);
      const auto& w = of.gradient.w;
      return alone{dm::value(of.value), whole(of.gradient.x), whole(w.router),   whole(w.up),
                   whole(w.up_bias),    whole(w.down),        whole(w.down_bias)};
    }();
    return all;
  }
};
template <class A> void check_as_alone(const A& got) {
  constexpr double within = 1e-11;
  const alone& want = alone::outcome();
  CHECK(dm::value(got.value) == doctest::Approx(want.value).epsilon(1e-12));
  CHECK(agrees(got.gradient.x, want.x, within));
  CHECK(agrees(got.gradient.w.router, want.router, within));
  CHECK(agrees(got.gradient.w.up, want.up, within));
  CHECK(agrees(got.gradient.w.up_bias, want.up_bias, within));
  CHECK(agrees(got.gradient.w.down, want.down, within));
  CHECK(agrees(got.gradient.w.down_bias, want.down_bias, within));
}

}  // namespace test_support::moe
