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
#include "dimesh/memory/memory.hpp"
#include "dimesh/optim/own_places.hpp"
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
/// Of a tensor on another mesh nothing is cut.
template <class M, class... R, class K, class... S> struct added<layout<M, R...>, layout<K, S...>> {
  using type = layout<M, R...>;
};
template <class L, class S> struct added<shaped<L>, S> {
  using type = shaped<typename added<L, S>::type>;
};
template <class S> struct adding {
  template <class L> using to = typename added<L, S>::type;
};

template <class X, class Y>
shard_piece piece_between(const X& whole, const Y& shard, unsigned along) {
  using T = value_of<X>;
  shard_piece p{placement_of(whole),
                spec_of<X>::table,
                spec_of<Y>::table,
                core_of(whole).template data<std::byte>(),
                core_of(shard).template data<std::byte>(),
                sum_group_of(whole, along),
                &move_part<true, T>,
                &move_part<false, T>};
  // What is partial in the whole is whole in its parts.
  for (int a = 0; a < p.full.axes; ++a)
    if (p.full.is_partial(a)) p.full.axis[a] = {};
  return p;
}

template <class X, class Y>
inline constexpr unsigned cut_axes =
    moved_axes(spec_of<X>::table, spec_of<Y>::table) & spec_of<Y>::table.mask(use::split);

/// The first axis that a shard's rules split, along which the gradient has been summed already.
template <class Shards, class Gradients> struct completed_fault {
  using type = no_fault;
};
template <class S, class... Ss, class G, class... Gs>
struct completed_fault<list<S, Ss...>, list<G, Gs...>> {
  static constexpr int axis = [] {
    constexpr table s = spec_of<S>::table, g = spec_of<G>::table;
    for (int a = 0; a < g.axes; ++a)
      if (s.axis[a].what == use::split && g.axis[a].what == use::replicated) return a;
    return -1;
  }();
  static constexpr auto find() {
    if constexpr (axis >= 0)
      return tag<gradient_is_complete<type_at<axis, typename G::mesh_type::axes>>>{};
    else
      return completed_fault<list<Ss...>, list<Gs...>>{};
  }
  using type = typename decltype(find())::type;
};
template <class Out, class G>
using scattering_fault = typename first_of<
    complete_fault<G>,
    typename completed_fault<typename leaves<Out>::type, typename leaves<G>::type>::type>::type;

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
  Out out = in_form_of<Out>(gradients);
  const running call(watcher, "reduce_scatter_together");
  const arena::scope here;
  const int n = count_tensors(gradients);
  auto* const moves = room_for<shard_piece>(n);
  auto* const sums = room_for<piece>(n);
  int moving = 0, summing = 0;
  for_each_tensor(
      [&](const auto&, const auto& g, auto& s) {
        using X = std::remove_cvref_t<decltype(g)>;
        using Y = std::remove_cvref_t<decltype(s)>;
        if (is_absent(core_of(g))) return;  // its grid is of other ranks
        const unsigned cut = talking(cut_axes<X, Y>, sizes_of(g));
        const unsigned sum = addend_axes(g) & ~cut;
        const bool shares = cut == 0 && sum == 0;
        s = Y(g.grid(), g.shape(), shares ? g.memory() : storage{}, core_of(g).cuts);
        if (cut != 0) std::construct_at(moves + moving++, piece_between(g, s, cut & ~g.once()));
        const auto* from = cut != 0 ? s.data() : g.data();
        if (sum != 0)
          std::construct_at(sums + summing++,
                            piece{collective::bytes_of(from), collective::bytes_of(s.data()),
                                  s.local_bytes(), sum_group_of(g, sum)});
      },
      gradients, out);
  exchange_all<false>(moves, moving);
  reduce_pieces(sums, summing);
  return out;
}

/// What goes where, on shapes: payload over each set of axes of a mesh. N: so many sets at most; 0:
/// as many as there is room made for.
template <std::size_t N> struct shard_traffic {
  struct entry {
    std::uint64_t mesh = 0;
    unsigned axes = 0;
    const index_t* sizes = nullptr;
    index_t scattered = 0, summed = 0;
  };
  std::conditional_t<N == 0, std::vector<entry>, std::array<entry, N>> over{};
  std::size_t used = 0;
  tally* to = nullptr;

  constexpr entry& along(std::uint64_t mesh, unsigned axes, const index_t* sizes) {
    for (std::size_t i = 0; i < used; ++i)
      if (over[i].mesh == mesh && over[i].axes == axes) return over[i];
    over[used] = {mesh, axes, sizes};
    return over[used++];
  }
  constexpr void enter() const {
    const running here(to != nullptr ? to->sink : nullptr, "reduce_scatter_together");
    for (std::size_t i = 0; to != nullptr && i < used; ++i) {
      const index_t in = over[i].scattered, all = over[i].summed;
      const index_t n = group_size(over[i].axes, over[i].sizes);
      to->mesh = over[i].mesh;
      if (in != 0) to->collective(event_kind::reduce_scatter, over[i].axes, in, in - in / n);
      if (all != 0)
        to->collective(event_kind::all_reduce, over[i].axes, all, 2 * (n - 1) * all / n);
    }
  }
};

template <class Out, class G> constexpr Out scatter_shapes(const G& gradients) {
  Out out = in_form_of<Out>(gradients);
  shard_traffic<has_vectors<G> ? 0 : 2 * static_cast<std::size_t>(leaf_count<G>) + 1> t;
  if constexpr (has_vectors<G>) t.over.resize(2 * static_cast<std::size_t>(count_in(gradients)));
  for_each_tensor(
      [&t](const auto&, const auto& g, auto& s) {
        using X = std::remove_cvref_t<decltype(g)>;
        using Y = std::remove_cvref_t<decltype(s)>;
        const std::uint64_t mesh = core_of(g).facts->mesh;
        s = Y(g.sizes(), g.shape(), g.tally(), core_of(g).cuts);
        t.to = g.tally();
        const unsigned cut = talking(cut_axes<X, Y>, core_of(g).sizes()), along = cut & ~g.once();
        const unsigned sum = addend_axes(g) & ~cut;
        if (along != 0 && core_of(g).away == 0)
          t.along(mesh, along, sizes_of(g)).scattered +=
              scattered_elements(placement_of(g), spec_of<Y>::table, along) *
              static_cast<index_t>(sizeof(value_of<X>));
        if (sum != 0) t.along(mesh, sum, sizes_of(g)).summed += s.local_bytes();
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
  auto out = detail::in_place_of<shards<P, S>>(parameters);
  for_each_tensor(
      [](const auto&, const auto& p, auto& s) {
        using X = std::remove_cvref_t<decltype(p)>;
        using Y = std::remove_cvref_t<decltype(s)>;
        if (detail::is_absent(detail::core_of(p))) return;
        const bool cut = detail::talking(detail::cut_axes<X, Y>, detail::sizes_of(p)) != 0;
        s = Y(p.grid(), p.shape(), cut ? detail::storage{} : p.memory(), detail::core_of(p).cuts);
        if (!cut) return;
        const detail::shard_piece one = detail::piece_between(p, s, 0);
        detail::exchange_all<false>(&one, 1);
      },
      parameters, out);
  return out;
}

/// The whole gradients of the shards, from gradients that are partial where parameters are
/// replicated. Communicates: one reduce-scatter for each set of axes; gradients that S does not
/// split, and sums over further axes, go in one all-reduce for each set of axes. Takes shapes too.
template <Layout S, class G> constexpr auto reduce_scatter_together(const G& gradients) {
  using Out = shards<typename detail::completed_type<G>::type, S>;
  using fault = detail::scattering_fault<Out, G>;
  static_assert(ok<only<fault, element_not_summable>>,
                "reduce_scatter_together: ranks cannot add up elements of this type; cast the "
                "tensor first");
  static_assert(ok<only<fault, gradient_is_complete>>,
                "reduce_scatter_together: the gradients are complete, and would be summed once "
                "more; pass them as value_and_grad returns them");
  if constexpr (!ok<fault>)
    return Out{};
  else if constexpr (detail::holds_shapes<G> || detail::is_shaped<G>)
    return detail::scatter_shapes<Out>(gradients);
  else
    return detail::scatter_struct<Out>(gradients);
}

namespace detail {
/// Is this the parameter itself, which no axis of the shard cuts?
template <class Y, class X> bool is_uncut(const X& whole) {
  return !is_absent(core_of(whole)) && talking(cut_axes<X, Y>, sizes_of(whole)) == 0;
}

/// Hands the memory of parameters that are not cut over to their shards, so that an optimizer finds
/// it alone and works in place; and back.
template <class Shards, class P> void lend_memory(const Shards& to, P& parameters) {
  for_each_tensor(
      [](const auto&, auto& p, const auto& s) {
        if (is_uncut<std::remove_cvref_t<decltype(s)>>(p)) p.memory() = {};
      },
      parameters, to);
}
template <class Shards, class P> void take_memory_back(const Shards& from, P& parameters) {
  for_each_tensor(
      [](const auto&, auto& p, const auto& s) {
        if (is_uncut<std::remove_cvref_t<decltype(s)>>(p)) p.memory() = s.memory();
      },
      parameters, from);
}
}  // namespace detail

/// Brings all ranks' shards into the parameters, in place; those that no axis cuts share the
/// memory of their shard from then on. Communicates: one all-gather for each
/// set of axes.
template <class Shards, class P> void all_gather_together(const Shards& from, P& parameters) {
  const running call(detail::watcher, "all_gather_together");
  const detail::arena::scope here;
  auto* const moves = detail::room_for<detail::shard_piece>(detail::count_tensors(from));
  int moving = 0;
  for_each_tensor(
      [&](const auto&, auto& p, const auto& s) {
        using X = std::remove_cvref_t<decltype(p)>;
        using Y = std::remove_cvref_t<decltype(s)>;
        if (detail::is_absent(detail::core_of(p))) return;
        const unsigned cut = detail::talking(detail::cut_axes<X, Y>, detail::sizes_of(p));
        if (cut == 0) {
          p.memory() = s.memory();  // the shard is the parameter
        } else {
          detail::own_memory(p, false);
          std::construct_at(moves + moving++, detail::piece_between(p, s, cut));
        }
      },
      parameters, from);
  detail::exchange_all<true>(moves, moving);
}

}  // namespace dimesh
