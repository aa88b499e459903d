// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do experts take all tokens that choose them? Without slots: each choice is a row, and rows
// travel to the ranks of their experts, as many as there are (op/dispatch.hpp), meet their expert's
// matrices in one grouped product, and travel back (Gale et al. 2022, MegaBlocks).
//
//   using experts = layout<pod, split<expert, rows>, split<hidden, cols>>;
//   dropless_mixture<rows, experts>(m, p, x[batch/rows, length, model])   -> .y like x, ...
//   dropless_mixture_by<rows, experts>(m, p, x, how)      by how(probabilities), as mixture_by
//
// Axis `rows` splits the batch, and the experts; with one rank along it nothing travels. Numbers of
// rows are agreed upon before any are sent. No token is dropped, so that capacity means nothing;
// padding stays where it is. (By slots none is dropped, either, with a capacity_factor of experts /
// choices: under any layout, over several axes, on another mesh, at the price of empty slots.)
#pragma once

#include "dimesh/nn/moe/experts.hpp"
#include "dimesh/op/dispatch.hpp"
#include "dimesh/op/expand.hpp"
#include "dimesh/op/extents_all_reduce.hpp"
#include "dimesh/op/grouped_einsum.hpp"
#include "dimesh/op/merge.hpp"

namespace dimesh::nn {

/// One for each choice of each token: what travels.
template <class Token> struct choice_row : dim<> {
  using dim<>::dim;
};

namespace detail {

template <class D, class X> constexpr D extent_in(const X& x) {
  if constexpr (is_static_dim<D>)
    return D{};
  else
    return D{x.template extent<D>()};
}
template <class Row, class... D, class X> constexpr auto rows_of(list<D...>, const X& x) {
  return merge<Row, D...>(x);
}
/// Rows as [D...] with the extents of `like`.
template <class Row, class... D, class X, class Like>
constexpr auto rows_back(list<D...>, const X& x, const Like& like) {
  return cut<Row, D...>(x, extent_in<D>(like)...);
}

/// 1 for each row, of elements T.
template <class T> struct ones_function {
  template <class A> KOKKOS_INLINE_FUNCTION T operator()(const A&) const { return T(1); }
};

/// A parameter as experts hold it, in elements T.
template <class T, class E, class W> constexpr auto held_by(const W& w) {
  return relayout<layout_over<E, typename spec_of<W>::dims>>(cast<T>(w));
}

/// The networks of experts on the rows that are theirs, group by group: x[row, model].
template <class E, class M, class Row, class P, class X, class L, class Ones>
constexpr auto rows_feed_forward(const P& p, const X& x, const L& lengths, const Ones& one) {
  using T = value_of<X>;
  using expert = typename M::expert;
  using hidden = typename M::hidden;
  constexpr auto f = activation_function<M::act>();
  const auto up =
      complete(grouped_einsum<Row, expert, Row, hidden>(x, held_by<T, E>(p.up), lengths));
  const auto inside = [&] {
    using F = std::remove_cvref_t<decltype(f)>;
    if constexpr (is_gated(M::act))
      return map_with(
          gated_function<F>{f}, up,
          complete(grouped_einsum<Row, expert, Row, hidden>(x, held_by<T, E>(p.gate), lengths)));
    else if constexpr (M::biases)
      return map_with(
          biased_function<F>{f}, up,
          grouped_einsum<Row, expert, Row, hidden>(one, held_by<T, E>(p.up_bias), lengths));
    else
      return map_with(f, up);
  }();
  const auto down = complete(
      grouped_einsum<Row, expert, Row, typename M::model>(inside, held_by<T, E>(p.down), lengths));
  if constexpr (M::biases)
    return down + grouped_einsum<Row, expert, Row, typename M::model>(
                      one, held_by<T, E>(p.down_bias), lengths);
  else
    return down;
}

/// Experts and weights of all tokens; padding has none.
template <class Token, class Expert, class Choice, class P, class V>
constexpr auto gates_of(const gating& g, const P& p, const V& valid) {
  using dims = scores_dims<P, Token, Expert>;
  using rule = route_rule<with_dims<typename dims::groups, Token, Choice>, Token, Expert, Choice>;
  const choose_op<value_of<P>> op{{&facts_of_dim<Choice>, static_extent<Choice>}};
  const auto scores = permuted<typename dims::by_expert>(p);
  const auto chosen =
      valid_only<rule, std::int32_t, typename dims::tokens>(op, stop_gradient(scores), valid);
  const auto raw = dimesh::gather<Expert, Choice>(scores, chosen);
  auto gates = g.gates == renormalise::never ? raw * value_of<P>(1) : shares<Choice>(raw);
  using C = std::remove_cvref_t<decltype(chosen)>;
  return routing<C, C, decltype(gates)>{chosen, chosen, std::move(gates), 0};
}
template <class M, class V> struct gates_by_form {
  const V& valid;
  template <class P> constexpr auto operator()(const P& probabilities) const {
    return gates_of<typename M::length, typename M::expert, typename M::choice>(
        gate_of<M>(), probabilities, valid);
  }
};

/// Expert as layout E splits it: evenly, or not.
template <class E, class Expert>
using as_split_by = std::conditional_t<
    dimesh::detail::spec_of_list<float, list<Expert>, layout_over<E, list<Expert>>>::type::table
        .uneven[0],
    uneven<Expert>, Expert>;

/// Axis A, and no other, splits D.
template <class A, class D> struct split_by_one_rule : dimesh::detail::keeps_dims {
  using named = list<D>;
  using axes = list<A>;
  static constexpr outcome of(dimesh::detail::rule_operands x, dimesh::detail::dim_list) {
    return dimesh::detail::split_by_one_rule_of(x[0], x[0].axis_of(dimesh::detail::type_number<A>),
                                                &facts_of_dim<D>);
  }
};
/// The first of the dims that number groups of tokens, along which rows may be split.
template <class X, class M>
using first_of_groups = dimesh::detail::type_at<
    0,
    typename concat_impl<dims_without<dims_without<typename spec_of<X>::dims, typename M::length>,
                                      typename M::model>,
                         list<typename M::length>>::type>;

/// Do tokens X and the experts of P lie so that rows can go from these to those along A? Told here
/// of the layer's own operands; further in it would be told of rows that nobody has seen.
template <class A, class E, class M, class P, class X> constexpr bool rows_can_go() {
  using experts = std::remove_cvref_t<decltype(held_by<value_of<X>, E>(std::declval<P>().up))>;
  using tokens_fault = fault_of<split_by_one_rule<A, first_of_groups<X, M>>, X>;
  using experts_fault =
      std::conditional_t<ok<tokens_fault>,
                         fault_of<split_by_one_rule<A, typename M::expert>, experts>, no_fault>;
  static_assert(ok<tokens_fault>,
                "dropless_mixture: the axis in the angle brackets, and no other, splits the batch; "
                "lay tokens out so, or take mixture, which goes under any layout");
  static_assert(ok<experts_fault>,
                "dropless_mixture: the axis in the angle brackets, and no other, splits the "
                "experts; let their layout do so, or take mixture, which goes under any");
  return ok<tokens_fault> && ok<experts_fault>;
}

/// What stands in the angle brackets: along which axis, to experts that lie how.
template <class... Named> inline constexpr bool travels = false;
template <Axis A, Layout E> inline constexpr bool travels<A, E> = true;

template <class A, class E, class M, class P, class X, class How, class V>
auto without_slots(const P& p, const X& x, const How& how, const V& valid) {
  using expert = typename M::expert;
  using row = choice_row<typename M::length>;
  compare_mixture<M>(p, x, valid);
  const auto in = whole<typename M::length>(complete(x));
  const auto logits = router_logits<expert, typename M::model>(in, p.router);
  const auto probabilities = softmax<expert>(logits);
  const auto r = how(probabilities);
  using choices = typename spec_of<decltype(r.chosen)>::dims;  // groups, token, choice
  using many = typename concat_impl<choices, list<typename M::model>>::type;
  const auto numbers = rows_of<row>(choices{}, r.chosen);
  const auto rows = rows_of<row>(choices{}, permuted<many>(expand<typename M::choice>(
                                                in, extent_in<typename M::choice>(r.chosen))));
  const auto plan =
      all_to_all_counts<row, as_split_by<E, expert>, A>(numbers, extent_in<expert>(probabilities));
  const auto there = all_to_all(plan, rows);
  const auto one = [&] {
    if constexpr (M::biases)
      return dimesh::map<value_of<X>>(ones_function<value_of<X>>{}, all_to_all(plan, numbers));
    else
      return absent{};
  }();
  const auto worked = rows_feed_forward<E, M, row>(p, there, plan.lengths(), one);
  const auto back = rows_back<row>(choices{}, all_to_all_back(plan, worked), r.chosen);
  using out = typename spec_of<decltype(in)>::dims;
  auto y = relayout<layout_of_y<X>>(product<void>(out{}, back, cast<value_of<X>>(r.gates)));
  return mixture_result<decltype(y), std::remove_cvref_t<decltype(r)>,
                        std::remove_cvref_t<decltype(probabilities)>,
                        std::remove_cvref_t<decltype(logits)>>{std::move(y), r, probabilities,
                                                               logits};
}

}  // namespace detail

/// Tokens through all the experts that they choose. A: the axis that splits the batch (evenly), and
/// in layout Experts the experts, which may split the hidden dim over other axes. Shapes, results
/// as of mixture; .route.slots are .chosen. Of the form's gate it takes how gates are renormalised:
/// all choices are taken, by chance or not. Communicates: as mixture does for extents and the
/// router; an exchange of counts, rows there and back (twice as many small ones where there are
/// biases), and sums where Experts splits the hidden dim. Throws dimesh::error on all ranks alike.
template <Axis A, Layout Experts, Layout C, class M, detail::HasExperts P, Operand X,
          class V = all_tokens>
auto dropless_mixture(const model<C, M>&, const P& p, const X& x, const V& valid = {}) {
  if constexpr (is_poison<X>)
    return detail::no_mixture{};
  else if constexpr (!detail::tokens_fit<Experts, M, X, false>())
    return detail::no_mixture{};
  else if constexpr (!detail::rows_can_go<A, Experts, M, P, X>())
    return detail::no_mixture{};
  else
    return detail::without_slots<A, Experts, M>(p, x, detail::gates_by_form<M, V>{valid}, valid);
}

/// The same by a routing of one's own, as mixture_by has it: how(probabilities) may be route_by
/// with a bias that balances, and `read` is what it reads beside them, as of mixture_by. All that
/// are chosen go, full experts and chances of second choices notwithstanding; those that are -1 go
/// nowhere.
template <Axis A, Layout Experts, Layout C, class M, detail::HasExperts P, Operand X, class How,
          class V = all_tokens>
auto dropless_mixture_by(const model<C, M>&, const P& p, const X& x, const How& how,
                         const V& read = {}) {
  if constexpr (is_poison<X>)
    return detail::no_mixture{};
  else if constexpr (!detail::tokens_fit<Experts, M, X, false>())
    return detail::no_mixture{};
  else if constexpr (!detail::rows_can_go<A, Experts, M, P, X>())
    return detail::no_mixture{};
  else
    return detail::without_slots<A, Experts, M>(p, x, how, read);
}

/// What they say to other arguments, or to the same in another order.
template <class... Named, class... A>
  requires(!detail::travels<Named...> || !detail::given_experts<3, 4, A...>)
constexpr detail::no_mixture dropless_mixture(const A&...) {
  static_assert(ok<dimesh::detail::wrong_unless_poison<A...>>,
                "dropless_mixture: takes an axis and the experts' layout, a model, the parameters "
                "of a mixture and tokens: dropless_mixture<rows, experts>(m, p.moe, x)");
  return {};
}
template <class... Named, class... A>
  requires(!detail::travels<Named...> || !detail::given_experts<4, 5, A...>)
constexpr detail::no_mixture dropless_mixture_by(const A&...) {
  static_assert(ok<dimesh::detail::wrong_unless_poison<A...>>,
                "dropless_mixture_by: takes an axis and the experts' layout, a model, parameters, "
                "tokens, a routing: dropless_mixture_by<rows, experts>(m, p.moe, x, how)");
  return {};
}

}  // namespace dimesh::nn
