// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is a Transformer's feed-forward layer with experts? A router sends each token to a few of
// many feed-forward networks, and adds up what comes back. Where experts are split over an axis,
// slots travel there and back by all-to-all: relayouts, whose steps their types show.
//
//   struct form : nn::transformer { ...
//     using expert = ::expert;  using choice = ::choice;  using slot = ::slot;   // slot : dim<>
//     static constexpr nn::gating gate{.capacity_factor = 1.25};
//   };
//   using tokens  = layout<pod, split<batch, rows>>;                        // all else
//   using experts = layout<pod, split<expert, rows>, split<hidden, cols>>;  // one line
//   mixture<experts>(nn::model<tokens, form>{}, p, x[batch/rows, length, model])
//       -> .y like x, .route, .probabilities, .logits
//   mixture_by<experts>(m, p, x, how)      by a routing of one's own: how(probabilities), which
//       may be expert_choice or route_by
//
// A group is a sequence: one of the batch. All other layouts of tokens are those of x.
#pragma once

#include "dimesh/nn/feed_forward.hpp"
#include "dimesh/nn/form.hpp"
#include "dimesh/nn/moe/balance.hpp"
#include "dimesh/nn/moe/given.hpp"
#include "dimesh/nn/moe/parts/in_chunks.hpp"
#include "dimesh/op/extents_all_reduce.hpp"
#include "dimesh/op/whole.hpp"

namespace dimesh::nn {

/// router [model, expert]; up and gate [expert, model, hidden], up_bias [expert, hidden], down
/// [expert, hidden, model], down_bias [expert, model].
template <class L, class M> struct mixture_parameters {
  using model = typename M::model;
  using hidden = typename M::hidden;
  using expert = typename expert_form_of<M>::expert;
  static constexpr bool is_gated = nn::is_gated(M::act);
  using router_type = weight<L, M, model, expert>;
  using up_type = weight<L, M, expert, model, hidden>;
  using gate_type = detail::if_there<is_gated, up_type>;
  using up_bias_type = bias<L, M, M::biases && !is_gated, expert, hidden>;
  using down_type = output_weight<L, M, expert, hidden, model>;
  using down_bias_type = bias<L, M, M::biases, expert, model>;
  using described_by = mixture_parameters<stating<detail::nowhere>, M>;
  BOOST_HANA_DEFINE_STRUCT(mixture_parameters, (router_type, router), (up_type, up),
                           (gate_type, gate), (up_bias_type, up_bias), (down_type, down),
                           (down_bias_type, down_bias));
};

namespace detail {

/// Which of the dims that form M asks tokens X for do they lack?
template <class M, class X, class Dims = typename spec_of<X>::dims>
using lacking_tokens =
    std::conditional_t<(dimesh::detail::index_of<typename M::length, Dims> < 0),
                       dim_not_in_tensor<typename M::length>,
                       std::conditional_t<(dimesh::detail::index_of<typename M::model, Dims> < 0),
                                          dim_not_in_tensor<typename M::model>, no_fault>>;
/// Are these tokens of form M, which says all that experts need, and is Experts a layout, if
/// anything? Told where the call enters.
template <class Experts, class M, class X, bool Slots> constexpr bool tokens_fit() {
  static_assert(ok<lacking_tokens<M, X>>,
                "mixture, dropless_mixture: tokens have the form's length and model among their "
                "dims; rename theirs, or let the form name these");
  using fault = std::conditional_t<std::is_void_v<Experts> || Layout<Experts>, no_fault,
                                   not_a_layout<Experts>>;
  static_assert(ok<fault>,
                "mixture: the layout of the experts stands in the angle brackets, if any: "
                "mixture<experts>(m, p.moe, x)");
  static_assert(names_choice<M>,
                "nn: the form names no choice; add using choice = a dim, as long as each token has "
                "experts");
  static_assert(names_slot<M, Slots>,
                "nn: the form names no slot; add using slot = a dim, as long as each expert has "
                "places for tokens");
  return ok<lacking_tokens<M, X>> && ok<fault> && assert_expert<M>() && names_choice<M> &&
         names_slot<M, Slots>;
}

/// The router's logits, in float or wider, and whole along experts; x as it lies.
template <class Expert, class Model, class X, class W>
constexpr auto router_logits(const X& x, const W& w) {
  using T = std::conditional_t<sizeof(computed<value_of<X>>) < sizeof(float), float,
                               computed<value_of<X>>>;
  using L = layout_of_x<X>;
  using out = typename concat_impl<typename remaining<typename spec_of<X>::dims, list<Model>>::type,
                                   list<Expert>>::type;
  const auto in = cast<T>(x);
  const auto weights = beside_on_mesh<layout_over<L, list<Model, Expert>>>(cast<T>(w), x);
  return complete(product<void>(out{}, in, weights));
}

template <class M> constexpr gating gate_of() {
  if constexpr (requires { M::gate; })
    return M::gate;
  else
    return {};
}

/// The routing that a form asks for.
template <class M, class V> struct route_by_form {
  random_key key;
  const V& valid;
  template <class P> constexpr auto operator()(const P& probabilities) const {
    gating how = gate_of<M>();
    how.key = key.fold(part_name("gate").bits);
    return route<typename M::length, typename M::expert, typename M::choice>(how, probabilities,
                                                                             valid);
  }
};

/// The dim of slots with its extent. A number of a slot counts with the capacity: slots of another
/// extent would be others.
template <class Slot> constexpr Slot slots_of(index_t capacity) {
  if constexpr (is_static_dim<Slot>) {
    if (static_extent<Slot> != capacity)
      (dimesh::detail::words() << "mixture: dim '" << dimesh::detail::name_of<Slot>() << "' has "
                               << static_extent<Slot> << " slots, and each expert takes "
                               << capacity
                               << " tokens of a group; give it capacity_of(...) as its extent, or "
                                  "leave that to the run")
          .raise();
    return Slot{};
  } else {
    return Slot{capacity};
  }
}

template <class M>
inline constexpr bool few_chunks = chunks_of<M>() <= dimesh::detail::max_operands;

/// Compares the extents of tokens and what says which of them count, and those of a mixture's
/// parameters p, as far as form M has them: two all-reduces at most, before anything that they size
/// is sent.
template <class M, class P, class X, class V>
constexpr void compare_mixture(const P& p, const X& x, const V& valid) {
  if constexpr (Operand<V>)
    (void)extents_all_reduce(x, valid);
  else
    (void)extents_all_reduce(x);
  if constexpr (is_gated(M::act) && M::biases)
    (void)extents_all_reduce(p.router, p.up, p.down, p.gate, p.down_bias);
  else if constexpr (is_gated(M::act))
    (void)extents_all_reduce(p.router, p.up, p.down, p.gate);
  else if constexpr (M::biases)
    (void)extents_all_reduce(p.router, p.up, p.down, p.up_bias, p.down_bias);
  else
    (void)extents_all_reduce(p.router, p.up, p.down);
}

/// The layout of what a layer gives of tokens X: theirs, completed.
template <class X>
using layout_of_y = layout_of_x<std::remove_cvref_t<decltype(complete(std::declval<const X&>()))>>;

/// Agreed: the capacity follows from what the ranks have agreed upon.
template <class Experts, bool Agreed, class C, class M, class P, class X, class How,
          class V = all_tokens>
constexpr auto mixed(const model<C, M>& m, const P& p, const X& x, const How& how,
                     const V& valid = {}) {
  using token = typename M::length;
  using expert = typename M::expert;
  using choice = typename M::choice;
  using slot = typename M::slot;
  using E = std::conditional_t<std::is_void_v<Experts>, C, Experts>;
  compare_mixture<M>(p, x, valid);
  const auto in = whole<token>(complete(x));
  const auto logits = router_logits<expert, typename M::model>(in, p.router);
  const auto probabilities = softmax<expert>(logits);
  const auto r = how(probabilities);
  if constexpr (!Agreed) dimesh::detail::compare_extent<slot>(r.capacity, r.slots);
  const auto held = to_slots<token, choice, expert, slot>(
      in, r.slots, expert{probabilities.template extent<expert>()}, slots_of<slot>(r.capacity));
  const auto filled =
      count_filled<token, choice, expert>(r.slots, held.template extent<expert>(), r.capacity);
  const auto back = through_experts(model<E, M>(m.run), p, held, filled);
  auto y =
      relayout<layout_of_y<X>>(from_slots<token, choice, expert, slot>(back, r.gates, r.slots));
  return mixture_result<decltype(y), std::remove_cvref_t<decltype(r)>,
                        std::remove_cvref_t<decltype(probabilities)>,
                        std::remove_cvref_t<decltype(logits)>>{std::move(y), r, probabilities,
                                                               logits};
}

}  // namespace detail

/// Tokens through their experts, by slots: every expert has capacity_of slots for each group, and
/// tokens that find none come out as zeros, which the residual sum around this layer replaces. X:
/// the layout of the experts and of what is in their slots; it may split other dims over the axes
/// that split groups in the layout of x. Shapes: x[.., length, model] -> .y like x, completed.
/// valid[.., length]: 0 for padding. Slots that no token has are not multiplied, where X leaves the
/// slots of an expert together; operations are counted as of all of them, which is the most.
/// Communicates: compares extents given at run time; completes x, gathers its length where it is
/// split, and the router's weights; relayouts slots, and how many are filled, to X, and slots back;
/// sums under X as feed_forward does.
template <class Experts = void, Layout C, class M, detail::HasExperts P, Operand X,
          class V = all_tokens>
constexpr auto mixture(const model<C, M>& m, const P& p, const X& x, const V& valid = {}) {
  static_assert(detail::few_chunks<M>,
                "mixture: the form asks for more expert_chunks than can be under way at a time; 16 "
                "is the most");
  if constexpr (is_poison<X> || !detail::few_chunks<M>)
    return detail::no_mixture{};
  else if constexpr (!detail::tokens_fit<Experts, M, X, true>())
    return detail::no_mixture{};
  else
    return detail::mixed<Experts, true>(m, p, x, detail::route_by_form<M, V>{m.run.key, valid},
                                        valid);
}

/// The same by a routing of one's own: how(probabilities[.., length, expert]) gives it, as
/// expert_choice does (Choice is then as long as Expert), or route_by with a bias, or a function of
/// the program's. Communicates: as mixture, and compares the capacity, which is each rank's word.
/// What `how` reads beside the probabilities is, too, where its extents are given at run time: a
/// mask or a bias behind it, `read`, is compared with the tokens; of more than one compare the
/// others before (extents_all_reduce).
template <class Experts = void, Layout C, class M, detail::HasExperts P, Operand X, class How,
          class V = all_tokens>
constexpr auto mixture_by(const model<C, M>& m, const P& p, const X& x, const How& how,
                          const V& read = {}) {
  static_assert(detail::few_chunks<M>,
                "mixture_by: the form asks for more expert_chunks than can be under way at a time; "
                "16 is the most");
  if constexpr (is_poison<X> || !detail::few_chunks<M>)
    return detail::no_mixture{};
  else if constexpr (!detail::tokens_fit<Experts, M, X, true>())
    return detail::no_mixture{};
  else
    return detail::mixed<Experts, false>(m, p, x, how, read);
}

}  // namespace dimesh::nn
