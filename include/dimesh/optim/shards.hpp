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

#include "dimesh/collective/all_gather.hpp"
#include "dimesh/collective/reduce_scatter.hpp"
#include "dimesh/grad/complete.hpp"
#include "dimesh/local/copy.hpp"

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

// ---- one tensor on its way, without its type ----------------------------------------------------

struct shard_piece {
  placement where;
  table full, cut;  // the layouts of the whole and of the shard
  void *whole = nullptr, *shard = nullptr;
  index_t element = 0;  // bytes of one element: float or double
  unsigned along = 0;  // the axes over which shards are exchanged

  bool goes(unsigned axes, index_t size) const { return along == axes && element == size; }
};

/// Copies the parts of `whole` that rank r of the communicator over `axes` needs, or brings.
template <bool Out, class T>
T* move_part(const shard_piece& p, index_t r, unsigned axes, T* buffer) {
  const box whole = p.where.own(p.full), part = p.where.peers(p.cut, r, axes);
  if (part.size() == 0) return buffer;
  const strides stride(whole);
  T* const at = static_cast<T*>(p.whole) + offset_in(whole, part);
  if constexpr (Out)
    local::unpack(whole.rank, part.length, static_cast<const T*>(buffer), at, stride.data());
  else
    local::pack(whole.rank, part.length, static_cast<const T*>(at), stride.data(), buffer);
  return buffer + part.size();
}

/// Elements of each rank's shards, one number a rank; true if all are equal.
inline bool count_shards(const shard_piece* p, int count, unsigned axes, index_t element,
                         index_t ranks, index_t* counts) {
  bool equal = true;
  for (index_t r = 0; r < ranks; ++r) {
    counts[r] = 0;
    for (int i = 0; i < count; ++i)
      if (p[i].goes(axes, element)) counts[r] += p[i].where.peers(p[i].cut, r, axes).size();
    equal = equal && counts[r] == counts[0];
  }
  return equal;
}

/// The pieces of one group, in one message: shards become sums of blocks of `whole` (Gather:
/// false), or `whole` is put together from shards.
template <bool Gather, class T>
void exchange_shards(const communicator& c, const shard_piece* p, int count, unsigned axes) {
  constexpr auto size = static_cast<index_t>(sizeof(T));
  const auto mark = arena::here().mark();
  auto* const counts = static_cast<index_t*>(
      arena::here().take(static_cast<std::size_t>(c.size()) * sizeof(index_t)));
  const bool equal = count_shards(p, count, axes, size, c.size(), counts);
  index_t total = 0;
  for (int r = 0; r < c.size(); ++r) total += counts[r];
  const auto bytes = [](index_t n) { return static_cast<std::size_t>(n) * sizeof(T); };
  const storage all = storage::acquire(bytes(total)),
                own = storage::acquire(bytes(counts[c.rank()]));
  T *const wholes = static_cast<T*>(all.data()), *const mine = static_cast<T*>(own.data());
  const auto each_shard = [&](const auto& copy) {
    T* at = mine;
    for (int i = 0; i < count; ++i)
      if (p[i].goes(axes, size)) {
        const index_t n = p[i].where.own(p[i].cut).size();
        copy(static_cast<T*>(p[i].shard), at, n);
        at += n;
      }
  };
  const auto each_part = [&] {
    T* at = wholes;
    for (int r = 0; r < c.size(); ++r)
      for (int i = 0; i < count; ++i)
        if (p[i].goes(axes, size)) at = move_part<Gather>(p[i], r, axes, at);
  };
  if constexpr (Gather) {
    each_shard([](T* shard, T* at, index_t n) { collective::copy(shard, at, n); });
    if (equal)
      collective::all_gather(c, mine, counts[0], wholes);
    else
      collective::all_gather_v(c, mine, counts, wholes);
    each_part();
  } else {
    each_part();
    if (equal)
      collective::reduce_scatter(c, wholes, counts[0], mine);
    else
      collective::reduce_scatter_v(c, wholes, counts, mine);
    each_shard([](T* shard, T* at, index_t n) { collective::copy(at, shard, n); });
  }
  arena::here().back_to(mark);
}

/// All pieces, a message for each set of axes; where nobody else is concerned, blocks are cut.
template <bool Gather> void exchange_all(const grid_state& grid, const shard_piece* p, int count) {
  for (int i = 0; i < count; ++i) {
    bool seen = p[i].whole == p[i].shard;
    for (int j = 0; j < i && !seen; ++j)
      seen = p[j].whole != p[j].shard && p[j].along != 0 && p[j].goes(p[i].along, p[i].element);
    if (seen) continue;
    const auto run = [&](auto zero) {
      using T = decltype(zero);
      if (p[i].along != 0)
        exchange_shards<Gather, T>(grid.along(p[i].along), p, count, p[i].along);
      else
        (void)move_part<Gather>(p[i], 0, 0, static_cast<T*>(p[i].shard));
    };
    if (p[i].element == sizeof(float))
      run(0.0f);
    else
      run(0.0);
  }
}

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
        t.sizes = g.sizes().size.data();
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
        if (cut != 0) std::construct_at(moves + moving++, detail::piece_between(p, s, cut));
      },
      parameters, from);
  if (grid != nullptr) detail::exchange_all<true>(*grid, moves, moving);
  detail::arena::here().back_to(mark);
}

}  // namespace dimesh
