// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does the library walk a user's struct of tensors? Through Boost.Hana, and only here: members
// described by BOOST_HANA_DEFINE_STRUCT, nested structs, arrays and tuples of them, tensors at the
// leaves. Several structs of one form are walked in step. Works in constant expressions.
//
//   for_each_tensor([](const auto& path, auto& w, const auto& g) { ... }, params, gradients)
//     -> calls f("w1", params.w1, gradients.w1), f("layers[0].b", params.layers[0].b, ...), ...
//   rebind_layout<network<L>, gradient>  -> network<gradient<L>>
#pragma once

#include <array>
#include <boost/hana/accessors.hpp>
#include <boost/hana/at.hpp>
#include <boost/hana/concept/struct.hpp>
#include <boost/hana/core/to.hpp>
#include <boost/hana/define_struct.hpp>
#include <boost/hana/length.hpp>
#include <boost/hana/pair.hpp>
#include <boost/hana/second.hpp>
#include <boost/hana/string.hpp>
#include <boost/hana/tuple.hpp>
#include <string>
#include <tuple>

#include "dimesh/tensor.hpp"

namespace dimesh {

/// Where a tensor stands in a struct: a chain of member names and places, kept on the stack.
class member_path {
 public:
  constexpr member_path() = default;
  constexpr member_path(const member_path& outer, const char* name) : outer_(&outer), name_(name) {}
  constexpr member_path(const member_path& outer, index_t place) : outer_(&outer), place_(place) {}

  /// member_path of network::layers[2].w  -> "layers[2].w";  a lone tensor  -> ""
  std::string text() const {
    if (outer_ == nullptr) return {};
    const std::string before = outer_->text();
    if (name_ == nullptr) return before + "[" + std::to_string(place_) + "]";
    return before + (before.empty() ? "" : ".") + name_;
  }
  /// The innermost name: "w" of "layers[2].w"; null for a lone tensor.
  constexpr const char* name() const {
    const member_path* at = this;
    while (at != nullptr && at->name_ == nullptr) at = at->outer_;
    return at == nullptr ? nullptr : at->name_;
  }

 private:
  const member_path* outer_ = nullptr;
  const char* name_ = nullptr;
  index_t place_ = -1;
};

namespace detail {

namespace hana = boost::hana;

template <class X> struct sequence_kind {
  static constexpr bool array = false, tuple = false, hana_tuple = false;
  static constexpr std::size_t size = 0;
};
template <class E, std::size_t N> struct sequence_kind<std::array<E, N>> : sequence_kind<void> {
  static constexpr bool array = true;
  static constexpr std::size_t size = N;
};
template <class... E> struct sequence_kind<std::tuple<E...>> : sequence_kind<void> {
  using elements = list<E...>;
  static constexpr bool tuple = true;
  static constexpr std::size_t size = sizeof...(E);
};
template <class... E> struct sequence_kind<hana::tuple<E...>> : sequence_kind<void> {
  using elements = list<E...>;
  static constexpr bool hana_tuple = true;
  static constexpr std::size_t size = sizeof...(E);
};

/// Members with nothing to walk: numbers, enumerators and empty tags.
template <class X>
inline constexpr bool is_plain_member =
    std::is_arithmetic_v<X> || std::is_enum_v<X> || std::is_empty_v<X>;

template <class X> inline constexpr bool is_described = hana::Struct<X>::value;

template <class X> struct walk_says {
  static_assert(is_plain_member<X> || is_described<X>,
                "for_each_tensor: a member is neither a tensor, a number, an array or tuple, nor a "
                "described struct; describe it by BOOST_HANA_DEFINE_STRUCT");
};

template <class F, class X, class... Rest>
constexpr void walk(F& f, const member_path& path, X& x, Rest&... rest);

/// Name and accessor of member I of a described struct. Constants: as calls, Hana's tuples and
/// pairs would be made at run time, and compiled for that.
template <std::size_t I, class S>
inline constexpr const char* member_name =
    hana::to<const char*>(hana::first(hana::at_c<I>(hana::accessors<S>())));
template <std::size_t I, class S>
inline constexpr auto member_accessor = hana::second(hana::at_c<I>(hana::accessors<S>()));

/// Member I of a described struct.
template <std::size_t I, class S> constexpr auto& member(S& s) {
  return member_accessor<I, std::remove_const_t<S>>(s);
}

template <class S>
using member_places = std::make_index_sequence<decltype(hana::length(hana::accessors<S>()))::value>;

/// Element I of an array or tuple.
template <std::size_t I, class X> constexpr auto& element(X& x) {
  if constexpr (sequence_kind<std::remove_const_t<X>>::hana_tuple)
    return hana::at_c<I>(x);
  else
    return std::get<I>(x);
}

template <std::size_t I, class F, class X, class... Rest>
constexpr void walk_part(F& f, const member_path& path, X& x, Rest&... rest) {
  if constexpr (is_described<std::remove_const_t<X>>)
    walk(f, member_path(path, member_name<I, std::remove_const_t<X>>), member<I>(x),
         member<I>(rest)...);
  else
    walk(f, member_path(path, index_t{I}), element<I>(x), element<I>(rest)...);
}
template <std::size_t... I, class F, class X, class... Rest>
constexpr void walk_parts(std::index_sequence<I...>, F& f, const member_path& path, X& x,
                          Rest&... rest) {
  (walk_part<I>(f, path, x, rest...), ...);
}

template <class F, class X, class... Rest>
constexpr void walk(F& f, const member_path& path, X& x, Rest&... rest) {
  using S = std::remove_const_t<X>;
  using kind = sequence_kind<S>;
  if constexpr (is_poison<S>) {
    // its type has been complained of
  } else if constexpr (Tensor<S>) {
    f(path, x, rest...);
  } else if constexpr (kind::array) {
    for (std::size_t i = 0; i < kind::size; ++i)
      walk(f, member_path(path, static_cast<index_t>(i)), x[i], rest[i]...);
  } else if constexpr (kind::tuple || kind::hana_tuple) {
    walk_parts(std::make_index_sequence<kind::size>{}, f, path, x, rest...);
  } else if constexpr (is_described<S>) {
    walk_parts(member_places<S>{}, f, path, x, rest...);
  } else {
    (void)sizeof(walk_says<S>);
  }
}

template <class S, class F> constexpr S build(F& f, const member_path& path);

template <class S, std::size_t I>
using part_type = std::remove_cvref_t<decltype(member<I>(std::declval<S&>()))>;

/// The tensor types of a struct, in the order of declaration.
template <class S> struct leaves;
template <class... E> constexpr auto leaves_of_all(list<E...>) {
  return tag<typename concat_impl<list<>, typename leaves<E>::type...>::type>{};
}
template <class S, std::size_t... I> constexpr auto leaves_of_members(std::index_sequence<I...>) {
  return leaves_of_all(list<part_type<S, I>...>{});
}
template <class S> constexpr auto find_leaves() {
  using kind = sequence_kind<S>;
  if constexpr (Tensor<S> && !is_poison<S>)
    return tag<list<S>>{};
  else if constexpr (kind::array)
    return tag<typename leaves<typename S::value_type>::type>{};
  else if constexpr (kind::tuple || kind::hana_tuple)
    return leaves_of_all(typename kind::elements{});
  else if constexpr (is_described<S>)
    return leaves_of_members<S>(member_places<S>{});
  else
    return tag<list<>>{};
}
template <class S> struct leaves : decltype(find_leaves<S>()) {};

template <class S, std::size_t... I, class F>
constexpr S build_struct(std::index_sequence<I...>, F& f, const member_path& path) {
  static_assert(std::is_aggregate_v<S>,
                "make: a struct of tensors has no constructors; leave them out");
  return S{build<part_type<S, I>>(f, member_path(path, member_name<I, S>))...};
}
template <class S, class... E, std::size_t... I, class F>
constexpr S build_tuple(list<E...>, std::index_sequence<I...>, F& f, const member_path& path) {
  return S{build<E>(f, member_path(path, index_t{I}))...};
}
template <class E, std::size_t N, class F, std::size_t... I>
constexpr std::array<E, N> build_array(std::index_sequence<I...>, F& f, const member_path& path) {
  return {{build<E>(f, member_path(path, index_t{I}))...}};
}

/// Makes an S; nothing in it need be default-constructible but numbers and tags.
template <class S, class F> constexpr S build(F& f, const member_path& path) {
  using kind = sequence_kind<S>;
  constexpr auto places = std::make_index_sequence<kind::size>{};
  if constexpr (is_poison<S>)
    return S{};
  else if constexpr (Tensor<S>)
    return f(path, tag<S>{});
  else if constexpr (kind::array)
    return build_array<typename S::value_type, kind::size>(places, f, path);
  else if constexpr (kind::tuple || kind::hana_tuple)
    return build_tuple<S>(typename kind::elements{}, places, f, path);
  else if constexpr (is_described<S>)
    return build_struct<S>(member_places<S>{}, f, path);
  else
    return (void)sizeof(walk_says<S>), S{};
}

template <class X, template <class> class Modifier> struct rebind_layout_impl {
  using type = X;  // numbers and tags stay
};
template <class T, class L, class... D, template <class> class Modifier>
struct rebind_layout_impl<basic_tensor<T, L, D...>, Modifier> {
  using type = tensor<T, Modifier<L>, D...>;
};
template <class T, class L, class... D, template <class> class Modifier>
struct rebind_layout_impl<shaped_tensor<T, L, D...>, Modifier> {
  using type = tensor<T, Modifier<shaped<L>>, D...>;
};
template <class E, std::size_t N, template <class> class Modifier>
struct rebind_layout_impl<std::array<E, N>, Modifier> {
  using type = std::array<typename rebind_layout_impl<E, Modifier>::type, N>;
};
template <class... E, template <class> class Modifier>
struct rebind_layout_impl<std::tuple<E...>, Modifier> {
  using type = std::tuple<typename rebind_layout_impl<E, Modifier>::type...>;
};
template <class... E, template <class> class Modifier>
struct rebind_layout_impl<hana::tuple<E...>, Modifier> {
  using type = hana::tuple<typename rebind_layout_impl<E, Modifier>::type...>;
};
template <class L> concept LayoutOrModifier = requires { typename L::mesh; };
template <template <class, class...> class S, LayoutOrModifier L, class... More,
          template <class> class Modifier>
struct rebind_layout_impl<S<L, More...>, Modifier> {
  using type = S<Modifier<L>, More...>;
};
template <template <class, auto, auto...> class S, LayoutOrModifier L, auto N, auto... More,
          template <class> class Modifier>
struct rebind_layout_impl<S<L, N, More...>, Modifier> {
  using type = S<Modifier<L>, N, More...>;
};

}  // namespace detail

/// Calls f(path, member...) for every tensor of the structs, in the order of declaration. The
/// structs have one form (network<L>, network<gradient<L>>, ...); the first says where tensors are.
template <class F, class S, class... More>
constexpr void for_each_tensor(F&& f, S&& first, More&&... more) {
  detail::walk(f, member_path{}, first, more...);
}

/// An S (a tensor, or a struct, array or tuple of them) whose tensors are what f(path, tag<X>)
/// returns, in the order of declaration.
template <class S, class F> constexpr S build_tensors(F&& f) {
  return detail::build<S>(f, member_path{});
}

/// The same struct (or tensor, or array or tuple of them) with Modifier around its layout:
/// rebind_layout<network<L>, tracked>  -> network<tracked<L>>.
template <class S, template <class> class Modifier>
using rebind_layout = typename detail::rebind_layout_impl<S, Modifier>::type;

}  // namespace dimesh
