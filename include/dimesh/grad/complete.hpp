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
#include "dimesh/reflect/walk.hpp"

namespace dimesh {

namespace detail {

// ---- types: network<gradient<L>> -> network<L> --------------------------------------------------

template <class X> struct completed_type {
  using type = X;
};
template <class T, class L, class... D> struct completed_type<basic_tensor<T, L, D...>> {
  using type =
      typename tensor_of_spec<result_spec<complete_rule<use::partial>, T, spec<T, L, D...>>>::basic;
};
template <class T, class L, class... D> struct completed_type<shaped_tensor<T, L, D...>> {
  using type = typename tensor_of_spec<
      result_spec<complete_rule<use::partial>, T, spec<T, L, D...>>>::shaped;
};
template <class T, class M, class... D>
struct completed_type<shaped_tensor<T, layout<M, at_run_time>, D...>> {
  using type = shaped_tensor<T, layout<M, at_run_time>, D...>;
};
template <class V> struct completed_type<tracked_tensor<V>> {
  using type = tracked_tensor<typename completed_type<V>::type>;
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

template <class S> inline constexpr bool holds_shapes = false;
template <class L> inline constexpr bool means_shapes = false;
template <class L> inline constexpr bool means_shapes<shaped<L>> = true;
template <class M> inline constexpr bool means_shapes<layout<M, at_run_time>> = true;
template <class L> inline constexpr bool means_shapes<gradient<L>> = means_shapes<L>;
template <template <class, class...> class S, LayoutOrModifier L, class... More>
inline constexpr bool holds_shapes<S<L, More...>> = means_shapes<L>;
template <template <class, auto, auto...> class S, LayoutOrModifier L, auto N, auto... More>
inline constexpr bool holds_shapes<S<L, N, More...>> = means_shapes<L>;
template <class... E>
inline constexpr bool holds_shapes<std::tuple<E...>> = ((is_shaped<E> || holds_shapes<E>) || ...);
template <class... E>
inline constexpr bool holds_shapes<bundle<E...>> = ((is_shaped<E> || holds_shapes<E>) || ...);

/// Some tensors of a list are recorded.
template <class List> inline constexpr bool holds_recorded = false;
template <class... X> inline constexpr bool holds_recorded<list<X...>> = (is_tracked<X> || ...);

/// The tensors of a struct of gradients become those of its completed type.
template <class G, class Out> struct completes_to;
template <class... G, class... R> struct completes_to<list<G...>, list<R...>> {
  static constexpr bool value = (std::is_same_v<R, typename completed_type<G>::type> && ...);
};

/// Tensors with data. A function of its own: clang wants literal types in constexpr ones.
inline void complete_listed(const tensor_core* const* from, tensor_core* const* to, int n,
                            bool in_place) {
  const arena::scope here;
  auto* const pieces =
      static_cast<piece*>(arena::here().take(static_cast<std::size_t>(n) * sizeof(piece)));
  complete_tensors(from, to, n, in_place, pieces);
}

/// The tensors of a struct, together; one by one where they are recorded on an enclosing tape,
/// since an operation has one recorded result.
template <bool InPlace, class S> constexpr auto complete_struct(const S& s) {
  using Out = typename completed_type<S>::type;
  static_assert(completes_to<typename leaves<S>::type, typename leaves<Out>::type>::value,
                "complete: a parameter's layout is partial itself; complete the parameters first");
  constexpr int n = leaf_count<S>;
  Out out{};
  if constexpr (holds_recorded<typename leaves<S>::type>) {
    for_each_tensor([](const auto&, auto& whole, const auto& g) { whole = complete(g); }, out, s);
  } else if constexpr (holds_shapes<S>) {
    const core_list<S> from(s);
    const core_list<Out> to(out);
    foreseen_group groups[n + 1];
    complete_shapes(from.at, to.at, n, groups);
  } else {
    const core_list<S> from(s);
    const core_list<Out> to(out);
    complete_listed(from.at, to.at, n, InPlace);
  }
  return out;
}

}  // namespace detail

/// A struct of tensors (not itself a tensor).
template <class S>
concept TensorStruct =
    !Operand<S> && (detail::is_described<S> || detail::sequence_kind<S>::size > 0);

namespace detail {
template <bool InPlace, class S> constexpr auto complete_in_one(const S& s) {
  if constexpr (!ok<complete_fault<S>>)
    return typename completed_type<S>::type{};
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
