// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do the dims of a tensor change their order in memory? Locally: layouts name dims, not places.
//
//   permute<hidden, batch>(x[batch/rows, hidden])  -> [hidden, batch/rows]
//   permute<batch, hidden>(x[batch, hidden])       -> x itself
#pragma once

#include "dimesh/op/parts/expand.hpp"

namespace dimesh {

namespace detail {

/// The spec with the dims of Out, a permutation of its own.
template <class Out, class S> struct permuted_table {
  static constexpr table result = table_over<S, Out>;
};

/// Elements T; the dims of the result are those of the operand in its order.
template <class T> struct permute_op {
  static constexpr bool takes_complex = true;

  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(0, y[0].bytes() + x[0].bytes());
  }
  void fill(results y, operands x) const {
    local::map_over(loops_over(loop_dims(y[0]), y[0], x[0]), identity_function{}, y[0].data<T>(),
                    x[0].data<const T>());
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const { to.give(0, permute_op{}, to.ybar); }
};
template <class Out, class S>
using permuted_spec =
    spec_of_table<typename S::value_type, typename S::mesh, Out, permuted_table<Out, S>>;

/// x with its dims in the order of Out; x itself if that is its order.
template <class Out, class X> constexpr auto permuted(const X& x) {
  if constexpr (std::is_same_v<Out, typename spec_of<X>::dims>)
    return x;
  else
    return apply_as<permuted_spec<Out, spec_of<X>>>(permute_op<value_of<X>>{}, x);
}

/// Dims without D, then Last...
template <class D, class Dims, class... Last> struct without_dim;
template <class D, class... E, class... Last> struct without_dim<D, list<E...>, Last...> {
  template <class X> using kept = std::conditional_t<std::is_same_v<X, D>, list<>, list<X>>;
  using type = typename concat_impl<list<>, kept<E>..., list<Last...>>::type;
};

/// x with D last in storage.
template <class D, class X> constexpr auto with_last(const X& x) {
  return permuted<typename without_dim<D, typename spec_of<X>::dims, D>::type>(x);
}

template <class Out, class X> struct permute_fault {
  template <class... O> static constexpr auto find(list<O...>) {
    using dims = typename spec_of<X>::dims;
    constexpr int stray = [] {
      int i = 0, found = -1;
      ((found = found < 0 && index_of<O, dims> < 0 ? i : found, ++i), ...);
      return found;
    }();
    constexpr int missing = [] {
      for (int d = 0; d < dims::size; ++d)
        if (places<dims, Out>::at[d] < 0) return d;
      return -1;
    }();
    using twice = typename repeated_fault_of<Out>::type;
    if constexpr (!ok<twice>)
      return tag<twice>{};
    else if constexpr (stray >= 0)
      return tag<dim_not_in_tensor<type_at<stray, Out>>>{};
    else if constexpr (missing >= 0)
      return tag<dim_not_in_order<type_at<missing, dims>>>{};
    else
      return tag<no_fault>{};
  }
  using type = typename decltype(find(Out{}))::type;
};
template <class Out, class X>
  requires is_poison<X>
struct permute_fault<Out, X> {
  using type = no_fault;
};

// Compiled once in dimesh::compiled.
DIMESH_INSTANCE(permute_op<float>, 0);
DIMESH_INSTANCE(permute_op<float>, 1);
DIMESH_INSTANCE(permute_op<double>, 0);
DIMESH_INSTANCE(permute_op<double>, 1);

}  // namespace detail

/// The same tensor stored with its dims in the order Out... (each of its dims once). Local.
template <Dim... Out, Operand X> constexpr auto permute(const X& x) {
  using fault = typename detail::permute_fault<detail::list<Out...>, X>::type;
  static_assert(ok<only<fault, dim_repeated>>,
                "permute: a dim stands twice in the new order; name each once");
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "permute: the tensor lacks a dim of the new order; leave it out");
  static_assert(ok<only<fault, dim_not_in_order>>,
                "permute: the new order leaves out a dim of the tensor; name all");
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else
    return detail::permuted<detail::list<Out...>>(x);
}

}  // namespace dimesh
