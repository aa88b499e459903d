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

/// What a stencil's function may know of an operand: its elements, its dims as they are stored, and
/// which of these have halos (bit d). Not how they are split, so that functions and kernels are
/// compiled once for all layouts.
template <class T, class Dims, unsigned Halos> struct seen_tensor {
  using value_type = T;
  using dims = Dims;
  static constexpr int rank = Dims::size;
  static constexpr unsigned halos = Halos;
};
constexpr unsigned dims_with_halos(const table& t, int rank) {
  unsigned mask = 0;
  for (int d = 0; d < rank; ++d) mask |= t.halo[d] > 0 ? 1u << d : 0u;
  return mask;
}
template <class S>
using seen_of =
    seen_tensor<typename S::value_type, typename S::dims, dims_with_halos(S::table, S::rank)>;

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

/// How far neighbours are apart in memory: the strides of a stored block, the last of them 1.
template <class V> struct distances {
  index_t stride[V::rank + 1] = {};

  template <class D> KOKKOS_FORCEINLINE_FUNCTION constexpr index_t along() const {
    if constexpr (index_of<D, typename V::dims> == V::rank - 1)
      return 1;
    else
      return stride[index_of<D, typename V::dims>];
  }
  template <class... D, class... I>
  KOKKOS_FORCEINLINE_FUNCTION constexpr index_t offset(I... by) const {
    return (index_t{0} + ... + (static_cast<index_t>(by) * along<D>()));
  }
};

/// An element of a block and its neighbours, as values.
template <class V> struct seen_values {
  using tensor = V;
  using value = typename V::value_type;
  const value* here;
  distances<V> far;
  template <class... D, class... I> KOKKOS_FORCEINLINE_FUNCTION value get(I... by) const {
    return here[far.template offset<D...>(by...)];
  }
};

/// The same as dual numbers: the neighbour at a distance in memory is the variable.
template <class V> struct seen_duals {
  using tensor = V;
  using T = typename V::value_type;
  using value = dual<T, 1>;
  const T* here;
  distances<V> far;
  index_t variable;
  template <class... D, class... I> KOKKOS_FORCEINLINE_FUNCTION value get(I... by) const {
    const index_t away = far.template offset<D...>(by...);
    value v(here[away]);
    v.partial[0] = away == variable ? T(1) : T(0);
    v.active = 1u;
    return v;
  }
};

/// Writes down which neighbours are asked for.
template <class V> struct seen_nothing {
  using tensor = V;
  using value = typename V::value_type;
  distances<V> far;
  std::vector<index_t>* asked;
  template <class... D, class... I> value get(I... by) const {
    const index_t away = far.template offset<D...>(by...);
    for (const index_t known : *asked)
      if (known == away) return value(1);
    asked->push_back(away);
    return value(1);
  }
};

/// What X sees, as dual numbers whose derivatives are what W sees: all neighbours move at once.
template <class G, class X, class W> struct seen_moving {
  using tensor = typename X::tensor;
  using value = dual<G, 1>;
  X x;
  W w;
  template <class... D, class... I> KOKKOS_FORCEINLINE_FUNCTION value get(I... by) const {
    value v(G(x.template get<D...>(by...)));
    v.partial[0] = G(w.template get<D...>(by...));
    v.active = 1u;
    return v;
  }
};
/// What X sees, as dual numbers that do not move; other than real numbers as they are.
template <class G, class X> struct seen_still {
  using tensor = typename X::tensor;
  using value =
      std::conditional_t<is_real<typename tensor::value_type>, dual<G, 1>, typename X::value>;
  X x;
  template <class... D, class... I> KOKKOS_FORCEINLINE_FUNCTION value get(I... by) const {
    if constexpr (is_real<typename tensor::value_type>)
      return value(G(x.template get<D...>(by...)));
    else
      return x.template get<D...>(by...);
  }
};

}  // namespace detail

/// The neighbour at these distances along D..., each at most the width of the halo. Dims that are
/// not named stay where they are.
template <Dim... D, class Seen, class... I>
KOKKOS_FORCEINLINE_FUNCTION auto at(const Seen& u, I... by) {
  using fault = typename detail::look_fault<typename Seen::tensor, D...>::type;
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
