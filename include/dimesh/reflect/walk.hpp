// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does one walk a struct of tensors? Members described by BOOST_HANA_DEFINE_STRUCT, nested
// structs, arrays and tuples of them, tensors at the leaves. Several structs of one form are walked
// in step. Works in constant expressions.
//
//   for_each_tensor([](const auto& path, auto& w, const auto& g) { ... }, params, gradients)
//     -> calls f("w1", params.w1, gradients.w1), f("layers[0].b", params.layers[0].b, ...), ...
//   rebind_layout<network<L>, gradient>  -> network<gradient<L>>
#pragma once

#include <exception>

#include "dimesh/reflect/leaves.hpp"

namespace dimesh {

/// Where a tensor stands in a struct.
class member_path {
 public:
  using finder = void (*)(int, detail::path_sink&);

  constexpr member_path() = default;
  constexpr member_path(finder find, int leaf) : find_(find), leaf_(leaf) {}

  /// member_path of network::layers[2].w  -> "layers[2].w";  a lone tensor  -> ""
  std::string text() const {
    std::string out;
    detail::path_sink to{&out};
    if (leaf_ >= 0) find_(leaf_, to);
    return out;
  }
  /// The innermost name: "w" of "layers[2].w"; null for a lone tensor.
  constexpr const char* name() const {
    detail::path_sink to;
    if (leaf_ >= 0) find_(leaf_, to);
    return to.name;
  }

 private:
  finder find_ = nullptr;
  int leaf_ = -1;  // a lone tensor; comparing `find_` is no constant under some sanitizers
};

namespace detail {

/// A member_path that costs nothing where nobody asks.
template <class S> struct path_in {
  int leaf;

  constexpr operator member_path() const { return member_path(find_leaf<S>, leaf); }
  std::string text() const { return member_path(*this).text(); }
  constexpr const char* name() const { return member_path(*this).name(); }
};

/// The leaves of several structs side by side: list<list<X, Y...>, ...>, an entry for each kind.
template <class Leaves> struct singles;
template <class... X> struct singles<list<X...>> {
  using type = list<list<X>...>;
};
template <class Row, class X> struct row_with;
template <class... A, class X> struct row_with<list<A...>, X> {
  using type = list<A..., X>;
};
template <class Rows, class... Leaves> struct rows_of {
  using type = Rows;
};
template <class... Row, class... X, class... More>
struct rows_of<list<Row...>, list<X...>, More...>
    : rows_of<list<typename row_with<Row, X>::type...>, More...> {};

template <class Leaves> struct made_const;
template <class... X> struct made_const<list<X...>> {
  using type = list<const X...>;
};
/// The leaves of S where Form has tensors, const if S is.
template <class Form, class S> struct leaves_in : leaves_at<Form, S> {};
template <class Form, class S>
struct leaves_in<Form, const S> : made_const<typename leaves_at<Form, S>::type> {};

/// Calls f for leaf n of structs whose leaves stand `stride` apart.
template <class F, class Path, class Row, class Places> struct leaf_visit;
template <class F, class Path, class... X, std::size_t... K>
struct leaf_visit<F, Path, list<X...>, std::index_sequence<K...>> {
  static constexpr void call(F& f, int n, const leaf* at, int stride) {
    f(Path{n}, leaf_at<X>(at[static_cast<int>(K) * stride + n])...);
  }
};
template <class F, class Path, class Rows, class Places> struct leaf_visits;
template <class F, class Path, class... Row, class Places>
struct leaf_visits<F, Path, list<Row...>, Places> {
  using call = void (*)(F&, int, const leaf*, int);
  static constexpr call calls[sizeof...(Row)] = {leaf_visit<F, Path, Row, Places>::call...};
};

template <class Form, class First, class... More>
struct leaf_rows : rows_of<typename singles<typename leaves_in<Form, First>::type>::type,
                           typename leaves_in<Form, More>::type...> {};

template <class F, class Form, class... S> constexpr void visit_leaves(F& f, S&... s) {
  constexpr int n = leaf_count<Form>;
  if constexpr (n > 0) {
    leaf at[sizeof...(S) * n];
    leaf* to = at;
    (note_leaves<Form>(s, 0, to), ...);
    using rows = typename leaf_rows<Form, S...>::type;
    using visits = leaf_visits<F, path_in<Form>, rows, std::index_sequence_for<S...>>;
    for (int i = 0; i < n; ++i) visits::calls[at[i].kind](f, i, at, n);
  }
}

template <class S> using walkable = walk_says<typename walk_fault<S>::type>;

/// Makes the tensors of a Root in their order.
template <class Root, class F> struct builder {
  F& f;
  int made = 0;

  template <class S> constexpr S build() {
    using kind = sequence_kind<S>;
    if constexpr (is_poison<S>)
      return S{};
    else if constexpr (Tensor<S>)
      return f(path_in<Root>{made++}, tag<S>{});
    else if constexpr (kind::array)
      return build_array<S>(std::make_index_sequence<kind::size>{});
    else if constexpr (has_parts<S>)
      return build_parts<S>(part_types<S>{});
    else
      return S{};
  }

 private:
  template <class S, std::size_t... I> constexpr S build_array(std::index_sequence<I...>) {
    return {{((void)I, build<typename S::value_type>())...}};
  }
  template <class S, class... Part> constexpr S build_parts(list<Part...>) {
    constexpr bool by_parts = sequence_kind<S>::tuple || is_plain_struct<S>;
    static_assert(by_parts,
                  "make: a struct of tensors has no constructors and no bases; leave "
                  "them out");
    if constexpr (by_parts)
      return S{build<Part>()...};
    else
      std::terminate();
  }
};

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
template <class V, template <class> class Modifier>
struct rebind_layout_impl<tracked_tensor<V>, Modifier> {
  using type = tracked_tensor<typename rebind_layout_impl<V, Modifier>::type>;
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
/// path.text() is "layers[0].w"; it converts to a member_path.
template <class F, class S, class... More>
constexpr void for_each_tensor(F&& f, S&& first, More&&... more) {
  using form = std::remove_cvref_t<S>;
  (void)sizeof(detail::walkable<form>);
  if constexpr (Tensor<form>)
    f(member_path{}, first, more...);
  else
    detail::visit_leaves<std::remove_reference_t<F>, form>(f, first, more...);
}

/// Where the n-th tensor of an S stands.
template <class S> constexpr member_path path_of(int n) {
  if constexpr (Tensor<S>)
    return {};
  else
    return {detail::find_leaf<S>, n};
}

/// An S (a tensor, or a struct, array or tuple of them) whose tensors are what f(path, tag<X>)
/// returns, in the order of declaration.
template <class S, class F> constexpr S build_tensors(F&& f) {
  (void)sizeof(detail::walkable<S>);
  return detail::builder<S, std::remove_reference_t<F>>{f}.template build<S>();
}

/// The same struct (or tensor, or array or tuple of them) with Modifier around its layout:
/// rebind_layout<network<L>, tracked>  -> network<tracked<L>>.
template <class S, template <class> class Modifier>
using rebind_layout = typename detail::rebind_layout_impl<S, Modifier>::type;

}  // namespace dimesh
