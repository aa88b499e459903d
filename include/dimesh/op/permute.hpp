// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do the dims of a tensor change their order in memory? Locally: layouts name dims, not places.
//
//   permute<hidden, batch>(x[batch/rows, hidden])  -> [hidden, batch/rows]
//   permute<batch, hidden>(x[batch, hidden])       -> x itself
#pragma once

#include "dimesh/op/parts/expand.hpp"

namespace dimesh {

namespace detail {

/// Rule of a new order of dims.
template <class Out> struct permute_rule {
  using named = Out;
  template <class...> struct dims {
    using type = Out;
  };
  static constexpr outcome of(rule_operands x, dim_list out) {
    if (const int i = out.repeated(); i >= 0) return blamed(fault_code::dim_repeated, out[i]);
    for (int i = 0; i < out.size; ++i)
      if (x[0].place_of(out[i]) < 0) return blamed(fault_code::dim_not_in_tensor, out[i]);
    for (int d = 0; d < x[0].rank; ++d)
      if (!out.has(x[0].dim[d])) return blamed(fault_code::dim_not_in_order, x[0].dim[d]);
    return allowed(table_over_dims(x[0].layout, x[0].dims(), out));
  }
};

/// Elements T; the dims of the result are those of the operand in its order.
template <class T> struct permute_op {
  static constexpr bool takes_complex = true;

  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(0, y[0].bytes() + x[0].bytes());
  }
  void fill(results y, operands x) const {
    local::map_over(loops_over(loop_dims(y[0]), y[0], x[0]), local::detail::itself{},
                    y[0].data<T>(), x[0].data<const T>());
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const { to.give(0, permute_op{}, to.ybar); }
};
/// x with its dims in the order of Out. A reference to x itself if that is its order, for calls
/// that end before it does.
template <class Out, class X> constexpr decltype(auto) permuted(const X& x) {
  if constexpr (std::is_same_v<Out, typename spec_of<X>::dims>)
    return (x);
  else
    return apply_rule<permute_rule<Out>, value_of<X>>(permute_op<value_of<X>>{}, x);
}

/// Dims without D, then Last...
template <class D, class Dims, class... Last> struct without_dim;
template <class D, class... E, class... Last> struct without_dim<D, list<E...>, Last...> {
  template <class X> using kept = std::conditional_t<std::is_same_v<X, D>, list<>, list<X>>;
  using type = typename concat_impl<list<>, kept<E>..., list<Last...>>::type;
};

template <class D, class X>
using dims_with_last = typename without_dim<D, typename spec_of<X>::dims, D>::type;
/// x with D last in storage; a reference to x itself if it is.
template <class D, class X> constexpr decltype(auto) with_last(const X& x) {
  return permuted<dims_with_last<D, X>>(x);
}

// Compiled once in dimesh::compiled.
DIMESH_INSTANCE(permute_op<float>, 0);
DIMESH_INSTANCE(permute_op<float>, 1);
DIMESH_INSTANCE(permute_op<double>, 0);
DIMESH_INSTANCE(permute_op<double>, 1);

}  // namespace detail

/// The same tensor stored with its dims in the order Out... (each of its dims once). Local.
template <Dim... Out, Operand X> constexpr auto permute(const X& x) {
  using fault = detail::fault_of<detail::permute_rule<detail::list<Out...>>, X>;
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
