// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What are the parts of a value that holds tensors? Elements of arrays and tuples, and members of
// described structs (BOOST_HANA_DEFINE_STRUCT), of which Boost.Hana says how many there are and
// what they are called. The one door to Hana, with members.hpp, which falls back on its accessors.
//
//   member_count<network<L>>  -> 2        member_names<network<L>>  -> {"w1", "w2"}
#pragma once

#include <array>
#include <boost/hana/accessors.hpp>
#include <boost/hana/at.hpp>
#include <boost/hana/concept/struct.hpp>
#include <boost/hana/define_struct.hpp>
#include <boost/hana/pair.hpp>
#include <boost/hana/second.hpp>
#include <boost/hana/string.hpp>
#include <boost/hana/tuple.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "dimesh/detail/bundle.hpp"
#include "dimesh/tensor.hpp"

namespace dimesh::detail {

namespace hana = boost::hana;

/// Is it an array, a vector or a tuple, and of what? Sizes of vectors are known at run time only.
template <class X> struct sequence_kind {
  static constexpr bool array = false, vector = false, tuple = false;
  static constexpr std::size_t size = 0;
};
template <class E, std::size_t N> struct sequence_kind<std::array<E, N>> {
  static constexpr bool array = true, vector = false, tuple = false;
  static constexpr std::size_t size = N;
};
template <class E, class A> struct sequence_kind<std::vector<E, A>> {
  static constexpr bool array = false, vector = true, tuple = false;
  static constexpr std::size_t size = 0;
};
template <class... E> struct tuple_kind {
  using elements = list<E...>;
  static constexpr bool array = false, vector = false, tuple = true;
  static constexpr std::size_t size = sizeof...(E);
};
template <class... E> struct sequence_kind<std::tuple<E...>> : tuple_kind<E...> {};
template <class A, class B> struct sequence_kind<std::pair<A, B>> : tuple_kind<A, B> {};
template <class... E> struct sequence_kind<hana::tuple<E...>> : tuple_kind<E...> {};
template <class... E> struct sequence_kind<bundle<E...>> : tuple_kind<E...> {};

/// Element I of a tuple.
template <std::size_t I, class... E> constexpr auto& element(std::tuple<E...>& x) {
  return std::get<I>(x);
}
template <std::size_t I, class... E> constexpr auto& element(const std::tuple<E...>& x) {
  return std::get<I>(x);
}
template <std::size_t I, class A, class B> constexpr auto& element(std::pair<A, B>& x) {
  return std::get<I>(x);
}
template <std::size_t I, class A, class B> constexpr auto& element(const std::pair<A, B>& x) {
  return std::get<I>(x);
}
template <std::size_t I, class... E> constexpr auto& element(hana::tuple<E...>& x) {
  return hana::at_c<I>(x);
}
template <std::size_t I, class... E> constexpr auto& element(const hana::tuple<E...>& x) {
  return hana::at_c<I>(x);
}
template <std::size_t I, class... E> constexpr auto& element(bundle<E...>& x) { return item<I>(x); }
template <std::size_t I, class... E> constexpr auto& element(const bundle<E...>& x) {
  return item<I>(x);
}

/// network<L> of network<tracked<shaped<L>>>: what Hana says of it holds for all.
template <class S> struct unmodified {
  using type = S;
};
template <class L> struct unmodified_layout;
template <class L> struct unmodified_layout<tracked<L>> {
  using type = L;
};
template <class L> struct unmodified_layout<gradient<L>> {
  using type = L;
};
template <class L> struct unmodified_layout<shaped<L>> {
  using type = L;
};
template <class L> concept ModifiedLayout = requires { typename unmodified_layout<L>::type; };
/// Further layouts likewise.
template <class A> struct unmodified_argument {
  using type = A;
};
template <ModifiedLayout L>
struct unmodified_argument<L> : unmodified_argument<typename unmodified_layout<L>::type> {};
template <template <class, class...> class S, ModifiedLayout L, class... More>
struct unmodified<S<L, More...>>
    : unmodified<
          S<typename unmodified_layout<L>::type, typename unmodified_argument<More>::type...>> {};
template <template <class, auto, auto...> class S, ModifiedLayout L, auto N, auto... More>
struct unmodified<S<L, N, More...>>
    : unmodified<S<typename unmodified_layout<L>::type, N, More...>> {};

/// Initialises a member of any type.
template <std::size_t> struct anything {
  template <class T> constexpr operator T() const;
};
template <class S, std::size_t... I> constexpr bool takes_values(std::index_sequence<I...>) {
  return requires { S{anything<I>{}...}; };
}
/// Initialises a base of S, and nothing else.
template <class S> struct any_base {
  template <class T>
    requires std::is_base_of_v<T, S>
  constexpr operator T() const;
};
/// An aggregate that consists of its members alone: no constructors, no bases.
template <class S>
inline constexpr bool is_plain_struct = std::is_aggregate_v<S> && !requires { S{any_base<S>{}}; };

/// The text of a name. Hana's own has internal linkage, and g++ 12 puts it where the linker keeps
/// one copy: two translation units that ask for the same name could not be linked.
template <class Name> struct name_text;
template <char... C> struct name_text<hana::string<C...>> {
  static constexpr char value[sizeof...(C) + 1] = {C..., '\0'};
};

template <class S, class Accessors> struct description;
template <class S, class... Name, class... Pointer>
struct description<S, hana::tuple<hana::pair<Name, Pointer>...>> {
  static constexpr std::size_t count = sizeof...(Name);
  static constexpr std::array<const char*, count> names = {name_text<Name>::value...};
  static constexpr bool plain = is_plain_struct<S>;
  /// It has members that it does not describe, as far as one can tell.
  static constexpr bool lacks = plain && takes_values<S>(std::make_index_sequence<count + 1>{});
};
/// Of which struct Hana is asked: its accessors cost the compiler a walk's worth. Members that are
/// called alike under every layout are asked for once, of the struct that S names.
template <class S> struct described {
  using type = typename unmodified<S>::type;
};
template <class S>
  requires requires { typename S::described_by; }
struct described<S> {
  using type = typename S::described_by;
};
template <class S>
using description_of = description<typename described<S>::type,
                                   decltype(hana::accessors<typename described<S>::type>())>;

/// Not where a member's type has been complained of: clang makes nothing of such a struct.
template <class S>
inline constexpr bool is_described = [] {
  if constexpr (hana::Struct<S>::value)
    return requires { description_of<S>::count; };
  else
    return false;
}();
template <class S> inline constexpr std::size_t member_count = description_of<S>::count;
template <class S> inline constexpr bool leaves_members_out = description_of<S>::lacks;
/// All of its members can be named in a structured binding.
template <class S>
inline constexpr bool can_be_bound = description_of<S>::plain && !description_of<S>::lacks;
template <class S> inline constexpr auto& member_names = description_of<S>::names;

}  // namespace dimesh::detail
