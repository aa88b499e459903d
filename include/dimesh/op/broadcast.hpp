// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does what one rank alone holds become a replicated tensor? The ranks at one coordinate of an
// axis give their blocks to the others along it: of a tensor that lives there (placed<stage, 1>),
// or of values that only they know (read from a file, say).
//
//   broadcast<stage>(x)     of a tensor that lives at one place of the axis: all ranks hold it
//   broadcast<rows>(x, 0)   -> like x; every rank along rows holds what coordinate 0 held
#pragma once

#include "dimesh/detail/names.hpp"
#include "dimesh/op/parts/places.hpp"
#include "dimesh/op/refusals/misuse.hpp"

namespace dimesh {

namespace detail {

template <class A> struct broadcast_rule : keeps_dims {
  using axes = list<A>;
  static constexpr outcome of(rule_operands x, dim_list) {
    const int a = x[0].axis_of(type_number<A>);
    if (a < 0) return blamed_place(fault_code::axis_not_in_mesh, 0);
    const use what = x[0].layout.axis[a].what;
    if (what == use::placed) return allowed(tidied(x[0], without_axes(x[0].layout, 1u << a)));
    return what == use::replicated ? allowed(x[0].layout)
                                   : blamed_axis(fault_code::axis_not_replicated, a);
  }
};
/// Of what is replicated by type: from the rank that the caller names.
template <class A> struct replicate_rule : broadcast_rule<A> {
  static constexpr outcome of(rule_operands x, dim_list out) {
    const int a = x[0].axis_of(type_number<A>);
    if (a >= 0 && x[0].layout.axis[a].what == use::placed)
      return blamed_axis(fault_code::tensor_is_placed, a);
    return broadcast_rule<A>::of(x, out);
  }
};

}  // namespace detail

/// x as its place along A has it, or, where it is replicated, the ranks at coordinate 0; every rank
/// along A holds it. Shapes stay. Placed, or replicated, along A -> replicated. Communicates: one
/// broadcast along A; its transpose sums the cotangent at that place, where it is not whole yet.
template <Axis A, Operand X> constexpr auto broadcast(const X& x) {
  using rule = detail::broadcast_rule<A>;
  using fault = detail::fault_of<rule, X>;
  static_assert(
      ok<only<fault, axis_not_in_mesh>>,
      "broadcast: the tensor's mesh lacks this axis; name one along which it has a place, or is "
      "replicated");
  static_assert(
      ok<only<fault, axis_not_replicated>>,
      "broadcast: the tensor is not replicated along this axis; its ranks hold different parts, "
      "which relayout can move");
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    detail::check<rule>("broadcast", x);
    constexpr int a = axis_index<typename spec_of<X>::mesh, A>;
    return detail::apply_rule<rule, value_of<X>>(detail::broadcast_op<value_of<X>>{a, 0}, x);
  }
}

/// x, which is replicated by type, as the ranks at coordinate `root` of A hold it. Shapes stay.
/// Throws dimesh::error if A has no such coordinate.
template <Axis A, Operand X> constexpr auto broadcast(const X& x, int root) {
  using rule = detail::replicate_rule<A>;
  using fault = detail::fault_of<rule, X>;
  static_assert(
      ok<only<fault, axis_not_in_mesh>>,
      "broadcast: the tensor's mesh lacks this axis; name one that the tensor is replicated along");
  static_assert(
      ok<only<fault, axis_not_replicated>>,
      "broadcast: the tensor is not replicated along this axis; its ranks hold different parts, "
      "which relayout can move");
  static_assert(ok<only<fault, tensor_is_placed>>,
                "broadcast: the tensor lives at one place of this axis, which its type says; leave "
                "out the number");
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    detail::check<rule>("broadcast", x);
    constexpr int a = axis_index<typename spec_of<X>::mesh, A>;
    const index_t size = detail::sizes_of(x)[a];
    if (root < 0 || root >= size)
      throw error("broadcast: axis " + detail::quoted<A>() + " has coordinates 0.." +
                  std::to_string(size - 1) + ", not " + std::to_string(root));
    return detail::apply_rule<rule, value_of<X>>(detail::broadcast_op<value_of<X>>{a, root}, x);
  }
}

// ---- names and arguments of the wrong kind ------------------------------------------------------

namespace detail {
using broadcast_call = call_taking<one_axis, 1, a_tensor, int>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::broadcast_call, detail::list<N...>, A...>
constexpr poison broadcast(const A&...) {
  static_assert(ok<detail::misuse<detail::broadcast_call, detail::list<N...>, A...>>,
                "broadcast: an axis stands in the angle brackets, a tensor in the parentheses: "
                "broadcast<rows>(x)");
  return {};
}

}  // namespace dimesh
