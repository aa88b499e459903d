// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which layout has what is left of a tensor when the elements along some dims are joined? Axes that
// split these dims hold parts of the result from then on.
//
//   reduce_rule<use::partial, true, hidden>: [batch/rows, hidden/cols] -> [batch/rows], and addends
//       along cols
#pragma once

#include "dimesh/core/rule_types.hpp"

namespace dimesh::detail {

/// What is left of x without some dims, over those of `out`: along the axes that split these dims
/// lie results of that kind. Addends: it takes a sum yet to be made.
constexpr outcome reduce_rule_of(const tensor_facts& x, dim_list gone, dim_list out, use kind,
                                 bool addends) {
  for (int i = 0; i < gone.size; ++i)
    if (x.place_of(gone[i]) < 0) return blamed(fault_code::dim_not_in_tensor, gone[i]);
  if (const int i = gone.repeated(); i >= 0) return blamed(fault_code::dim_repeated, gone[i]);
  if (const int a = x.layout.first_partial(!addends); a >= 0)
    return blamed_axis(fault_code::partial_operand, a);
  for (int i = 0; i < gone.size; ++i)  // elements of halos would count twice
    if (x.layout.halo[x.place_of(gone[i])].any()) return blamed(fault_code::dim_has_halo, gone[i]);
  table t = x.layout;
  for (int a = 0; a < t.axes; ++a)
    if (t.axis[a].what == use::split && !out.has(x.dim[static_cast<int>(t.axis[a].dim)]))
      t.axis[a] = {kind};
  return allowed(table_over_dims(t, x.dims(), out));
}

/// Rule of an operation that joins the elements along D...
template <use Kind, bool Addends, class... D> struct reduce_rule {
  using named = list<D...>;
  static constexpr bool of_reals = Kind == use::partial_max || Kind == use::partial_min;
  template <class First, class...> struct dims {
    using type = typename remaining<First, named>::type;
  };
  static constexpr outcome of(rule_operands x, dim_list out) {
    return reduce_rule_of(x[0], dims_in<named>, out, Kind, Addends);
  }
};
template <use Kind, class T, class S, class Gone> struct reduced_spec_impl;
template <use Kind, class T, class S, class... D> struct reduced_spec_impl<Kind, T, S, list<D...>> {
  using type = result_spec<reduce_rule<Kind, true, D...>, T, S>;
};
/// The spec of S without the dims Gone.
template <use Kind, class T, class S, class Gone>
using reduced_spec = typename reduced_spec_impl<Kind, T, S, Gone>::type;

}  // namespace dimesh::detail
