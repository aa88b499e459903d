// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does an axis stop splitting one dim and split another? Every rank along it gives every other
// the part of its block that falls into the other one's new block. The backward pass is the
// reverse.
//
//   all_to_all<batch, hidden, rows>(tensor<T, layout<pod, split<batch, rows>>, batch, hidden>)
//     -> tensor<T, layout<pod, split<hidden, rows>>, batch, hidden>    (n-1)/n of the block a rank
#pragma once

#include "dimesh/op/exchange.hpp"

namespace dimesh {

namespace detail {

/// Axis a moves from the minor end of one dim to that of another.
constexpr outcome all_to_all_rule_of(const tensor_facts& x, int a, const dim_facts* from,
                                     const dim_facts* to, bool uneven, bool ragged) {
  if (a < 0) return blamed_place(fault_code::axis_not_in_mesh, 0);
  for (const dim_facts* const d : {from, to})
    if (x.place_of(d) < 0) return blamed(fault_code::dim_not_in_tensor, d);
  const axis_use u = x.layout.axis[a];
  if (u.what != use::split || u.dim != x.place_of(from))
    return blamed_axis(fault_code::axis_splits_nothing, a);
  if (u.level + 1 != x.layout.split_count(u.dim))
    return blamed(fault_code::axis_not_innermost_of_dim, from, a);
  return without_halos_only(x, relaid(x, with_split(x.layout, a, x.place_of(to), uneven, ragged)));
}
/// To may be written uneven<To>.
template <class From, class To, class A> struct all_to_all_rule : keeps_dims {
  using named = list<From, plain_dim<To>>;
  using axes = list<A>;
  static constexpr outcome of(rule_operands x, dim_list) {
    return all_to_all_rule_of(x[0], x[0].axis_of(type_number<A>), &facts_of_dim<From>,
                              &facts_of_dim<plain_dim<To>>, bare_dim<To>::uneven,
                              bare_dim<To>::ragged);
  }
};

}  // namespace detail

/// Axis A splits To (which may be written uneven<To>) at its minor end, instead of From. Shapes
/// stay.
template <Dim From, class To, Axis A, Operand X>
  requires(!std::is_same_v<From, detail::plain_dim<To>>)
constexpr auto all_to_all(const X& x) {
  using rule = detail::all_to_all_rule<From, To, A>;
  using fault = detail::fault_of<rule, X>;
  static_assert(
      ok<only<fault, axis_not_in_mesh>>,
      "all_to_all: the tensor's mesh lacks this axis; name one that splits a dim of the tensor");
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "all_to_all: the tensor lacks one of the two dims; name dims of the tensor");
  static_assert(ok<only<fault, axis_splits_nothing>>,
                "all_to_all: the axis does not split the first dim; name the dim that it splits");
  static_assert(ok<only<fault, axis_not_innermost_of_dim>>,
                "all_to_all: another axis cuts the blocks of this one; move that axis first, or "
                "use relayout");
  static_assert(
      ok<only<fault, dim_has_halo>>,
      "all_to_all: blocks with halos stay where they are; move them before halo_exchange");
  static_assert(
      ok<only_not_divisible<fault>>,
      "all_to_all: the extent of the second dim is not a multiple of its mesh axes; change one, or "
      "say all_to_all<dim, uneven<dim>, axis>");
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else
    return detail::apply_rule<rule, value_of<X>>(detail::exchange_op<value_of<X>>{}, x);
}

}  // namespace dimesh
