// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// With which numbers does training begin? Each parameter's type says it (nn/parameter.hpp); the
// numbers are keyed by its path in the struct and by the element's global index: the same under
// every layout, others for each parameter.
//
//   auto p = make<network<L>>(g);
//   nn::initialize(p, random_key{1});
#pragma once

#include "dimesh/create.hpp"
#include "dimesh/nn/parameter.hpp"

namespace dimesh::nn {

namespace detail {

using dimesh::detail::leaf;
using dimesh::detail::list;

/// What the parameters of an S state, in the order of leaves<S>.
template <class S>
using stated_by = typename dimesh::detail::leaves_at<S, rebind_layout<S, stating>>::type;

template <class X, class How>
concept Distribution = requires(const How& how, X& x, random_key key) { how(x, key); };

template <class... A> inline constexpr bool initializes = false;
template <class S, class K>
inline constexpr bool initializes<S&, K> =
    !std::is_const_v<S> && std::is_same_v<std::remove_cvref_t<K>, random_key>;

/// The first parameter that states none.
template <class Leaves, class Stated> struct stated_fault {
  using type = no_fault;
};
template <class X, class... More, class How, class... Others>
struct stated_fault<list<X, More...>, list<How, Others...>>
    : stated_fault<list<More...>, list<Others...>> {};
template <class X, class... More, class How, class... Others>
  requires(!Distribution<X, How>)
struct stated_fault<list<X, More...>, list<How, Others...>> {
  using type = distribution_not_stated<X>;
};

using filler = void (*)(dimesh::detail::tensor_core&, random_key);

/// What fills a tensor by its elements and dims alone gets one whose layout is a value: it is
/// compiled once for all layouts of a mesh.
template <class X> struct under_any_layout;
template <class T, class L, class... D> struct under_any_layout<basic_tensor<T, L, D...>> {
  using type = basic_tensor<T, layout<typename L::mesh, at_run_time>, D...>;
};
template <class X, class How> void begin(dimesh::detail::tensor_core& at, random_key key) {
  How{}(dimesh::detail::core_access::back<X>(at), key);
}
template <class X, class How>
void begin_under_any(dimesh::detail::tensor_core& at, random_key key) {
  X x(std::move(at));
  struct giving_back {
    X& x;
    dimesh::detail::tensor_core& at;
    ~giving_back() { at = std::move(dimesh::detail::core_of(x)); }
  } const end{x, at};  // also where an exception passes
  How{}(x, key);
}
template <class X, class How> constexpr filler filler_of() {
  if constexpr (states_dims_alone<How>)
    return &begin_under_any<typename under_any_layout<X>::type, How>;
  else
    return &begin<X, How>;
}
/// By the kind of a leaf.
template <class Leaves, class Stated> struct fillers;
template <class... X, class... How> struct fillers<list<X...>, list<How...>> {
  static constexpr filler of[] = {filler_of<X, How>()...};
};

template <class S> void note_all(const void* parameters, leaf* to) {
  dimesh::detail::note_struct<S>(*static_cast<const S*>(parameters), to);
}
template <class S> member_path path_in(const void* parameters, int i) {
  return path_of(*static_cast<const S*>(parameters), i);
}
/// Without the struct's type: all that differs between layouts are the functions.
inline void begin_all(const void* parameters, int count, void (*note)(const void*, leaf*),
                      member_path (*path)(const void*, int), const filler* fill, random_key key) {
  std::vector<leaf> at(static_cast<std::size_t>(count));
  note(parameters, at.data());
  for (int i = 0; i < count; ++i) {
    const leaf& one = at[static_cast<std::size_t>(i)];
    fill[one.kind](const_cast<dimesh::detail::tensor_core&>(*one.core),
                   key.fold(path(parameters, i).stream()));
  }
}

}  // namespace detail

/// Fills all tensors of a struct as their types say (parameter<How, ...>). The random numbers of
/// one depend on the key, on the path that leads to it and on the elements' global indices. Two
/// structs get different numbers from keys of their own: key.fold(n). Local.
template <class S>
  requires(!std::is_const_v<S>)
void initialize(S& parameters, random_key key) {
  using leaves = typename dimesh::detail::leaves<S>::type;
  using stated = detail::stated_by<S>;
  using fault = typename detail::stated_fault<leaves, stated>::type;
  static_assert(
      ok<only<fault, distribution_not_stated>>,
      "initialize: a member's type states no distribution; declare it as a parameter<how, "
      "element, L, dims...>");
  if constexpr (ok<fault> && leaves::size > 0) {
    detail::begin_all(&parameters, dimesh::detail::count_in(parameters), detail::note_all<S>,
                      detail::path_in<S>, detail::fillers<leaves, stated>::of, key);
  }
}
/// What it says to other arguments.
template <class... Named, class... A>
  requires(!detail::initializes<A...>)
void initialize(A&&...) {
  static_assert(ok<wrong_arguments<A...>>,
                "initialize: the arguments are parameters that are not const, and a key: "
                "initialize(params, random_key{1})");
}

}  // namespace dimesh::nn
