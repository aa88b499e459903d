// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does the library talk about lists of types? With packs: a list holds names, `index_of` and
// `type_at` go between a name and its place. Rules then compute on places, which are plain numbers.
//
//   index_of<B, list<A, B>>  -> 1          (-1 where it is absent)
//   type_at<0, list<A, B>>   -> A
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace dimesh::detail {

template <class... T> struct list {
  static constexpr int size = sizeof...(T);
};
template <class T> inline constexpr bool is_list = false;
template <class... T> inline constexpr bool is_list<list<T...>> = true;

template <class T> struct tag {
  using type = T;
};

/// T, once what is asserted in the function that gives the truth value has been compiled. A failed
/// assertion in the class itself would cost clang the classes that derive from it: more errors.
template <bool, class T> struct asserted_impl {
  using type = T;
};
template <bool B, class T> using asserted = typename asserted_impl<B, T>::type;

template <class T, class List> struct index_of_impl;
template <class T, class... Ts> struct index_of_impl<T, list<Ts...>> {
  static constexpr int find() {
    int i = 0, found = -1;
    ((found = found < 0 && std::is_same_v<T, Ts> ? i : found, ++i), ...);
    return found;
  }
  static constexpr int value = find();
};
/// Place of T in the list, -1 where it is absent.
template <class T, class List> inline constexpr int index_of = index_of_impl<T, List>::value;

template <std::size_t I, class T> struct indexed {
  using type = T;
};
template <class Indices, class... T> struct indexer;
template <std::size_t... I, class... T>
struct indexer<std::index_sequence<I...>, T...> : indexed<I, T>... {};
template <std::size_t I, class T> tag<T> pick(indexed<I, T>*);

template <std::size_t I, class List> struct type_at_impl;
template <std::size_t I, class... T> struct type_at_impl<I, list<T...>> {
  using all = indexer<std::make_index_sequence<sizeof...(T)>, T...>;
  using type = typename decltype(pick<I>(static_cast<all*>(nullptr)))::type;
};
/// The type at place I of the list.
template <std::size_t I, class List> using type_at = typename type_at_impl<I, List>::type;

template <class... List> struct concat_impl;
template <class... A> struct concat_impl<list<A...>> {
  using type = list<A...>;
};
template <class... A, class... B, class... Rest>
struct concat_impl<list<A...>, list<B...>, Rest...> {
  using type = typename concat_impl<list<A..., B...>, Rest...>::type;
};

template <class Seen, class... T> struct unite_impl {
  using type = Seen;
};
template <class... S, class T, class... Rest> struct unite_impl<list<S...>, T, Rest...> {
  using grown = std::conditional_t<(std::is_same_v<S, T> || ...), list<S...>, list<S..., T>>;
  using type = typename unite_impl<grown, Rest...>::type;
};
template <class List> struct unite_list;
template <class... T> struct unite_list<list<T...>> : unite_impl<list<>, T...> {};
/// All members of the lists in order of first appearance, each once.
template <class... List>
using united = typename unite_list<typename concat_impl<list<>, List...>::type>::type;

/// The types of a list that are not in Gone.
template <class List, class Gone> struct remaining;
template <class... T, class Gone>
struct remaining<list<T...>, Gone>
    : concat_impl<list<>, std::conditional_t<(index_of<T, Gone> >= 0), list<>, list<T>>...> {};
/// The list without one of its types.
template <class List, class T> using dims_without = typename remaining<List, list<T>>::type;

/// The first type that stands twice in the list, or void.
template <class... T> struct first_repeated {
  using type = void;
};
template <class T, class... Rest> struct first_repeated<T, Rest...> {
  using type = typename std::conditional_t<(std::is_same_v<T, Rest> || ...), tag<T>,
                                           first_repeated<Rest...>>::type;
};

}  // namespace dimesh::detail
