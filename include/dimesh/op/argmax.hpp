// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where along a dim is the greatest element, or the smallest? Local: a rank must hold all of it.
//
//   argmax<label>(tensor<float, L, batch/rows, label>)  -> tensor<std::int32_t, L, batch/rows>
//   argmax<label>(tensor[batch, label/cols])  -> dim_is_split<label, cols>
//
// Over ranks that split the dim: argmax_all_gather.hpp.
#pragma once

#include <bit>
#include <cstdint>

#include "dimesh/local/argmax.hpp"
#include "dimesh/op/cast.hpp"
#include "dimesh/op/parts/few_places.hpp"
#include "dimesh/op/reduce.hpp"

namespace dimesh {

namespace detail {

/// Places along dim d of elements T.
template <class T, bool Greatest> struct argmax_op {
  int d;

  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(x[0].elements(), x[0].bytes() + y[0].bytes());
  }
  void fill(results y, operands in) const {
    const tensor_core& x = in[0];
    index_t outer = 1, inner = 1;
    for (int i = 0; i < d; ++i) outer *= x.local(i);
    for (int i = d + 1; i < x.rank(); ++i) inner *= x.local(i);
    if constexpr (Greatest)
      local::argmax(outer, x.local(d), inner, x.data<const T>(), y[0].data<std::int32_t>());
    else
      local::argmin(outer, x.local(d), inner, x.data<const T>(), y[0].data<std::int32_t>());
  }
};

/// A rank must hold all of D.
template <class D> struct argmax_rule {
  using named = list<D>;
  static constexpr bool of_reals = true;
  template <class First> struct dims : remaining<First, named> {};
  static constexpr outcome of(rule_operands x, dim_list out) {
    const outcome o = reduce_rule_of(x[0], dims_in<named>, out, use::partial, false);
    if (!o.ok()) return o;
    const dim_facts* const d = &facts_of_dim<D>;
    const int axis = first_axis(x[0].layout.axes_of(x[0].place_of(d)));
    return axis < 0 ? o : blamed(fault_code::dim_is_split, d, axis);
  }
};

template <class D, bool Greatest, class X> constexpr auto arg_extreme_of(const X& x) {
  require_few_places<D>(Greatest ? "argmax" : "argmin", x.template extent<D>());
  return apply_rule<argmax_rule<D>, std::int32_t>(
      argmax_op<value_of<X>, Greatest>{index_of<D, typename spec_of<X>::dims>}, x);
}

template <class D, bool Greatest, class X> constexpr auto arg_extreme(const X& x) {
  using fault = fault_of<argmax_rule<D>, X>;
  if constexpr (!ok<fault> || is_poison<X> || !has_order<X>)
    return poison{};
  else if constexpr (is_storage_only<value_of<X>>)
    return arg_extreme_of<D, Greatest>(cast<computed<value_of<X>>>(x));
  else
    return arg_extreme_of<D, Greatest>(x);
}

// Compiled once in dimesh::compiled.
DIMESH_INSTANCE(argmax_op<float, true>, 0);
DIMESH_INSTANCE(argmax_op<double, true>, 0);

}  // namespace detail

/// The place along D of the greatest element: the first of equals, the first NaN if there is one,
/// -1 if D is empty. Shapes: x without D, int32. Local. Throws dimesh::error where D has more
/// elements than int32 can number.
template <Dim D, Operand X> constexpr auto argmax(const X& x) {
  using fault = detail::fault_of<detail::argmax_rule<D>, X>;
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "argmax: the tensor lacks this dim; name its own dims");
  static_assert(ok<only<fault, dim_is_split>>,
                "argmax: the dim is split, and a rank sees its block only; take argmax_all_gather, "
                "or gather it "
                "with whole<dim> first");
  static_assert(ok<only<fault, partial_operand>>,
                "argmax: the operand is a sum yet to be made; complete it first");
  static_assert(ok<only<fault, element_is_complex>>,
                "argmax: complex numbers have no order; take real(x) or norm2(x) first");
  static_assert(ok<only<fault, dim_has_halo>>,
                "argmax: blocks of this dim carry a halo, which would count twice; take the tensor "
                "without it");
  static_assert(!ok<fault> || detail::has_order<X>,
                "argmax: elements of this type have no order that is known; cast the tensor first");
  return detail::arg_extreme<D, true>(x);
}

/// The place along D of the smallest element likewise.
template <Dim D, Operand X> constexpr auto argmin(const X& x) {
  using fault = detail::fault_of<detail::argmax_rule<D>, X>;
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "argmin: the tensor lacks this dim; name its own dims");
  static_assert(ok<only<fault, dim_is_split>>,
                "argmin: the dim is split, and a rank sees its block only; take argmin_all_gather, "
                "or gather it "
                "with whole<dim> first");
  static_assert(ok<only<fault, partial_operand>>,
                "argmin: the operand is a sum yet to be made; complete it first");
  static_assert(ok<only<fault, element_is_complex>>,
                "argmin: complex numbers have no order; take real(x) or norm2(x) first");
  static_assert(ok<only<fault, dim_has_halo>>,
                "argmin: blocks of this dim carry a halo, which would count twice; take the tensor "
                "without it");
  static_assert(!ok<fault> || detail::has_order<X>,
                "argmin: elements of this type have no order that is known; cast the tensor first");
  return detail::arg_extreme<D, false>(x);
}

}  // namespace dimesh
