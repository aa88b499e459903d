// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do experts get equally many tokens? By a loss, by scores that are moved without one; and how
// far from it are they? Losses are means over groups, of equal weight, and partial where axes split
// the groups: add them to a loss of the same layout, or complete them. They are in float or wider.
//
//   balance_loss<token, expert, choice>(balance_scale::scaled, p, r.chosen)   -> a number
//   router_z_loss<token, expert>(logits)                                      -> a number
//   moved_bias<token, expert, choice>(bias[expert], r.chosen, 0.001)          -> bias[expert]
//   expert_metrics<token, expert, choice>(p, r)    -> load, dropped, entropy, imbalance
//
// With valid[G.., token] behind the other arguments padding, where it is 0, leaves counts and means
// of tokens; all others count alike. A group of padding alone is a group like others, whose loss is
// 0: how many such groups there are on other ranks, nothing that is local knows.
#pragma once

#include "dimesh/nn/moe/route.hpp"
#include "dimesh/op/complete.hpp"
#include "dimesh/op/functions.hpp"
#include "dimesh/op/map.hpp"
#include "dimesh/op/softmax.hpp"
#include "dimesh/op/value.hpp"

namespace dimesh::nn {

namespace detail {

/// What is added up of X: float at least.
template <class X> using wide = computed<value_of<X>>;

/// How many of the first `choices` choices name each expert: [G.., Expert], elements T.
template <class T, class Token, class Expert, class Choice, class C>
constexpr auto chosen_load(const C& chosen, index_t experts, index_t choices) {
  using groups = group_dims<Token, Choice, C>;
  return apply_rule<route_rule<with_dims<groups, Expert>, Token, Choice, Expert>, T>(
      load_op<T>({&facts_of_dim<Expert>, experts}, choices),
      permuted<with_dims<groups, Token, Choice>>(chosen));
}
template <class... D, class X> constexpr auto sum_of(list<D...>, const X& x) {
  if constexpr (sizeof...(D) == 0)
    return x;
  else
    return sum<D...>(x);
}

/// 1 where a token counts, and 0 where not: whatever `valid` holds beside 0, each counts once.
template <class T, class V> constexpr auto counted(const V& valid) {
  return cast<T>(stop_gradient(valid) != 0);
}
/// x, and 0 where a token does not count, whatever is there.
template <class X> constexpr const X& of_valid(const X& x, const all_tokens&) { return x; }
template <class X, Operand V> constexpr auto of_valid(const X& x, const V& valid) {
  return dimesh::select(stop_gradient(valid) != 0, x, 0);
}

/// What each group's tokens hold, divided by how many count: the mean over those.
template <class Token, class X> constexpr auto mean_of_valid(const X& x, const all_tokens&) {
  return mean<Token>(x);
}
template <class Token, class X, Operand V>
constexpr auto mean_of_valid(const X& x, const V& valid) {
  using T = value_of<X>;
  const auto n = sum<Token>(counted<T>(valid));
  return sum<Token>(of_valid(x, valid)) / (n + cast<T>(n == T(0)));
}
/// x[G.., Expert], counts of each group, divided by how many tokens count.
template <class Token, class X>
constexpr auto per_valid(const X& x, index_t tokens, const all_tokens&) {
  return x * (value_of<X>(1) / static_cast<value_of<X>>(tokens < 1 ? 1 : tokens));
}
template <class Token, class X, Operand V>
constexpr auto per_valid(const X& x, index_t, const V& valid) {
  using T = value_of<X>;
  const auto n = sum<Token>(counted<T>(valid));
  return x / (n + cast<T>(n == T(0)));
}

/// -p log p, and 0 of 0.
struct entropy_function {
  template <class A> KOKKOS_INLINE_FUNCTION auto operator()(const A& p) const {
    return dimesh::select(p > 0, -p * dimesh::log(dimesh::select(p > 0, p, A(1))), A(0));
  }
};
/// The mean of x[G.., Token] over all tokens that count, of all groups and ranks.
template <class X> double mean_over_all(const X& x, const all_tokens&) {
  return static_cast<double>(value(complete(mean(x))));
}
template <class X, Operand V> double mean_over_all(const X& x, const V& valid) {
  const auto n = static_cast<double>(value(complete(sum(counted<value_of<X>>(valid)))));
  return static_cast<double>(value(complete(sum(of_valid(x, valid))))) / (n > 0 ? n : 1);
}
/// b + rate sign(mean - load).
template <class T> struct bias_function {
  T rate;
  template <class A> KOKKOS_INLINE_FUNCTION auto operator()(const A& b, const A& less) const {
    return b + dimesh::select(less > 0, A(rate), dimesh::select(less < 0, A(-rate), A(0)));
  }
};

}  // namespace detail

/// The loss of GShard's Algorithm 1: for each group the sum over experts of f m, f the part of the
/// tokens whose first choice an expert is (full or not), m its mean probability; gradients flow
/// through m alone. Shapes: probabilities p[G.., Token, Expert], chosen[G.., Token, Choice] -> no
/// dims. Divided by E as in the paper, or times E. Local; partial where axes split the groups.
template <Dim Token, Dim Expert, Dim Choice, Operand P, Operand C, class V = all_tokens>
constexpr auto balance_loss(balance_scale scale, const P& p, const C& chosen, const V& valid = {}) {
  if constexpr (is_poison<P> || is_poison<C>) {
    return poison{};
  } else {
    using T = detail::wide<P>;
    const index_t experts = p.template extent<Expert>();
    const auto f =
        detail::per_valid<Token>(detail::chosen_load<T, Token, Expert, Choice>(chosen, experts, 1),
                                 p.template extent<Token>(), valid);
    const auto fm = mean(sum<Expert>(f * detail::mean_of_valid<Token>(cast<T>(p), valid)));
    const T e = static_cast<T>(experts);
    return fm * (scale == balance_scale::paper ? T(1) / e : e);
  }
}

/// The mean over tokens of the square of log(sum of exp(logits)): keeps logits small (Zoph et al.
/// 2022, ST-MoE, equation 5). Shapes: logits[G.., Token, Expert] -> no dims. Local; partial where
/// axes split the groups.
template <Dim Token, Dim Expert, Operand X, class V = all_tokens>
constexpr auto router_z_loss(const X& logits, const V& valid = {}) {
  if constexpr (is_poison<X>)
    return poison{};
  else
    return mean(detail::mean_of_valid<Token>(
        square(log_sum_exp<Expert>(detail::of_valid(cast<detail::wide<X>>(logits), valid))),
        valid));
}

/// Balance without a loss: the bias that is added to scores when experts are chosen, and to no
/// weight, rises by `rate` for experts with less than their part of all choices, and falls for
/// those with more (Wang et al. 2024). Padding, whose choices are -1, counts nowhere. Shapes:
/// bias[Expert], whole, and chosen[G.., Token, Choice] -> as bias. Communicates where axes split
/// the groups: one all-reduce of a number an expert.
template <Dim Token, Dim Expert, Dim Choice, Operand B, Operand C>
constexpr auto moved_bias(const B& bias, const C& chosen, double rate) {
  if constexpr (is_poison<B> || is_poison<C>) {
    return poison{};
  } else {
    using T = value_of<B>;
    const auto load = complete(detail::sum_of(
        detail::group_dims<Token, Choice, C>{},
        detail::chosen_load<double, Token, Expert, Choice>(chosen, bias.template extent<Expert>(),
                                                           chosen.template extent<Choice>())));
    return dimesh::map(detail::bias_function<T>{static_cast<T>(rate)}, bias,
                       cast<T>(mean<Expert>(load) - load));
  }
}

/// What experts were given, of all groups and ranks.
template <class Load> struct expert_report {
  Load load;  ///< [Expert]: the part of all choices that name it; 1 / E when balanced
  double dropped;  ///< the part of all choices that found no slot, or were skipped
  double entropy;  ///< of a token's probabilities, mean in nats; log(E) for a uniform router
  double imbalance;  ///< the greatest load times E: 1 when balanced
};

/// Load, drops, entropy and balance of a routing r by probabilities p[G.., Token, Expert]. Padding
/// counts nowhere. Communicates where axes split the groups.
template <Dim Token, Dim Expert, Dim Choice, Operand P, class R, class V = all_tokens>
auto expert_metrics(const P& probabilities, const R& r, const V& valid = {}) {
  const auto p = stop_gradient(probabilities);
  using groups = detail::group_dims<Token, Choice, decltype(r.chosen)>;
  const index_t experts = p.template extent<Expert>();
  const auto counts = complete(
      detail::sum_of(groups{}, detail::chosen_load<double, Token, Expert, Choice>(
                                   r.chosen, experts, r.chosen.template extent<Choice>())));
  const double all = value(sum(counts));
  const double kept = value(complete(sum(detail::kept<double>(r.slots))));
  const double some = all > 0 ? all : 1;
  auto load = counts * (1 / some);
  const double most = value(dimesh::max(load));
  const double entropy = detail::mean_over_all(
      sum<Expert>(dimesh::map(detail::entropy_function{}, cast<detail::wide<P>>(p))), valid);
  return expert_report<decltype(load)>{std::move(load), all > 0 ? 1 - kept / some : 0.0, entropy,
                                       most * static_cast<double>(experts)};
}

}  // namespace dimesh::nn
