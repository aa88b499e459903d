// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do the tensors of a struct go between their layout and one that splits more, together? In one
// message for all that go along the same axes: what each rank needs of every tensor is packed.
//
//   using zero = layout<pod, spread<rows>>;
//   shards<network<L>, zero>                       -> network<layout<pod, ..., spread<rows>>>
//   reduce_scatter_together<zero>(gradients)       network<gradient<L>> -> the shards' gradients
//   shards_of<zero>(params)                        the own shards, local
//   all_gather_together(shards, params)            back, into params
#pragma once

#include "dimesh/grad/complete.hpp"
#include "dimesh/optim/shard_exchange.hpp"

namespace dimesh {

namespace detail {

// ---- types: the rules of S added to a layout ----------------------------------------------------

template <class Rule, class Have> struct new_rule;
template <class Rule, class... Have> struct new_rule<Rule, list<Have...>> {
  using type = std::conditional_t<(std::is_same_v<Rule, Have> || ...), list<>, list<Rule>>;
};
template <class M, class Rules> struct layout_of_list;
template <class M, class... R> struct layout_of_list<M, list<R...>> {
  using type = layout<M, R...>;
};
template <class L, class S> struct added;
template <class M, class... R, class... S> struct added<layout<M, R...>, layout<M, S...>> {
  using type = typename layout_of_list<
      M, typename concat_impl<list<R...>, typename new_rule<S, list<R...>>::type...>::type>::type;
};
template <class L, class S> struct added<shaped<L>, S> {
  using type = shaped<typename added<L, S>::type>;
};
template <class S> struct adding {
  template <class L> using to = typename added<L, S>::type;
};

template <class X, class Y>
shard_piece piece_between(const X& whole, const Y& shard, unsigned along) {
  shard_piece p{placement_of(whole),
                spec_of<X>::table,
                spec_of<Y>::table,
                whole.data(),
                shard.data(),
                sizeof(value_of<X>),
                along};
  // What is partial in the whole is whole in its parts.
  for (int a = 0; a < p.full.axes; ++a)
    if (p.full.is_partial(a)) p.full.axis[a] = {};
  return p;
}

template <class X, class Y>
inline constexpr unsigned cut_axes =
    moved_axes(spec_of<X>::table, spec_of<Y>::table) & spec_of<Y>::table.mask(use::split);

template <class S> int count_tensors(const S& s) {
  int n = 0;
  for_each_tensor([&n](const auto&, const auto&) { ++n; }, s);
  return n;
}

/// Room in the arena for n things of type T.
template <class T> T* room_for(int n) {
  return static_cast<T*>(arena::here().take(static_cast<std::size_t>(n) * sizeof(T)));
}

template <class Out, class G> Out scatter_struct(const G& gradients) {
  Out out{};
  const auto mark = arena::here().mark();
  const int n = count_tensors(gradients);
  auto* const moves = room_for<shard_piece>(n);
  auto* const sums = room_for<piece>(n);
  int moving = 0, summing = 0;
  const grid_state* grid = nullptr;
  for_each_tensor(
      [&](const auto&, const auto& g, auto& s) {
        using X = std::remove_cvref_t<decltype(g)>;
        using Y = std::remove_cvref_t<decltype(s)>;
        grid = &g.grid().state();
        const unsigned cut = talking(cut_axes<X, Y>, grid->sizes());
        const unsigned sum = addend_axes(g) & ~cut;
        const bool shares = cut == 0 && sum == 0;
        s = Y(g.grid(), g.shape(), shares ? g.memory() : storage{});
        if (cut != 0) std::construct_at(moves + moving++, piece_between(g, s, cut & ~g.once()));
        const auto* from = reinterpret_cast<const std::byte*>(cut != 0 ? s.data() : g.data());
        if (sum != 0)
          std::construct_at(sums + summing++,
                            piece{from, reinterpret_cast<std::byte*>(s.data()), s.local_bytes(),
                                  sum, static_cast<index_t>(sizeof(value_of<X>))});
      },
      gradients, out);
  if (grid != nullptr) {
    exchange_all<false>(*grid, moves, moving);
    reduce_pieces(*grid, sums, summing);
  }
  arena::here().back_to(mark);
  return out;
}

/// What goes where, on shapes: payload over each set of axes.
struct shard_traffic {
  std::array<index_t, 1u << max_axes> scattered{}, summed{};
  tally* to = nullptr;
  const index_t* sizes = nullptr;
  constexpr void enter() const {
    for (unsigned axes = 1; to != nullptr && axes < scattered.size(); ++axes) {
      const index_t in = scattered[axes], all = summed[axes];
      if (in == 0 && all == 0) continue;
      const index_t n = group_size(axes, sizes);
      if (in != 0) to->collective(axes, in, in - in / n);
      if (all != 0) to->collective(axes, all, 2 * (n - 1) * all / n);
    }
  }
};

template <class Out, class G> constexpr Out scatter_shapes(const G& gradients) {
  Out out{};
  shard_traffic t;
  for_each_tensor(
      [&t](const auto&, const auto& g, auto& s) {
        using X = std::remove_cvref_t<decltype(g)>;
        using Y = std::remove_cvref_t<decltype(s)>;
        s = Y(g.sizes(), g.shape(), g.tally());
        t.to = g.tally();
        t.sizes = core_of(g).sizes();
        const unsigned cut = talking(cut_axes<X, Y>, t.sizes), along = cut & ~g.once();
        const unsigned sum = addend_axes(g) & ~cut;
        if (along != 0)
          t.scattered[along] += scattered_elements(placement_of(g), spec_of<Y>::table, along) *
                                static_cast<index_t>(sizeof(value_of<X>));
        if (sum != 0) t.summed[sum] += s.local_bytes();
      },
      gradients, out);
  t.enter();
  return out;
}

}  // namespace detail

/// The type of a struct (or tensor) with the rules of S added to its layout: a rank's shards.
template <class P, Layout S> using shards = rebind_layout<P, detail::adding<S>::template to>;

/// The own blocks, under the layouts that S adds to, of replicated parameters. Tensors that S does
/// not split share the memory of the parameter. Local.
template <Layout S, class P> shards<P, S> shards_of(const P& parameters) {
  shards<P, S> out{};
  for_each_tensor(
      [](const auto&, const auto& p, auto& s) {
        using X = std::remove_cvref_t<decltype(p)>;
        using Y = std::remove_cvref_t<decltype(s)>;
        const auto& grid = p.grid().state();
        const bool cut = detail::talking(detail::cut_axes<X, Y>, grid.sizes()) != 0;
        s = Y(p.grid(), p.shape(), cut ? detail::storage{} : p.memory());
        if (!cut) return;
        const detail::shard_piece one = detail::piece_between(p, s, 0);
        detail::exchange_all<false>(grid, &one, 1);
      },
      parameters, out);
  return out;
}

/// The whole gradients of the shards, from gradients that are partial where parameters are
/// replicated. Communicates: one reduce-scatter for each set of axes; gradients that S does not
/// split, and sums over further axes, go in one all-reduce for each set of axes. Takes shapes too.
template <Layout S, class G> constexpr auto reduce_scatter_together(const G& gradients) {
  using Out = shards<typename detail::completed_type<G>::type, S>;
  if constexpr (detail::holds_shapes<G> || detail::is_shaped<G>)
    return detail::scatter_shapes<Out>(gradients);
  else
    return detail::scatter_struct<Out>(gradients);
}

/// Brings all ranks' shards into the parameters, in place. Communicates: one all-gather for each
/// set of axes.
template <class Shards, class P> void all_gather_together(const Shards& from, P& parameters) {
  const auto mark = detail::arena::here().mark();
  auto* const moves = detail::room_for<detail::shard_piece>(detail::count_tensors(from));
  int moving = 0;
  const detail::grid_state* grid = nullptr;
  for_each_tensor(
      [&](const auto&, auto& p, const auto& s) {
        using X = std::remove_cvref_t<decltype(p)>;
        using Y = std::remove_cvref_t<decltype(s)>;
        grid = &p.grid().state();
        const unsigned cut = detail::talking(detail::cut_axes<X, Y>, grid->sizes());
        if (cut != 0)
          std::construct_at(moves + moving++, detail::piece_between(p, s, cut));
        else if (s.data() != p.data())  // shards of the parameter itself share its memory
          detail::copy_bytes(p.data(), s.data(), p.local_bytes());
      },
      parameters, from);
  if (grid != nullptr) detail::exchange_all<true>(*grid, moves, moving);
  detail::arena::here().back_to(mark);
}

}  // namespace dimesh
