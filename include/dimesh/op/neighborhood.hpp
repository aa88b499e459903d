// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a stencil's function see of a tensor? An element and its neighbours, by name and
// distance. The same function runs on values, on dual numbers, and once to tell which neighbours it
// reads.
//
//   at<row, col>(u, -1, 0)   -> the element one row up
//   at<>(u)                  -> the element itself
#pragma once

#include <vector>

#include "dimesh/local/dual.hpp"
#include "dimesh/op/parts/transition.hpp"

namespace dimesh {

namespace detail {

template <class S, class D> struct at_fault {
  static constexpr int d = index_of<D, typename S::dims>;
  template <bool Has> static constexpr auto find() {
    if constexpr (!Has)
      return tag<dim_not_in_tensor<D>>{};
    else if constexpr (S::table.halo[d] == 0)
      return tag<dim_has_no_halo<D>>{};
    else
      return tag<no_fault>{};
  }
  using type = typename decltype(find<(d >= 0)>())::type;
};

/// The first thing that is wrong with looking along D...
template <class S, class... D> struct look_fault {
  using type = no_fault;
};
template <class S, class D, class... Rest>
struct look_fault<S, D, Rest...> : look_fault<S, Rest...> {};
template <class S, class D, class... Rest>
  requires(!ok<typename at_fault<S, D>::type>)
struct look_fault<S, D, Rest...> : at_fault<S, D> {};

/// The spec of the tensor that an accessor sees.
template <class Seen> struct spec_seen;
template <template <class> class Seen, class S> struct spec_seen<Seen<S>> {
  using type = S;
};

/// How far neighbours are apart in memory: the strides of a stored block, the last of them 1.
template <class S> struct distances {
  index_t stride[S::rank + 1] = {};

  template <class D> KOKKOS_FORCEINLINE_FUNCTION constexpr index_t along() const {
    if constexpr (index_of<D, typename S::dims> == S::rank - 1)
      return 1;
    else
      return stride[index_of<D, typename S::dims>];
  }
  template <class... D, class... I>
  KOKKOS_FORCEINLINE_FUNCTION constexpr index_t offset(I... by) const {
    return (index_t{0} + ... + (static_cast<index_t>(by) * along<D>()));
  }
};

/// An element of a block and its neighbours, as values.
template <class S> struct seen_values {
  using T = typename S::value_type;
  const T* here;
  distances<S> far;
  template <class... D, class... I> KOKKOS_FORCEINLINE_FUNCTION T get(I... by) const {
    return here[far.template offset<D...>(by...)];
  }
};

/// The same as dual numbers: the neighbour at a distance in memory is the variable.
template <class S> struct seen_duals {
  using T = typename S::value_type;
  const T* here;
  distances<S> far;
  index_t variable;
  template <class... D, class... I> KOKKOS_FORCEINLINE_FUNCTION dual<T, 1> get(I... by) const {
    const index_t away = far.template offset<D...>(by...);
    dual<T, 1> v(here[away]);
    v.partial[0] = away == variable ? T(1) : T(0);
    v.active = 1u;
    return v;
  }
};

/// Writes down which neighbours are asked for.
template <class S> struct seen_nothing {
  using T = typename S::value_type;
  distances<S> far;
  std::vector<index_t>* asked;
  template <class... D, class... I> T get(I... by) const {
    const index_t away = far.template offset<D...>(by...);
    for (const index_t known : *asked)
      if (known == away) return T(1);
    asked->push_back(away);
    return T(1);
  }
};

}  // namespace detail

/// The neighbour at these distances along D..., each at most the width of the halo. Dims that are
/// not named stay where they are.
template <Dim... D, class Seen, class... I>
KOKKOS_FORCEINLINE_FUNCTION auto at(const Seen& u, I... by) {
  using fault = typename detail::look_fault<typename detail::spec_seen<Seen>::type, D...>::type;
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "at: the tensor lacks this dim; name one of its dims");
  static_assert(ok<only<fault, dim_has_no_halo>>,
                "at: the tensor has no halo along this dim, so no neighbours; call halo_exchange "
                "first, or leave the dim out");
  static_assert(sizeof...(D) == sizeof...(I),
                "at: one distance is needed for each dim; give as many");
  if constexpr (ok<fault> && sizeof...(D) == sizeof...(I))
    return u.template get<D...>(by...);
  else
    return poison{};
}

}  // namespace dimesh
