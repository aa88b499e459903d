// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does one walk a struct of tensors? Members described by BOOST_HANA_DEFINE_STRUCT, nested
// structs, arrays, vectors and tuples of them, tensors at the leaves. Several structs of one form
// are walked in step. Works in constant expressions.
//
//   for_each_tensor([](const auto& path, auto& w, const auto& g) { ... }, params, gradients)
//     -> calls f("w1", params.w1, gradients.w1), f("layers[0].b", params.layers[0].b, ...), ...
//   rebind_layout<network<L>, gradient>  -> network<gradient<L>>
//
// The length of an array is part of a struct's type; of a vector only the run knows it.
#pragma once

#include <exception>

#include "dimesh/reflect/lengths.hpp"
#include "dimesh/reflect/map_leaves.hpp"
#include "dimesh/reflect/paths.hpp"
#include "dimesh/reflect/places.hpp"

namespace dimesh {

namespace detail {

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

/// Says once of a function that it takes neither a path and tensors nor tensors.
template <class F> struct walk_call_says {
  static_assert(ok<wrong_arguments<F>>,
                "for_each_tensor: the function takes a path and a tensor of each struct that is "
                "walked, or of one struct just that: "
                "[](const auto& path, auto& x) { ... }");
};

/// Calls f for leaf n of structs whose leaves stand `stride` apart; the first one is `of`.
template <class F, class Path, class Row, class Places> struct leaf_visit;
template <class F, class Path, class... X, std::size_t... K>
struct leaf_visit<F, Path, list<X...>, std::index_sequence<K...>> {
  static constexpr void call(F& f, const void* of, int n, const leaf* at, int stride) {
    if constexpr (requires { f(Path{n, of}, leaf_at<X>(at[n])...); })
      f(Path{n, of}, leaf_at<X>(at[static_cast<int>(K) * stride + n])...);
    else if constexpr (sizeof...(X) == 1 && requires { f(leaf_at<X>(at[n])...); })
      f(leaf_at<X>(at[n])...);
    else
      (void)sizeof(walk_call_says<F>);
  }
};
template <class F, class Path, class Rows, class Places> struct leaf_visits;
template <class F, class Path, class... Row, class Places>
struct leaf_visits<F, Path, list<Row...>, Places> {
  using call = void (*)(F&, const void*, int, const leaf*, int);
  static constexpr call calls[sizeof...(Row)] = {leaf_visit<F, Path, Row, Places>::call...};
};

template <class Form, class First, class... More>
struct leaf_rows : rows_of<typename singles<typename leaves_in<Form, First>::type>::type,
                           typename leaves_in<Form, More>::type...> {};

template <class F, class Form, class... S>
using visits_of = leaf_visits<F, path_in<Form>, typename leaf_rows<Form, S...>::type,
                              std::index_sequence_for<S...>>;

template <class F, class Form, class... S> constexpr void visit_leaves(F& f, S&... s) {
  constexpr int n = leaf_count<Form>;
  if constexpr (n > 0) {
    leaf at[sizeof...(S) * n];
    leaf* to = at;
    ((to = note_struct<Form>(s, to)), ...);
    for (int i = 0; i < n; ++i) visits_of<F, Form, S...>::calls[at[i].kind](f, nullptr, i, at, n);
  }
}
/// The same where vectors say how many leaves there are.
template <class F, class Form, class First, class... More>
constexpr void visit_vectors(F& f, First& first, More&... more) {
  check_lengths<Form>("for_each_tensor", first, more...);
  const int n = count_in(first);
  std::vector<leaf> at((1 + sizeof...(More)) * static_cast<std::size_t>(n));
  leaf* to = at.data();
  note_leaves<Form>(first, 0, to);
  (note_leaves<Form>(more, 0, to), ...);
  for (int i = 0; i < n; ++i)
    visits_of<F, Form, First, More...>::calls[at[static_cast<std::size_t>(i)].kind](f, &first, i,
                                                                                    at.data(), n);
}

template <class S> using walkable = walk_says<typename walk_fault<S>::type>;
/// As a member, a number or a function object is passed by; as what is walked it is a mistake.
struct a_call {
  void operator()() const;
};
template <class F> struct called_twice : F, a_call {};
template <class F> constexpr bool is_function() {
  if constexpr (std::is_empty_v<F> && !std::is_final_v<F> && !is_poison<F>)
    return !requires { &called_twice<F>::operator(); };
  else
    return std::is_scalar_v<F>;
}
template <class S>
using walked_form = std::conditional_t<is_function<S>() && !has_parts<S>,
                                       walk_says<member_not_walked<S>>, walkable<S>>;
/// A tensor or a struct of them where the function is wanted.
template <class F>
using swapped_walk =
    std::conditional_t<Tensor<F> || has_parts<F> || has_elements<F>, wrong_arguments<F>, no_fault>;
/// Says so, once for each pair of structs.
template <class Fault> struct lengths_say {
  static_assert(ok<only<Fault, lengths_differ>>,
                "for_each_tensor: two structs side by side differ in the length of an array; walk "
                "structs of one form");
  static constexpr bool agree = ok<Fault>;
};
template <class Form, class... More>
inline constexpr bool lengths_agree =
    (lengths_say<typename lengths_fault<Form, std::remove_cvref_t<More>>::type>::agree && ...);

/// Makes the tensors of a Root in their order.
template <class Root, class F> struct builder {
  F& f;
  int made = 0;

  template <class S> constexpr S build() {
    using kind = sequence_kind<S>;
    if constexpr (is_poison<S>) {
      return S{};
    } else if constexpr (Tensor<S>) {
      return f(path_in<Root>{made++}, tag<S>{});
    } else if constexpr (kind::array) {
      return build_array<S>(std::make_index_sequence<kind::size>{});
    } else if constexpr (has_parts<S>) {
      constexpr bool by_parts = kind::tuple || is_plain_struct<S>;
      static_assert(by_parts,
                    "make: a struct of tensors has no constructors and no bases; leave them out");
      if constexpr (by_parts)
        return build_parts<S>(part_types<S>{});
      else
        std::terminate();
    } else {
      return S{};
    }
  }

 private:
  template <class S, std::size_t... I> constexpr S build_array(std::index_sequence<I...>) {
    return {{((void)I, build<typename S::value_type>())...}};
  }
  template <class S, class... Part> constexpr S build_parts(list<Part...>) {
    return S{build<Part>()...};
  }
};

/// An S of vectors as long as `length(name)` says of each.
template <class S, class F> constexpr S with_lengths(const F& length) {
  S s{};
  each_vector<S>(s, s, "", [&length](const char* name, const auto&, auto& v) {
    v.resize(length(std::string_view(name)));
  });
  return s;
}

}  // namespace detail

/// Calls f(path, member...) for every tensor of the structs, in the order of declaration. The
/// structs have one form (network<L>, network<gradient<L>>, ...); the first says where tensors are.
/// path.text() is "layers[0].w"; it converts to a member_path. Of one struct also f(member),
/// without the path.
template <class F, class S, class... More>
constexpr void for_each_tensor(F&& f, S&& first, More&&... more) {
  using form = std::remove_cvref_t<S>;
  static_assert(ok<detail::swapped_walk<std::remove_cvref_t<F>>>,
                "for_each_tensor: the function comes first, and then the structs whose tensors it "
                "takes: for_each_tensor(f, parameters, gradients)");
  if constexpr (ok<detail::swapped_walk<std::remove_cvref_t<F>>>)
    (void)sizeof(detail::walked_form<form>);
  if constexpr (Tensor<form>) {
    // (Of types: nvcc 13 dies of these names in a condition inside of another deduction.)
    if constexpr (requires {
                    std::declval<F&>()(member_path{}, std::declval<S&>(), std::declval<More&>()...);
                  })
      f(member_path{}, first, more...);
    else if constexpr (sizeof...(More) == 0 && requires { f(first); })
      f(first);
    else
      (void)sizeof(detail::walk_call_says<F>);
  } else if constexpr (detail::lengths_agree<form, More...>) {
    if constexpr (detail::has_vectors<form>)
      detail::visit_vectors<std::remove_reference_t<F>, form>(f, first, more...);
    else
      detail::visit_leaves<std::remove_reference_t<F>, form>(f, first, more...);
  }
}

/// An S (a tensor, or a struct, array or tuple of them) whose tensors are what f(path, tag<X>)
/// returns, in the order of declaration.
template <class S, class F> [[nodiscard]] constexpr S build_tensors(F&& f) {
  (void)sizeof(detail::walkable<S>);
  static_assert(!detail::has_vectors<S>,
                "build_tensors: the struct has vectors; say how long they are: "
                "build_tensors<S>(f, lengths)");
  if constexpr (!detail::has_vectors<S>)
    return detail::builder<S, std::remove_reference_t<F>>{f}.template build<S>();
  else
    return S{};
}
/// The same of a struct with vectors; length(name) is how many elements the vector of that name has
/// (inside vectors of vectors, each of them).
template <class S, class F, class Lengths>
[[nodiscard]] constexpr S build_tensors(F&& f, const Lengths& length) {
  (void)sizeof(detail::walkable<S>);
  S s = detail::with_lengths<S>(length);
  for_each_tensor([&f](const auto& path,
                       auto& x) { x = f(path, detail::tag<std::remove_cvref_t<decltype(x)>>{}); },
                  s);
  return s;
}

/// The same struct (or tensor, or array, vector or tuple of them) with Modifier around its layout:
/// rebind_layout<network<L>, tracked>  -> network<tracked<L>>.
template <class S, template <class> class Modifier>
using rebind_layout = map_leaves<S, detail::modified<Modifier>>;

}  // namespace dimesh
