// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are the gradients of a whole struct summed? Together: all that is partial over the same axes
// of a grid, in elements of one type, goes in one reduction over the flattened group of these axes.
// value_and_grad lays gradients side by side, so that they need not even be copied for it.
//
//   complete(network<gradient<L>>)  -> network<L>
//   a struct of 100 tensors, replicated over rows  -> one all-reduce along rows
#pragma once

#include "dimesh/detail/compiled.hpp"
#include "dimesh/grad/arena.hpp"
#include "dimesh/grad/pieces.hpp"
#include "dimesh/grad/value_and_grad.hpp"
#include "dimesh/op/complete.hpp"
#include "dimesh/reflect/walk.hpp"

namespace dimesh {

namespace detail {

// ---- types: network<gradient<L>> -> network<L> --------------------------------------------------

/// For map_leaves.
struct completing {
  template <class X> struct leaf {
    using type = X;
  };
  template <class S>
  using whole = tensor_of_spec<result_spec<complete_rule<use::partial>, typename S::value_type, S>>;
  template <class T, class L, class... D> struct leaf<basic_tensor<T, L, D...>> {
    using type = typename whole<spec<T, L, D...>>::basic;
  };
  template <class T, class L, class... D> struct leaf<shaped_tensor<T, L, D...>> {
    using type = typename whole<spec<T, L, D...>>::shaped;
  };
  template <class T, class M, class... D>
  struct leaf<basic_tensor<T, dimesh::layout<M, at_run_time>, D...>> {
    using type = basic_tensor<T, dimesh::layout<M, at_run_time>, D...>;
  };
  template <class T, class M, class... D>
  struct leaf<shaped_tensor<T, dimesh::layout<M, at_run_time>, D...>> {
    using type = shaped_tensor<T, dimesh::layout<M, at_run_time>, D...>;
  };
  template <class V> struct leaf<tracked_tensor<V>> {
    using type = tracked_tensor<typename leaf<V>::type>;
  };
  template <class L> struct layout {
    using type = L;
  };
  template <class L> struct layout<gradient<L>> {
    using type = L;
  };
  template <class L> struct layout<shaped<L>> {
    using type = shaped<typename layout<L>::type>;
  };
};
template <class S> struct completed_type : mapped<S, completing> {};

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

template <class List> inline constexpr bool any_shaped = false;
template <class... X> inline constexpr bool any_shaped<list<X...>> = (is_shaped<X> || ...);
/// Some tensors of a struct are shapes without data.
template <class S> inline constexpr bool holds_shapes = any_shaped<typename leaves<S>::type>;

/// The tensors of a struct of gradients become those of its completed type.
template <class G, class Out> struct completes_to;
template <class... G, class... R> struct completes_to<list<G...>, list<R...>> {
  static constexpr bool value = (std::is_same_v<R, typename completed_type<G>::type> && ...);
};

/// Tensors with data. A function of its own: clang wants literal types in constexpr ones.
void complete_listed(const tensor_core* const* from, tensor_core* const* to, int n, bool in_place);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void complete_listed(const tensor_core* const* from, tensor_core* const* to,
                                           int n, bool in_place) {
  if (n > 0 && from[0]->is_shape) {  // the call is being counted
    std::vector<foreseen_group> groups(static_cast<std::size_t>(n + 1));
    return complete_shapes(from, to, n, groups.data());
  }
  for (int k = 0; k < n; ++k) complete_facts(*from[k], *to[k]);
  const arena::scope here;
  auto* const pieces =
      static_cast<piece*>(arena::here().take(static_cast<std::size_t>(n) * sizeof(piece)));
  complete_tensors(from, to, n, in_place, pieces);
}
#endif

/// Shapes, with room for as many groups as there are tensors.
template <class From, class To>
constexpr void complete_foreseen(const From& from, const To& to, index_t bucket = 0) {
  if constexpr (requires { std::bool_constant<(From::size > 0)>{}; }) {
    foreseen_group groups[From::size + 1];
    complete_shapes(from.at, to.at, from.size, groups, bucket);
  } else {
    std::vector<foreseen_group> groups(static_cast<std::size_t>(from.size + 1));
    complete_shapes(from.at, to.at, from.size, groups.data(), bucket);
  }
}

/// The tensors of a struct, together; one by one where they are recorded on an enclosing tape,
/// since an operation has one recorded result.
template <bool InPlace, class S> constexpr auto complete_struct(const S& s) {
  using Out = typename completed_type<S>::type;
  Out out = in_place_of<Out>(s);
  if constexpr (holds_recorded<typename leaves<S>::type>) {
    for_each_tensor([](const auto&, auto& whole, const auto& g) { whole = complete(g); }, out, s);
  } else if constexpr (holds_shapes<S>) {
    const core_list<S> from(s);
    const core_list<Out> to(out);
    complete_foreseen(from, to);
  } else {
    const core_list<S> from(s);
    const core_list<Out> to(out);
    complete_listed(from.at, to.at, from.size, InPlace);
  }
  return out;
}

}  // namespace detail

/// A struct of tensors (not itself a tensor).
template <class S> concept TensorStruct = !Operand<S> && detail::is_walkable<S>;

namespace detail {
template <bool InPlace, class S> constexpr auto complete_in_one(const S& s) {
  using Out = typename completed_type<S>::type;
  static_assert(completes_to<typename leaves<S>::type, typename leaves<Out>::type>::value,
                "complete: a parameter's layout is partial itself; complete the parameters first");
  if constexpr (!ok<complete_fault<S>>)
    return Out{};
  else
    return complete_struct<InPlace>(s);
}
}  // namespace detail

/// The whole gradients of a struct. One reduction for each set of axes of a grid along which
/// gradients are partial, and type of elements. Given up gradients (std::move, or straight from
/// value_and_grad) are summed in place where nobody else holds their memory.
template <TensorStruct S> [[nodiscard]] constexpr auto complete(const S& gradients) {
  static_assert(ok<only<detail::complete_fault<S>, element_not_summable>>,
                "complete: ranks cannot add up elements of this type; cast the tensor first");
  return detail::complete_in_one<false>(gradients);
}
template <class S>
  requires(!std::is_reference_v<S> && TensorStruct<std::remove_const_t<S>>)
[[nodiscard]] constexpr auto complete(S&& gradients) {
  using plain = std::remove_const_t<S>;
  static_assert(ok<only<detail::complete_fault<plain>, element_not_summable>>,
                "complete: ranks cannot add up elements of this type; cast the tensor first");
  return detail::complete_in_one<true, plain>(gradients);
}

namespace detail {
/// The cores of gradients, and behind them that of the loss.
template <class G> struct step_cores {
  static constexpr int size = leaf_count<G> + 1;
  tensor_core* at[size];
  template <class V> constexpr explicit step_cores(value_and_gradient<V, G>& step) {
    const core_list<G> gradients(step.gradient);
    std::copy_n(gradients.at, size - 1, at);
    at[size - 1] = &core_of(step.value);
  }
};
/// What was given up holds its memory no longer.
DIMESH_OUTLINE constexpr void let_go(tensor_core* const* x, int count) {
  for (int i = 0; i < count; ++i) tensor_core gone(std::move(*x[i]));
}
/// Lists of cores complete them: of vectors the run knows how many there are, and operations
/// recorded around this one have one result each.
template <class V, class G>
inline constexpr bool is_listed =
    leaf_count<G> > 0 && !is_tracked<V> && !holds_recorded<typename leaves<G>::type> &&
    ok<complete_fault<bundle<G, V>>>;
template <class V, class G> constexpr auto complete_step(value_and_gradient<V, G>& step) {
  using whole = typename completed_type<G>::type;
  using loss = typename completed_type<V>::type;
  static_assert(completes_to<typename leaves<G>::type, typename leaves<whole>::type>::value,
                "complete: a parameter's layout is partial itself; complete the parameters first");
  value_and_gradient<loss, whole> out{loss(), in_place_of<whole>(step.gradient)};
  const step_cores<G> from(step);
  const step_cores<whole> to(out);
  if constexpr (holds_shapes<bundle<G, V>>)
    complete_foreseen(from, to);
  else
    complete_listed(from.at, to.at, from.size, true);
  let_go(from.at, from.size);
  return out;
}
}  // namespace detail

/// The whole loss and the whole gradients, summed together.
template <class V, class G> constexpr auto complete(value_and_gradient<V, G>&& step) {
  if constexpr (is_poison<V>) {
    return value_and_gradient<poison, typename detail::completed_type<G>::type>{};
  } else if constexpr (detail::is_listed<V, G>) {
    return detail::complete_step(step);
  } else {
    auto both = complete(detail::bundle<G, V>(std::move(step.gradient), std::move(step.value)));
    using whole = decltype(both);
    return value_and_gradient<detail::item_type<1, whole>, detail::item_type<0, whole>>{
        std::move(detail::item<1>(both)), std::move(detail::item<0>(both))};
  }
}

/// The same of a step that is kept: its addends stay as they are.
template <class V, class G> constexpr auto complete(const value_and_gradient<V, G>& step) {
  return complete(value_and_gradient<V, G>(step));
}

// Of what is none of these.
template <class X>
  requires(!Operand<X> && !TensorStruct<X>)
constexpr poison complete(const X&) {
  static_assert(ok<not_a_tensor<X>>,
                "complete: this is no tensor, no struct of tensors, and not what value_and_grad(f, "
                "params)(x) gives; pass one of these");
  return {};
}

/// Of a gradient that was not yet taken.
template <class F, class P> constexpr auto complete(const detail::gradient_of<F, P>&) {
  static_assert(ok<std::conditional_t<std::is_void_v<F>, no_fault, wrong_arguments<F>>>,
                "complete: value_and_grad(f, params) is a function, and has not been called; give "
                "it the inputs: complete(value_and_grad(f, params)(x, y))");
  return value_and_gradient<poison, poison>{};
}
/// Of what was refused already.
constexpr value_and_gradient<poison, poison> complete(const detail::poisoned_function&) {
  return {};
}

}  // namespace dimesh
