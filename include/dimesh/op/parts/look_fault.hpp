// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is wrong with a stencil's function that looks along some dims of what it sees?
#pragma once

#include "dimesh/op/parts/transition.hpp"

namespace dimesh::detail {

template <class V, class D> struct at_fault {
  static constexpr int d = index_of<D, typename V::dims>;
  template <bool Has> static constexpr auto find() {
    if constexpr (!Has)
      return tag<dim_not_in_tensor<D>>{};
    else if constexpr ((V::halos >> d & 1u) == 0)
      return tag<dim_has_no_halo<D>>{};
    else
      return tag<no_fault>{};
  }
  using type = typename decltype(find<(d >= 0)>())::type;
};

/// The first thing that is wrong with looking along D...
template <class V, class... D> struct look_fault {
  using type = no_fault;
};
template <class V, class D, class... Rest>
struct look_fault<V, D, Rest...> : look_fault<V, Rest...> {};
template <class V, class D, class... Rest>
  requires(!ok<typename at_fault<V, D>::type>)
struct look_fault<V, D, Rest...> : at_fault<V, D> {};

}  // namespace dimesh::detail
