// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are the gradients of a whole struct summed? Together: all that is partial over the same axes
// goes in one reduction over the flattened group of these axes. value_and_grad lays gradients side
// by side, so that they need not even be copied for it.
//
//   complete(network<gradient<L>>)  -> network<L>
//   a struct of 100 tensors, replicated over rows  -> one all-reduce along rows
#pragma once

#include "dimesh/grad/arena.hpp"
#include "dimesh/grad/value_and_grad.hpp"
#include "dimesh/op/complete.hpp"
#include "dimesh/walk.hpp"

namespace dimesh {

namespace detail {

/// One tensor of a struct that is being completed.
struct piece {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  index_t bytes = 0;  // of elements
  unsigned axes = 0;  // along which addends must be summed; 0: nothing to do
  index_t element = 0;  // bytes of one element: bfloat16, float or double
  index_t end() const { return (bytes + 63) / 64 * 64; }
};

inline void reduce_bytes(const communicator& c, const std::byte* from, std::byte* to, index_t bytes,
                         index_t element) {
  collective::with_real(element, [&](auto zero) {
    using T = decltype(zero);
    collective::all_reduce(c, reinterpret_cast<const T*>(from), reinterpret_cast<T*>(to),
                           bytes / static_cast<index_t>(sizeof(T)));
  });
}

/// Does piece b lie right behind piece a, and go the same way?
inline bool joins(const piece& a, const piece& b) {
  return a.axes == b.axes && a.element == b.element && a.from + a.end() == b.from &&
         a.to + a.end() == b.to;
}

/// A group of pieces: those of one set of axes and one element type.
struct piece_group {
  unsigned axes = 0;
  index_t element = 0, bytes = 0;
  int runs = 0;  // how many stretches of memory

  bool has(const piece& p) const { return p.axes == axes && p.element == element; }
};

inline piece_group group_of(const piece* p, int count, unsigned axes, index_t element) {
  piece_group g{axes, element, 0, 0};
  for (int i = 0; i < count; ++i) {
    if (!g.has(p[i])) continue;
    const bool joined = i > 0 && joins(p[i - 1], p[i]);
    g.runs += !joined;
    g.bytes += i + 1 < count && joins(p[i], p[i + 1]) ? p[i].end() : p[i].bytes;
  }
  return g;
}

/// Copies the pieces of a group into one buffer, sums it, and copies them out.
inline void reduce_packed(const communicator& c, const piece* p, int count, const piece_group& g) {
  const storage packed = storage::acquire(static_cast<std::size_t>(g.bytes));
  auto* const data = static_cast<std::byte*>(packed.data());
  for (const bool out : {false, true}) {
    std::byte* at = data;
    for (int i = 0; i < count; ++i) {
      if (!g.has(p[i])) continue;
      if (out)
        collective::copy(at, p[i].to, p[i].bytes);
      else
        collective::copy(p[i].from, at, p[i].bytes);
      at += p[i].bytes;
    }
    if (!out) reduce_bytes(c, data, data, at - data, g.element);
  }
}

inline void reduce_in_place(const communicator& c, const piece* p, const piece_group& g) {
  int first = 0;
  while (!g.has(p[first])) ++first;
  reduce_bytes(c, p[first].from, p[first].to, g.bytes, g.element);
}

/// Sums all pieces, one reduction a group.
inline void reduce_pieces(const grid_state& grid, const piece* p, int count) {
  for (int i = 0; i < count; ++i) {
    bool seen = p[i].axes == 0 || p[i].bytes == 0;
    for (int j = 0; j < i && !seen; ++j)
      seen = p[j].axes == p[i].axes && p[j].element == p[i].element && p[j].bytes > 0;
    if (seen) continue;
    const piece_group g = group_of(p, count, p[i].axes, p[i].element);
    const communicator& c = grid.along(g.axes);
    if (g.runs == 1)
      reduce_in_place(c, p, g);
    else
      reduce_packed(c, p, count, g);
  }
}

// ---- types: network<gradient<L>> -> network<L> --------------------------------------------------

template <class X> struct completed_type {
  using type = X;
};
template <class T, class L, class... D> struct completed_type<basic_tensor<T, L, D...>> {
  using type = typename tensor_of_spec<relaid_spec<
      spec<T, L, D...>, without_axes<spec<T, L, D...>::table.mask(use::partial)>>>::basic;
};
template <class T, class L, class... D> struct completed_type<shaped_tensor<T, L, D...>> {
  using type = typename tensor_of_spec<relaid_spec<
      spec<T, L, D...>, without_axes<spec<T, L, D...>::table.mask(use::partial)>>>::shaped;
};
template <class E, std::size_t N> struct completed_type<std::array<E, N>> {
  using type = std::array<typename completed_type<E>::type, N>;
};
template <class... E> struct completed_type<std::tuple<E...>> {
  using type = std::tuple<typename completed_type<E>::type...>;
};
template <class... E> struct completed_type<bundle<E...>> {
  using type = bundle<typename completed_type<E>::type...>;
};
template <class... E> struct completed_type<hana::tuple<E...>> {
  using type = hana::tuple<typename completed_type<E>::type...>;
};
template <template <class, class...> class S, class L, class... More>
struct completed_type<S<gradient<L>, More...>> {
  using type = S<L, More...>;
};
template <template <class, auto, auto...> class S, class L, auto N, auto... More>
struct completed_type<S<gradient<L>, N, More...>> {
  using type = S<L, N, More...>;
};

constexpr unsigned addend_axes(const tensor_core& x) {
  return talking(x.facts->partial & ~x.once, x.sizes());
}
template <Tensor X> constexpr unsigned addend_axes(const X& x) { return addend_axes(core_of(x)); }

/// The struct is walked twice: to describe its tensors, and to make the results.
template <bool InPlace, class S> auto complete_struct(const S& s) {
  typename completed_type<S>::type out{};
  const auto mark = arena::here().mark();
  int count = 0;
  const grid_state* grid = nullptr;
  index_t total = 0;
  for_each_tensor([&](const auto&, const auto& g) { ++count, total += slab_step(g.local_bytes()); },
                  s);
  auto* const pieces =
      static_cast<piece*>(arena::here().take(static_cast<std::size_t>(count) * sizeof(piece)));
  storage slab;
  if (!InPlace && total > 0) slab = storage::acquire(static_cast<std::size_t>(total));
  piece* next = pieces;
  index_t at = 0;
  for_each_tensor(
      [&](const auto&, const auto& g, auto& r) {
        using R = std::remove_cvref_t<decltype(r)>;
        static_assert(
            std::is_same_v<R, typename completed_type<std::remove_cvref_t<decltype(g)>>::type>,
            "complete: a parameter's layout is partial itself; complete the parameters first");
        grid = &g.grid().state();
        const unsigned axes = addend_axes(core_of(g));
        if constexpr (InPlace)
          r.remake(g.grid(), g.shape(), g.memory());
        else
          r.remake(g.grid(), g.shape(),
                   axes != 0 ? slab.at(static_cast<std::size_t>(at)) : g.memory());
        at += slab_step(g.local_bytes());
        *next++ = {reinterpret_cast<const std::byte*>(g.data()),
                   reinterpret_cast<std::byte*>(r.data()), g.local_bytes(), axes,
                   static_cast<index_t>(sizeof(value_of<R>))};
      },
      s, out);
  if (grid != nullptr) reduce_pieces(*grid, pieces, count);
  arena::here().back_to(mark);
  return out;
}

/// What a group of pieces sends: side by side it goes with the gaps, otherwise packed without.
struct foreseen_group {
  index_t packed = 0, side_by_side = 0;
  int runs = 0;
  constexpr void add(index_t bytes, bool joins_last, index_t gap) {
    packed += bytes;
    side_by_side += bytes + (joins_last ? gap : 0);
    runs += !joins_last;
  }
  constexpr index_t bytes() const { return runs == 1 ? side_by_side : packed; }
};

/// The same on shapes: what each group of tensors costs.
template <class S> constexpr auto complete_shapes(const S& s) {
  typename completed_type<S>::type out{};
  // by axes, and by whether elements are bfloat16, float or double
  std::array<foreseen_group, 4u << max_axes> groups{};
  tally* t = nullptr;
  index_t gap = 0;  // between the last tensor and the next
  std::size_t last = 0;
  const index_t* sizes = nullptr;
  for_each_tensor(
      [&](const auto&, const auto& g, auto& r) {
        using R = std::remove_cvref_t<decltype(r)>;
        r = R(g.sizes(), g.shape(), nullptr);
        r.share(g.tally(), g.live());
        t = g.tally();
        sizes = core_of(g).sizes();
        const std::size_t group = 4 * addend_axes(core_of(g)) + sizeof(value_of<R>) / 4;
        groups[group].add(g.local_bytes(), group == last, gap);
        gap = slab_step(g.local_bytes()) - g.local_bytes();
        last = group;
      },
      s, out);
  for (unsigned group = 4; t != nullptr && group < groups.size(); ++group) {
    const index_t bytes = groups[group].bytes();
    if (groups[group].packed == 0) continue;
    const index_t n = group_size(group / 4, sizes);
    t->collective(group / 4, bytes, 2 * (n - 1) * bytes / n);
  }
  return out;
}

template <class S> inline constexpr bool holds_shapes = false;
template <class L> inline constexpr bool means_shapes = false;
template <class L> inline constexpr bool means_shapes<shaped<L>> = true;
template <class L> inline constexpr bool means_shapes<gradient<L>> = means_shapes<L>;
template <template <class, class...> class S, LayoutOrModifier L, class... More>
inline constexpr bool holds_shapes<S<L, More...>> = means_shapes<L>;
template <template <class, auto, auto...> class S, LayoutOrModifier L, auto N, auto... More>
inline constexpr bool holds_shapes<S<L, N, More...>> = means_shapes<L>;
template <class... E>
inline constexpr bool holds_shapes<std::tuple<E...>> = ((is_shaped<E> || holds_shapes<E>) || ...);
template <class... E>
inline constexpr bool holds_shapes<bundle<E...>> = ((is_shaped<E> || holds_shapes<E>) || ...);

}  // namespace detail

/// A struct of tensors (not itself a tensor).
template <class S>
concept TensorStruct =
    !Operand<S> && (detail::is_described<S> || detail::sequence_kind<S>::size > 0);

/// The whole gradients of a struct. One reduction for each set of axes along which gradients are
/// partial. Given up gradients (std::move, or straight from value_and_grad) are summed in place.
template <TensorStruct S> constexpr auto complete(const S& gradients) {
  if constexpr (detail::holds_shapes<S>)
    return detail::complete_shapes(gradients);
  else
    return detail::complete_struct<false>(gradients);
}
template <class S>
  requires(!std::is_reference_v<S> && TensorStruct<std::remove_const_t<S>>)
constexpr auto complete(S&& gradients) {
  if constexpr (detail::holds_shapes<std::remove_const_t<S>>)
    return detail::complete_shapes(gradients);
  else
    return detail::complete_struct<true>(gradients);
}

/// The whole loss and the whole gradients, summed together.
template <class V, class G> constexpr auto complete(value_and_gradient<V, G>&& step) {
  if constexpr (is_poison<V>) {
    return value_and_gradient<poison, typename detail::completed_type<G>::type>{};
  } else {
    auto both = complete(detail::bundle<G, V>(std::move(step.gradient), std::move(step.value)));
    using whole = decltype(both);
    return value_and_gradient<detail::item_type<1, whole>, detail::item_type<0, whole>>{
        std::move(detail::item<1>(both)), std::move(detail::item<0>(both))};
  }
}

}  // namespace dimesh
