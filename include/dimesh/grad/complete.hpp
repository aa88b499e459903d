// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are the gradients of a whole struct summed? Together: all that is partial over the same axes
// of a grid, in elements of one type, goes in one reduction over the flattened group of these axes.
// value_and_grad lays gradients side by side, so that they need not even be copied for it.
//
//   complete(network<gradient<L>>)  -> network<L>
//   a struct of 100 tensors, replicated over rows  -> one all-reduce along rows
#pragma once

#include "dimesh/grad/arena.hpp"
#include "dimesh/grad/pieces.hpp"
#include "dimesh/grad/value_and_grad.hpp"
#include "dimesh/op/complete.hpp"
#include "dimesh/walk.hpp"

namespace dimesh {

namespace detail {

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
template <class X> sum_group sum_group_of(const X& x, unsigned axes) {
  return {&x.grid().state(), axes, collective::wire_of<value_of<X>>};
}

/// The first tensor that is a sum yet to be made, of elements that have no sum.
template <class Leaves> struct summing_fault {
  using type = no_fault;
};
template <class X, class... Rest>
struct summing_fault<list<X, Rest...>> : summing_fault<list<Rest...>> {};
template <class X, class... Rest>
  requires(spec_of<X>::table.mask(use::partial) != 0 && !element_traits<value_of<X>>::is_summable)
struct summing_fault<list<X, Rest...>> {
  using type = element_not_summable<value_of<X>>;
};
template <class S> using complete_fault = typename summing_fault<typename leaves<S>::type>::type;

/// Must it be summed elsewhere? In place only where nobody else holds the memory.
template <bool InPlace, class X> bool needs_room(const X& x) {
  return addend_axes(x) != 0 && !(InPlace && x.memory().alone());
}

/// The struct is walked twice: to describe its tensors, and to make the results. A tensor without a
/// grid is one that this rank has no part in: it stays so.
template <bool InPlace, class S> auto complete_struct(const S& s) {
  typename completed_type<S>::type out{};
  const arena::scope here;
  int count = 0;
  index_t total = 0, at = 0;
  for_each_tensor(
      [&](const auto&, const auto& g) {
        ++count;
        if (g.defined() && needs_room<InPlace>(g)) total += slab_step(g.local_bytes());
      },
      s);
  auto* const pieces =
      static_cast<piece*>(arena::here().take(static_cast<std::size_t>(count) * sizeof(piece)));
  const storage slab = total > 0 ? storage::acquire(static_cast<std::size_t>(total)) : storage{};
  piece* next = pieces;
  for_each_tensor(
      [&](const auto&, const auto& g, auto& r) {
        using R = std::remove_cvref_t<decltype(r)>;
        static_assert(
            std::is_same_v<R, typename completed_type<std::remove_cvref_t<decltype(g)>>::type>,
            "complete: a parameter's layout is partial itself; complete the parameters first");
        if (!g.defined()) return;
        if (needs_room<InPlace>(g)) {
          r.remake(g.grid(), g.shape(), slab.part(static_cast<std::size_t>(at)));
          at += slab_step(g.local_bytes());
        } else {
          r.remake(g.grid(), g.shape(), g.memory());
        }
        std::construct_at(next++,
                          piece{collective::bytes_of(g.data()), collective::bytes_of(r.data()),
                                g.local_bytes(), sum_group_of(g, addend_axes(g))});
      },
      s, out);
  reduce_pieces(pieces, static_cast<int>(next - pieces));
  return out;
}

/// What a group of pieces sends: side by side it goes with the gaps, otherwise packed without.
struct foreseen_group {
  const void* mesh = nullptr;  // whose axes they are
  unsigned axes = 0;
  element_kind element = element_kind::other;
  index_t packed = 0, side_by_side = 0;
  int runs = 0;
  constexpr bool is(const foreseen_group& g) const {
    return mesh == g.mesh && axes == g.axes && element == g.element;
  }
  constexpr void add(index_t bytes, bool joins_last, index_t gap) {
    packed += bytes;
    side_by_side += bytes + (joins_last ? gap : 0);
    runs += !joins_last;
  }
  constexpr index_t bytes() const { return runs == 1 ? side_by_side : packed; }
  constexpr void enter(tally& t, const index_t* sizes) const {
    const index_t n = group_size(axes, sizes);
    t.collective(axes, bytes(), 2 * (n - 1) * bytes() / n);
  }
};
template <class M> inline constexpr char mesh_mark = 0;

/// The same on shapes: what each group of tensors costs.
template <class S> constexpr auto complete_shapes(const S& s) {
  typename completed_type<S>::type out{};
  constexpr auto most = static_cast<std::size_t>(leaf_count<S>);
  std::array<foreseen_group, most + 1> groups{};
  std::array<const index_t*, most + 1> sizes{};
  tally* t = nullptr;
  index_t gap = 0;  // between the last tensor and the next
  std::size_t last = most, used = 0;
  for_each_tensor(
      [&](const auto&, const auto& g, auto& r) {
        using R = std::remove_cvref_t<decltype(r)>;
        r = R(g.sizes(), g.shape(), nullptr);
        r.share(g.tally(), g.live());
        t = g.tally();
        const foreseen_group mine{&mesh_mark<typename R::mesh_type>, addend_axes(g),
                                  element_traits<value_of<R>>::kind};
        std::size_t i = 0;
        while (i < used && !groups[i].is(mine)) ++i;
        if (i == used) groups[used] = mine, sizes[used++] = core_of(g).sizes();
        groups[i].add(g.local_bytes(), i == last, gap);
        gap = slab_step(g.local_bytes()) - g.local_bytes();
        last = i;
      },
      s, out);
  for (std::size_t i = 0; t != nullptr && i < used; ++i)
    if (groups[i].axes != 0 && groups[i].packed > 0) groups[i].enter(*t, sizes[i]);
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

namespace detail {
template <bool InPlace, class S> constexpr auto complete_in_one(const S& s) {
  if constexpr (!ok<complete_fault<S>>)
    return typename completed_type<S>::type{};
  else if constexpr (holds_shapes<S>)
    return complete_shapes(s);
  else
    return complete_struct<InPlace>(s);
}
}  // namespace detail

/// The whole gradients of a struct. One reduction for each set of axes of a grid along which
/// gradients are partial, and type of elements. Given up gradients (std::move, or straight from
/// value_and_grad) are summed in place where nobody else holds their memory.
template <TensorStruct S> constexpr auto complete(const S& gradients) {
  static_assert(ok<only<detail::complete_fault<S>, element_not_summable>>,
                "complete: ranks cannot add up elements of this type; cast the tensor first");
  return detail::complete_in_one<false>(gradients);
}
template <class S>
  requires(!std::is_reference_v<S> && TensorStruct<std::remove_const_t<S>>)
constexpr auto complete(S&& gradients) {
  using plain = std::remove_const_t<S>;
  static_assert(ok<only<detail::complete_fault<plain>, element_not_summable>>,
                "complete: ranks cannot add up elements of this type; cast the tensor first");
  return detail::complete_in_one<true, plain>(gradients);
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
