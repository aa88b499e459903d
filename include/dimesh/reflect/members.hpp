// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does one reach the members of a described struct? All at once, by structured bindings: Hana's
// accessors of every struct under every layout cost the compiler more than the rest of a walk.
//
//   with_members(params, [](auto&... member) { ... });     also for tuples: with_parts
#pragma once

#include "dimesh/reflect/hana.hpp"

namespace dimesh::detail {

/// By Hana's accessors, where bindings do not serve: large structs, and those with constructors or
/// bases; also after the complaint that members are left out.
template <class S, class F, std::size_t... I>
constexpr decltype(auto) with_accessed(S& s, const F& f, std::index_sequence<I...>) {
  constexpr auto accessors = hana::accessors<std::remove_const_t<S>>();
  return f(hana::second(hana::at_c<I>(accessors))(s)...);
}

/// call(all members of whole).
template <class S, class F> constexpr decltype(auto) with_members(S& whole, const F& call) {
  constexpr std::size_t count = member_count<std::remove_const_t<S>>;
  if constexpr (!can_be_bound<std::remove_const_t<S>>) {
    return with_accessed(whole, call, std::make_index_sequence<count>{});
  } else if constexpr (count == 0) {
    return call();
  } else if constexpr (count == 1) {
    auto& [a] = whole;
    return call(a);
  } else if constexpr (count == 2) {
    auto& [a, b] = whole;
    return call(a, b);
  } else if constexpr (count == 3) {
    auto& [a, b, c] = whole;
    return call(a, b, c);
  } else if constexpr (count == 4) {
    auto& [a, b, c, d] = whole;
    return call(a, b, c, d);
  } else if constexpr (count == 5) {
    auto& [a, b, c, d, e] = whole;
    return call(a, b, c, d, e);
  } else if constexpr (count == 6) {
    auto& [a, b, c, d, e, f] = whole;
    return call(a, b, c, d, e, f);
  } else if constexpr (count == 7) {
    auto& [a, b, c, d, e, f, g] = whole;
    return call(a, b, c, d, e, f, g);
  } else if constexpr (count == 8) {
    auto& [a, b, c, d, e, f, g, h] = whole;
    return call(a, b, c, d, e, f, g, h);
  } else if constexpr (count == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = whole;
    return call(a, b, c, d, e, f, g, h, i);
  } else if constexpr (count == 10) {
    auto& [a, b, c, d, e, f, g, h, i, j] = whole;
    return call(a, b, c, d, e, f, g, h, i, j);
  } else if constexpr (count == 11) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = whole;
    return call(a, b, c, d, e, f, g, h, i, j, k);
  } else if constexpr (count == 12) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = whole;
    return call(a, b, c, d, e, f, g, h, i, j, k, l);
  } else if constexpr (count == 13) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = whole;
    return call(a, b, c, d, e, f, g, h, i, j, k, l, m);
  } else if constexpr (count == 14) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = whole;
    return call(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
  } else if constexpr (count == 15) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = whole;
    return call(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
  } else if constexpr (count == 16) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = whole;
    return call(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
  } else {
    return with_accessed(whole, call, std::make_index_sequence<count>{});
  }
}

template <class X, class F, std::size_t... I>
constexpr decltype(auto) with_elements(X& x, const F& f, std::index_sequence<I...>) {
  return f(element<I>(x)...);
}
/// f(all members of a described struct, or elements of a tuple).
template <class X, class F> constexpr decltype(auto) with_parts(X& x, const F& f) {
  using kind = sequence_kind<std::remove_const_t<X>>;
  if constexpr (kind::tuple)
    return with_elements(x, f, std::make_index_sequence<kind::size>{});
  else
    return with_members(x, f);
}

struct type_lister {
  template <class... X> constexpr list<X...> operator()(X&...) const { return {}; }
};
template <class X> struct part_types_impl {
  using type = decltype(with_members(std::declval<X&>(), type_lister{}));
};
template <class... E> constexpr auto without_references(list<E...>) {
  return list<std::remove_cvref_t<E>...>{};
}
template <class X>
  requires sequence_kind<X>::tuple
struct part_types_impl<X> {
  using type = decltype(without_references(typename sequence_kind<X>::elements{}));
};
/// The types of a described struct's members, or of a tuple's elements.
template <class X> using part_types = typename part_types_impl<X>::type;

/// Has parts that differ in type.
template <class X> inline constexpr bool has_parts = sequence_kind<X>::tuple || is_described<X>;
/// Has elements of one type.
template <class X>
inline constexpr bool has_elements = sequence_kind<X>::array || sequence_kind<X>::vector;
/// Something with tensors in it, as far as its outside tells.
template <class X>
inline constexpr bool is_walkable =
    is_described<X> || sequence_kind<X>::vector || sequence_kind<X>::size > 0;

}  // namespace dimesh::detail
