// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Of which kinds are the names in the angle brackets of a call, and which is the first that is not?
//
//   kinds<named_kind::dim, named_kind::axis>::fault<batch, label>   -> not_an_axis<label>
#pragma once

#include "dimesh/detail/stated_type.hpp"
#include "dimesh/tensor.hpp"

namespace dimesh::detail {

/// Dim_in_layout: also uneven<dim>, halo<dim, W>. New_dim: also split<dim, axis>. Type: any.
enum class named_kind : signed char {
  dim,
  dim_in_layout,
  new_dim,
  dim_or_real,
  axis,
  layout,
  type
};

template <class N> struct unsplit_dim {
  using type = N;
};
template <class N, class... A> struct unsplit_dim<split<N, A...>> {
  using type = N;
};

template <class N> constexpr bool is_of(named_kind k) {
  switch (k) {
    case named_kind::dim:
      return Dim<N>;
    case named_kind::dim_in_layout:
      return Dim<typename bare_dim<N>::type>;
    case named_kind::new_dim:
      return Dim<typename bare_dim<typename unsplit_dim<N>::type>::type>;
    case named_kind::dim_or_real:
      return DimOrReal<N>;
    case named_kind::axis:
      return Axis<N>;
    case named_kind::layout:
      return Layout<N>;
    case named_kind::type:
      return true;
  }
  return false;
}
template <named_kind K, class N> struct name_fault {
  using type = std::conditional_t<is_of<N>(K), no_fault, not_a_dim<N>>;
};
template <class N> struct name_fault<named_kind::axis, N> : first_of<axis_fault<N>> {};
template <class N> struct name_fault<named_kind::layout, N> {
  using type = std::conditional_t<Layout<N>, no_fault, not_a_layout<N>>;
};

/// What a call names in its angle brackets, in order; the last kind holds for all that follow.
template <named_kind... K> struct kinds {
  static constexpr bool one = true;  // one tensor is taken
  static constexpr named_kind of(std::size_t i) {
    constexpr named_kind all[] = {K...};
    return all[i < sizeof...(K) ? i : sizeof...(K) - 1];
  }
  template <class... N> static constexpr bool fit() {
    std::size_t i = 0;
    return (is_of<N>(of(i++)) && ...);
  }
  template <class Places, class... N> struct fault_impl;
  template <std::size_t... I, class... N> struct fault_impl<std::index_sequence<I...>, N...> {
    using type = typename first_of<typename name_fault<of(I), N>::type...>::type;
  };
  template <class... N>
  using fault = typename fault_impl<std::index_sequence_for<N...>, N...>::type;
};

}  // namespace dimesh::detail
