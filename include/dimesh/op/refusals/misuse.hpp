// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is wrong with a call whose names or arguments are of the wrong kind? Each operation says in
// one line what it takes, and has an overload for calls that are not so, whose sentence shows the
// spelling. It takes nothing that the operation itself takes.
//
//   using sort_call = call_taking<names<1, 1, named_kind::dim>, 1, a_tensor, order>;
//   is_misused<sort_call, list<rows>, X>        -> true
//   misuse<sort_call, list<rows>, X>            -> not_a_dim<rows>
//   misuse<sort_call, list<batch>, order, X>    -> not_a_tensor<order>
#pragma once

#include "dimesh/op/parts/name_kinds.hpp"

namespace dimesh::detail {

/// What stands in the angle brackets: from Least to Most names (-1: any number); the last kind
/// holds for all that follow.
template <int Least, int Most, named_kind... K> struct names_taken : kinds<K...> {
  template <class... N> static constexpr bool takes() {
    constexpr int n = static_cast<int>(sizeof...(N));
    return n >= Least && (Most < 0 || n <= Most) && kinds<K...>::template fit<N...>();
  }
};

// What stands in the parentheses, beside types that an argument is converted to.
struct a_tensor;
struct tensors_only;  // and all that follow: tensors
struct no_tensor;  // a function, a dim that carries its extent
struct no_tensors;  // and all that follow: none

template <class P, class A>
inline constexpr bool is_taken = std::is_convertible_v<const A&, P> && !Operand<A>;
template <class A> inline constexpr bool is_taken<a_tensor, A> = Operand<A>;
template <class A> inline constexpr bool is_taken<tensors_only, A> = Operand<A>;
template <class A> inline constexpr bool is_taken<no_tensor, A> = !Operand<A>;
template <class A> inline constexpr bool is_taken<no_tensors, A> = !Operand<A>;

/// Any number of such arguments.
template <class P> inline constexpr bool goes_on = false;
template <> inline constexpr bool goes_on<tensors_only> = true;
template <> inline constexpr bool goes_on<no_tensors> = true;

/// Names, and parameters P of which the first Least must be given.
template <class Names, int Least, class... P> struct call_taking {
  using names = Names;
  static constexpr int most = (goes_on<P> || ...) ? -1 : static_cast<int>(sizeof...(P));
  /// Parameter I; the last one holds for all that follow.
  template <std::size_t I>
  using at = type_at<static_cast<int>(I < sizeof...(P) ? I : sizeof...(P) - 1), list<P...>>;

  template <class... A, std::size_t... I> static constexpr bool fit(std::index_sequence<I...>) {
    constexpr int n = static_cast<int>(sizeof...(A));
    return n >= Least && (most < 0 || n <= most) && (is_taken<at<I>, A> && ...);
  }
  template <class... A, std::size_t... I>
  static auto blame(std::index_sequence<I...>) -> typename first_of<
      std::conditional_t<is_taken<a_tensor, A> || !std::is_same_v<at<I>, a_tensor>, no_fault,
                         not_a_tensor<A>>...,
      wrong_arguments<A...>>::type;
};

/// Ours, and neither a tensor nor a name: a window, say.
template <class A> inline constexpr bool is_call_part = false;
/// May a call without angle brackets be meant for the operation? A user's own function of that name
/// is called in this way, too, perhaps with numbers that it converts: all there is must be ours.
template <class... A>
inline constexpr bool is_plain_call =
    ((Operand<A> || Dim<A> || Axis<A> || std::is_enum_v<A> || is_call_part<A>) && ...);

template <class Call, class Names, class... A> inline constexpr bool is_misused = false;
template <class Call, class... N, class... A>
inline constexpr bool is_misused<Call, list<N...>, A...> =
    (Operand<A> || ...) && (sizeof...(N) > 0 || is_plain_call<A...>) &&
    !(Call::names::template takes<N...>() &&
      Call::template fit<A...>(std::index_sequence_for<A...>{}));

template <bool NamesFit> struct misuse_of {
  template <class Call, class, class... A>
  using type = decltype(Call::template blame<A...>(std::index_sequence_for<A...>{}));
};
template <> struct misuse_of<false> {
  template <class Call, class Names, class...> struct named;
  template <class Call, class... N, class... A> struct named<Call, list<N...>, A...> {
    using type = typename first_of<typename Call::names::template fault<N...>,
                                   wrong_arguments<N..., A...>>::type;
  };
  template <class Call, class Names, class... A>
  using type = typename named<Call, Names, A...>::type;
};
template <class Call, class Names, class... A> struct misuse_impl;
template <class Call, class... N, class... A> struct misuse_impl<Call, list<N...>, A...> {
  using type =
      typename misuse_of<Call::names::template takes<N...>()>::template type<Call, list<N...>,
                                                                             A...>;
};
template <class Call, class Names, class... A>
using misuse = typename misuse_impl<Call, Names, A...>::type;

/// Dims that are counted, as in other libraries.
template <class... A> inline constexpr bool has_operand = (Operand<A> || ...);
template <index_t First, index_t...>
using dim_by_number = not_a_dim<std::integral_constant<index_t, First>>;

using one_axis = names_taken<1, 1, named_kind::axis>;
using one_dim = names_taken<1, 1, named_kind::dim>;
using two_dims = names_taken<2, 2, named_kind::dim>;
using one_dim_or_two = names_taken<1, 2, named_kind::dim>;
using one_cut_dim_or_two = names_taken<1, 2, named_kind::dim_in_layout>;
using any_dims = names_taken<0, -1, named_kind::dim>;
using some_dims = names_taken<1, -1, named_kind::dim>;
using some_cut_dims = names_taken<1, -1, named_kind::dim_in_layout>;
using more_dims = names_taken<2, -1, named_kind::dim>;

}  // namespace dimesh::detail
