// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is the type of a struct whose tensors become others? The same struct with another layout in
// its place; of arrays, vectors and tuples, each element's. Fn says what becomes of a tensor and of
// a struct's layout:
//
//   struct without_records {
//     template <class X> struct leaf { using type = X; };        // of a tensor type
//     template <class L> struct layout { using type = L; };      // of the L of an S<L, ...>
//   };
//   map_leaves<network<tracked<L>>, without_records>  -> network<L>
//
// A struct with tensors on two meshes has a layout for each: S<L, K>.
#pragma once

#include <array>
#include <boost/hana/fwd/tuple.hpp>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "dimesh/detail/bundle.hpp"
#include "dimesh/tensor.hpp"

namespace dimesh {

namespace detail {

template <class L> concept LayoutOrModifier = requires { typename L::mesh; };

template <class X, class Fn> struct mapped {
  using type = X;  // numbers and tags stay
};
template <class X, class Fn>
  requires Tensor<X>
struct mapped<X, Fn> : Fn::template leaf<X> {};
template <class E, std::size_t N, class Fn> struct mapped<std::array<E, N>, Fn> {
  using type = std::array<typename mapped<E, Fn>::type, N>;
};
template <class E, class A, class Fn> struct mapped<std::vector<E, A>, Fn> {
  using to = typename mapped<E, Fn>::type;
  using type = std::vector<to, typename std::allocator_traits<A>::template rebind_alloc<to>>;
};
template <class... E, class Fn> struct mapped<std::tuple<E...>, Fn> {
  using type = std::tuple<typename mapped<E, Fn>::type...>;
};
template <class A, class B, class Fn> struct mapped<std::pair<A, B>, Fn> {
  using type = std::pair<typename mapped<A, Fn>::type, typename mapped<B, Fn>::type>;
};
template <class... E, class Fn> struct mapped<boost::hana::tuple<E...>, Fn> {
  using type = boost::hana::tuple<typename mapped<E, Fn>::type...>;
};
template <class... E, class Fn> struct mapped<bundle<E...>, Fn> {
  using type = bundle<typename mapped<E, Fn>::type...>;
};
/// What stands behind the first layout: further layouts, of other meshes perhaps, are mapped as it
/// is.
template <class A, class Fn> struct mapped_argument {
  using type = A;
};
template <LayoutOrModifier L, class Fn> struct mapped_argument<L, Fn> : Fn::template layout<L> {};
template <template <class, class...> class S, LayoutOrModifier L, class... More, class Fn>
struct mapped<S<L, More...>, Fn> {
  using type =
      S<typename Fn::template layout<L>::type, typename mapped_argument<More, Fn>::type...>;
};
template <template <class, auto, auto...> class S, LayoutOrModifier L, auto N, auto... More,
          class Fn>
struct mapped<S<L, N, More...>, Fn> {
  using type = S<typename Fn::template layout<L>::type, N, More...>;
};

/// Modifier around the layout.
template <template <class> class Modifier> struct modified {
  template <class X> struct leaf {
    using type = X;
  };
  template <class T, class L, class... D> struct leaf<basic_tensor<T, L, D...>> {
    using type = tensor<T, Modifier<L>, D...>;
  };
  template <class T, class M, class... D>
  struct leaf<basic_tensor<T, dimesh::layout<M, at_run_time>, D...>> {
    using type = tensor<T, Modifier<dimesh::layout<M, held_at_run_time>>, D...>;
  };
  template <class T, class L, class... D> struct leaf<shaped_tensor<T, L, D...>> {
    using type = tensor<T, Modifier<shaped<L>>, D...>;
  };
  template <class V> struct leaf<tracked_tensor<V>> {
    using type = tracked_tensor<typename leaf<V>::type>;
  };
  template <class L> struct layout {
    using type = Modifier<L>;
  };
};

}  // namespace detail

/// A struct of tensors (or array, vector, tuple, or one tensor) as Fn maps it.
template <class S, class Fn> using map_leaves = typename detail::mapped<S, Fn>::type;

}  // namespace dimesh
