// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Do parameters, gradients and an optimizer's state belong together? They are walked side by side,
// so they must have one form: the same template over layouts, arrays and tuples of such, tensors of
// the same dims. Equal shapes are not enough: two structs with members in another order have them.
//
//   same_form<network<L>, network<gradient<L>>>  -> true
//   form_fault<network<L>, other<L>>             -> structs_differ<network<L>, other<L>>
#pragma once

#include "dimesh/reflect/map_leaves.hpp"
#include "dimesh/reflect/walk.hpp"

namespace dimesh::detail {

template <class A, class B> inline constexpr bool same_form = std::is_same_v<A, B>;
template <Tensor A, Tensor B>
inline constexpr bool same_form<A, B> =
    std::is_same_v<value_of<A>, value_of<B>> &&
    std::is_same_v<typename spec_of<A>::dims, typename spec_of<B>::dims>;
template <class A, std::size_t M, class B, std::size_t N>  // their lengths are another fault
inline constexpr bool same_form<std::array<A, M>, std::array<B, N>> = same_form<A, B>;
template <class A, class P, class B, class Q>
inline constexpr bool same_form<std::vector<A, P>, std::vector<B, Q>> = same_form<A, B>;

template <class A, class B> inline constexpr bool same_forms = false;
template <class... A, class... B>
  requires(sizeof...(A) == sizeof...(B))
inline constexpr bool same_forms<list<A...>, list<B...>> = (same_form<A, B> && ...);
template <class... A, class... B>
inline constexpr bool same_form<std::tuple<A...>, std::tuple<B...>> =
    same_forms<list<A...>, list<B...>>;
template <class A, class B, class P, class Q>
inline constexpr bool same_form<std::pair<A, B>, std::pair<P, Q>> =
    same_form<A, P> && same_form<B, Q>;
template <class... A, class... B>
inline constexpr bool same_form<boost::hana::tuple<A...>, boost::hana::tuple<B...>> =
    same_forms<list<A...>, list<B...>>;
/// Behind the first layout: the same, or further layouts.
template <class A, class B> inline constexpr bool same_argument = std::is_same_v<A, B>;
template <LayoutOrModifier K, LayoutOrModifier L> inline constexpr bool same_argument<K, L> = true;
template <class A, class B> struct same_arguments {
  static constexpr bool value = false;
};
template <class... A, class... B>
  requires(sizeof...(A) == sizeof...(B))
struct same_arguments<list<A...>, list<B...>> {
  static constexpr bool value = (same_argument<A, B> && ...);
};
template <template <class, class...> class S, LayoutOrModifier K, LayoutOrModifier L, class... More,
          class... Others>
  requires(!Tensor<S<K, More...>> && !Tensor<S<L, Others...>>)
inline constexpr bool same_form<S<K, More...>, S<L, Others...>> =
    same_arguments<list<More...>, list<Others...>>::value;
template <template <class, auto, auto...> class S, LayoutOrModifier K, LayoutOrModifier L, auto M,
          auto N, auto... More>  // numbers are lengths
inline constexpr bool same_form<S<K, M, More...>, S<L, N, More...>> = true;

/// What keeps an optimizer from walking P and G side by side and changing P.
template <class P, class G>
using form_fault = typename first_of<
    std::conditional_t<std::is_const_v<P>, parameters_are_const<P>, no_fault>,
    std::conditional_t<is_poison<G> || same_form<std::remove_const_t<P>, G>, no_fault,
                       structs_differ<std::remove_const_t<P>, G>>>::type;

/// The first of these tensors that is recorded.
template <class Leaves> struct recorded_fault {
  using type = no_fault;
};
template <class X, class... Rest>
struct recorded_fault<list<X, Rest...>> : recorded_fault<list<Rest...>> {};
template <class X, class... Rest>
  requires is_tracked<X>
struct recorded_fault<list<X, Rest...>> {
  using type = value_is_recorded<value_of<X>>;
};
/// May an optimizer change P in place, by G? Where it has found no fault itself, says whether
/// nothing is recorded.
template <class Fault, class P, class G> constexpr bool assert_updated() {
  if constexpr (!ok<Fault> || is_poison<G>) {
    return false;
  } else {
    using fault = typename first_of<typename recorded_fault<typename leaves<P>::type>::type,
                                    typename recorded_fault<typename leaves<G>::type>::type>::type;
    static_assert(ok<fault>,
                  "optimizer: parameters or gradients are recorded, inside of a loss; update them "
                  "outside of it, with what value_and_grad gives");
    return ok<fault>;
  }
}

/// And whether all is described.
template <class P> constexpr void assert_described() {
  if constexpr (!Tensor<P>) (void)sizeof(walkable<P>);
}

/// What is said of a step by another name.
template <class... No> constexpr void refuse_step() {
  static_assert(ok<named_otherwise<No...>>,
                "optimizers: a step is a call, descend(params, complete(gradients)), with state = "
                "roll.start(params) as the third argument of those that keep one");
}

/// The end of an optimizer's list of numbers: there are no more of them.
struct no_more_numbers {
  constexpr no_more_numbers() = default;
  template <class X> constexpr no_more_numbers(const X&) {  // NOLINT: where a number is given
    static_assert(ok<wrong_arguments<X>>,
                  "optimizer: it has no such number; name those that are meant: sgd{.rate = 0.1, "
                  ".weight_decay = 0.01}");
  }
};

/// The state that an optimizer's start(parameters) gave, alone.
template <class State, class... Given> inline constexpr bool is_state = false;
template <class State> inline constexpr bool is_state<State, State> = true;

}  // namespace dimesh::detail
