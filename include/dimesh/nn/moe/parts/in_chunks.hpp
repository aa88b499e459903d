// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do some experts work while slots of others travel? The experts of each rank are cut into
// chunks. Slots of all chunks start at once; each chunk is computed when its slots have come, and
// goes back while the next one is computed. Whole experts are cut, not their slots: every product
// is the one that it is without chunks, on the way back, too, so the bits are the same.
//
//   static constexpr int expert_chunks = 2; // in the form: of the experts of each rank
//   through_experts(model<E, M>{}, p, held[expert, batch/rows, slot, model],
//                   filled[expert, batch/rows])                               -> like held
#pragma once

#include <vector>

#include "dimesh/nn/moe/parts/work.hpp"
#include "dimesh/op/chunks.hpp"
#include "dimesh/op/merge.hpp"

namespace dimesh::nn {

/// A rank's place among those over which experts are split, and the number of an expert there.
template <class Expert> struct owner_of : dim<> {
  using dim<>::dim;
};
template <class Expert> struct owned : dim<> {
  using dim<>::dim;
};
/// Those of a chunk, and of a chunk of all owners.
template <class Expert> struct owned_some : dim<> {
  using dim<>::dim;
};
template <class Expert> struct some : dim<> {
  using dim<>::dim;
};

namespace detail {

template <class Rule, class D, class E> struct rule_with {
  using type = Rule;
};
template <class D, class... A, class E> struct rule_with<split<D, A...>, D, E> {
  using type = split<E, A...>;
};
template <class D, class... A, class E> struct rule_with<split_if_free<D, A...>, D, E> {
  using type = split_if_free<E, A...>;
};
/// A list of rules with E in the place of D.
template <class L, class D, class E> struct layout_with_dim;
template <class M, class... Rule, class D, class E>
struct layout_with_dim<layout<M, Rule...>, D, E> {
  using type = layout<M, typename rule_with<Rule, D, E>::type...>;
};

/// Over how many ranks a layout splits the first dim of w.
template <class L, class W> constexpr index_t owners_of(const W& w) {
  using S = typename dimesh::detail::spec_of_list<value_of<W>, typename spec_of<W>::dims,
                                                  layout_over<L, typename spec_of<W>::dims>>::type;
  return dimesh::detail::ranks_over(S::table, 0, dimesh::detail::core_of(w).sizes());
}

/// Experts [begin, begin + count) of each owner, of x[Expert, ..]: [some<Expert>, ..].
template <class Expert, class X>
constexpr auto chunk_of(const X& x, index_t mine, index_t begin, index_t count) {
  if constexpr (std::is_same_v<X, absent>) {
    return x;
  } else {
    using rule = dimesh::detail::chunk_rule<owned<Expert>, owned_some<Expert>>;
    const auto by_owner = cut<Expert, owner_of<Expert>, owned<Expert>>(x, owned<Expert>{mine});
    const dimesh::detail::chunk_op<value_of<X>> op{
        1, begin, count, &dimesh::detail::facts_of_dim<owned_some<Expert>>};
    return merge<some<Expert>, owner_of<Expert>, owned_some<Expert>>(
        dimesh::detail::apply_rule<rule, value_of<X>>(op, by_owner));
  }
}
/// The chunks [some<Expert>, ..] again as [Expert, ..].
template <class Expert, class X>
constexpr auto joined_experts(const std::vector<X>& chunks, index_t count) {
  using by_owner = decltype(cut<some<Expert>, owner_of<Expert>, owned_some<Expert>>(
      chunks.front(), owned_some<Expert>{count}));
  std::vector<by_owner> all;
  for (const X& x : chunks)
    all.push_back(
        cut<some<Expert>, owner_of<Expert>, owned_some<Expert>>(x, owned_some<Expert>{count}));
  return merge<Expert, owner_of<Expert>, owned<Expert>>(
      join_chunks<owned_some<Expert>, owned<Expert>>(all));
}

/// The parameters of some experts.
template <class Up, class Gate, class UpBias, class Down, class DownBias> struct work_parameters {
  Up up;
  Gate gate;
  UpBias up_bias;
  Down down;
  DownBias down_bias;
};
/// A parameter as experts use it in layout C, in elements T.
template <class T, class C, class W> constexpr auto used_under(const W& w) {
  return relayout<layout_over<C, typename spec_of<W>::dims>>(cast<T>(w));
}
template <bool There, class T, class C, class P, class Member>
constexpr auto used_if(const P& p, const Member& member) {
  if constexpr (There)
    return used_under<T, C>(member(p));
  else
    return absent{};
}

inline void require_expert_chunks(index_t experts, index_t owners, index_t chunks) {
  if (experts % (owners * chunks) != 0)
    (dimesh::detail::words() << "mixture: the " << experts << " experts of " << owners
                             << " ranks cannot be cut into " << chunks
                             << " chunks; let chunks divide the experts of a rank")
        .raise();
}

/// A move of x to layout L that has begun; L may be of the mesh of y.
template <class L, class X, class Y> constexpr auto start_beside(const X& x, const Y& y) {
  if constexpr (std::is_same_v<typename spec_of<X>::mesh, typename L::mesh>)
    return start_relayout<L>(x);
  else
    return start_relayout<layout_over<L, typename spec_of<X>::dims>>(x, y);
}

template <class E, class M, class P, class X, class N>
constexpr auto in_chunks(const model<E, M>& m, const P& p, const X& held, const N& filled) {
  using expert = typename M::expert;
  using F = typename layout_with_dim<E, expert, some<expert>>::type;
  using T = value_of<X>;
  const index_t experts = held.template extent<expert>(), owners = owners_of<E>(p.up),
                chunks = M::expert_chunks;
  require_expert_chunks(experts, owners, chunks);
  const index_t mine = experts / owners, count = mine / chunks;
  constexpr bool gated = is_gated(M::act), biased = M::biases;
  const auto up = used_under<T, E>(p.up);
  const auto gate = used_if<gated, T, E>(p, [](const auto& w) { return w.gate; });
  const auto up_bias = used_if < biased && !gated, T,
             E > (p, [](const auto& w) { return w.up_bias; });
  const auto down = used_under<T, E>(p.down);
  const auto down_bias = used_if<biased, T, E>(p, [](const auto& w) { return w.down_bias; });
  const auto part = [&](const auto& t, index_t k) {
    return chunk_of<expert>(t, mine, k * count, count);
  };
  using sent = decltype(part(held, 0));
  const auto start = [&](index_t k) { return start_beside<F>(part(held, k), p.up); };
  using coming = decltype(start(0));
  std::vector<coming> on_their_way;
  for (index_t k = 0; k < chunks; ++k) on_their_way.push_back(start(k));
  const auto there = beside_on_mesh<E>(filled, p.up);  // slots travel meanwhile
  const auto work = [&](index_t k, const auto& x) {
    const auto weights = work_parameters{part(up, k), part(gate, k), part(up_bias, k),
                                         part(down, k), part(down_bias, k)};
    const auto of_chunk = beside_on_mesh<F>(part(there, k), p.up);
    return expert_feed_forward<some<expert>>(model<F, M>(m.run), weights, x,
                                             told_of<F>(of_chunk, x, weights.up));
  };
  const auto answer = [&](index_t k, const auto& x) {
    return start_beside<layout_of_x<sent>>(work(k, x), held);
  };
  using going = decltype(answer(0, await(std::declval<coming>())));
  std::vector<going> on_their_way_back;
  for (index_t k = 0; k < chunks; ++k)
    on_their_way_back.push_back(
        answer(k, await(std::move(on_their_way[static_cast<std::size_t>(k)]))));
  std::vector<decltype(await(std::declval<going>()))> back;
  for (going& y : on_their_way_back) back.push_back(await(std::move(y)));
  return joined_experts<expert>(back, count);
}

template <class M> constexpr int chunks_of() {
  if constexpr (requires { M::expert_chunks; })
    return M::expert_chunks;
  else
    return 1;
}

/// What is in slots, held[Expert, .., model], through the experts' networks under E, and back to
/// where it was. Filled: how many slots are, [Expert, ..], as the slots lie. Communicates as
/// relayout does: slots there and back, these numbers there.
template <class E, class M, class P, class X, class N>
constexpr auto through_experts(const model<E, M>& m, const P& p, const X& held, const N& filled) {
  using expert = typename M::expert;
  if constexpr (chunks_of<M>() > 1) {
    return in_chunks(m, p, held, filled);
  } else {
    const auto there = beside_on_mesh<E>(filled, p.up);
    const auto x = beside_on_mesh<E>(held, p.up);
    return beside_on_mesh<layout_of_x<X>>(
        expert_feed_forward<expert>(m, p, x, told_of<E>(there, x, p.up)), held);
  }
}

}  // namespace detail
}  // namespace dimesh::nn
