// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is a tensor, apart from its data? An element type, a layout and an ordered list of dims.
// Rules of operations read specs and make specs.
//
//   spec<float, layout<pod, split<batch, rows>>, batch, hidden>::table.axis[0]  -> split of dim 0
//   is_split<S, batch>   -> true
#pragma once

#include "dimesh/layout/canonical.hpp"
#include "dimesh/layout/cotangent.hpp"

namespace dimesh {

/// The static description of a tensor; L is canonical.
template <class T, class L, Dim... D> struct spec {
  using value_type = T;
  using layout = L;
  using mesh = typename L::mesh;
  using dims = detail::list<D...>;
  using shape_type = shape<D...>;
  static constexpr int rank = sizeof...(D);
  static constexpr detail::table table = detail::drafted<L, dims>::result.t;
};

/// Of a probe: its table is a value at run time.
template <class T, class M, Dim... D> struct spec<T, layout<M, at_run_time>, D...> {
  using value_type = T;
  using layout = dimesh::layout<M, at_run_time>;
  using mesh = M;
  using dims = detail::list<D...>;
  using shape_type = shape<D...>;
  static constexpr int rank = sizeof...(D);
};

namespace detail {

/// The spec of a tensor type as a user spells it: L is cut down to what concerns D...
template <class T, class L, Dim... D> using make_spec = spec<T, canonical<L, D...>, D...>;

template <class S, class T> struct with_value_impl;
template <class U, class L, class... D, class T> struct with_value_impl<spec<U, L, D...>, T> {
  using type = spec<T, L, D...>;
};
/// The same spec with another element type.
template <class S, class T> using with_value = typename with_value_impl<S, T>::type;

template <class T, class Dims, class L> struct spec_of_list;
template <class T, class... D, class L> struct spec_of_list<T, list<D...>, L> {
  using type = spec<T, L, D...>;
};
/// A spec with dims from a list and the layout that a table over that list describes.
template <class T, class M, class Dims, class Table>
using spec_of_table = typename spec_of_list<T, Dims, layout_type<M, Dims, Table>>::type;

template <class S> struct cotangent_spec_impl;
template <class T, class L, class... D> struct cotangent_spec_impl<spec<T, L, D...>> {
  using type = spec<T, cotangent<L, D...>, D...>;
};
/// The spec of the gradient of a tensor with spec S.
template <class S> using cotangent_spec = typename cotangent_spec_impl<S>::type;

/// Places of the dims of From in To, -1 where absent.
template <class From, class To> struct places;
template <class... D, class To> struct places<list<D...>, To> {
  static constexpr int at[sizeof...(D) + 1] = {index_of<D, To>..., -1};
};

}  // namespace detail

/// Is dim D of the spec split over some axis?
template <class S, Dim D>
inline constexpr bool is_split = S::table.split_count(detail::index_of<D, typename S::dims>) > 0;

/// How axis A treats a tensor of the spec.
template <class S, Axis A>
inline constexpr use use_of = S::table.axis[axis_index<typename S::mesh, A>].what;

}  // namespace dimesh
