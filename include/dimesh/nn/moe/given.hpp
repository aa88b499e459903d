// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does one read whose layer of experts is given something else, or whose result is taken for a
// tensor?
#pragma once

#include "dimesh/nn/moe/route.hpp"
#include "dimesh/nn/project.hpp"
#include "dimesh/op/refusals/wrong_operators.hpp"

namespace dimesh::nn {

/// What a mixture gives: its result, and what losses and metrics want to know.
template <class Y, class R, class P, class X> struct [[nodiscard]] mixture_result {
  Y y;  ///< like the tokens
  R route;  ///< routing (route.hpp)
  P probabilities;  ///< [.., length, expert], in float or wider
  X logits;  ///< the same before the softmax
};

namespace detail {

/// Has what all mixtures have, as mixture_parameters do.
template <class P>
concept HasExperts = requires(const P& p) {
  p.router;
  p.up;
  p.down;
};
/// A model, parameters of a mixture, tokens, and up to so many arguments.
template <std::size_t Least, std::size_t Most, class... A>
inline constexpr bool given_experts = false;
template <std::size_t Least, std::size_t Most, class M, HasExperts P, Operand X, class... Rest>
inline constexpr bool given_experts<Least, Most, M, P, X, Rest...> =
    is_model<M> && 3 + sizeof...(Rest) >= Least && 3 + sizeof...(Rest) <= Most;
using no_mixture = mixture_result<poison, no_routing, poison, poison>;

}  // namespace detail

/// What it says to other arguments, or to the same in another order.
template <class... Named, class... A>
  requires(!detail::given_experts<3, 4, A...>)
constexpr detail::no_mixture mixture(const A&...) {
  static_assert(ok<dimesh::detail::wrong_unless_poison<A...>>,
                "mixture: the arguments are a model, the parameters of a mixture and tokens, and "
                "perhaps which of these count: mixture<experts>(m, p.moe, x)");
  return {};
}
template <class... Named, class... A>
  requires(!detail::given_experts<4, 5, A...>)
constexpr detail::no_mixture mixture_by(const A&...) {
  static_assert(ok<dimesh::detail::wrong_unless_poison<A...>>,
                "mixture_by: the arguments are a model, the parameters of a mixture, tokens and a "
                "routing: mixture_by<experts>(m, p.moe, x, how)");
  return {};
}

/// A mixture's result is more than its tokens.
template <Operand A, class Y, class R, class P, class X>
constexpr poison operator+(const A&, const mixture_result<Y, R, P, X>&) {
  static_assert(ok<dimesh::detail::wrong_unless_poison<A, Y>>,
                "operator+: a mixture gives more than tokens, which are its .y: "
                "x + mixture<experts>(m, p.moe, x).y");
  return {};
}
template <Operand A, class Y, class R, class P, class X>
constexpr poison operator+(const mixture_result<Y, R, P, X>&, const A&) {
  static_assert(ok<dimesh::detail::wrong_unless_poison<A, Y>>,
                "operator+: a mixture gives more than tokens, which are its .y: "
                "mixture<experts>(m, p.moe, x).y + x");
  return {};
}

}  // namespace dimesh::nn
