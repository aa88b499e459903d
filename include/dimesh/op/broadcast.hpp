// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do values that one rank alone knows (read from a file, say) become a replicated tensor? The
// rank at one coordinate of an axis gives its block to the others along it.
//
//   broadcast<rows>(x, 0)   -> like x; every rank along rows holds what coordinate 0 held
#pragma once

#include "dimesh/collective/broadcast.hpp"
#include "dimesh/core/flight.hpp"
#include "dimesh/op/parts/transition.hpp"

namespace dimesh {

namespace detail {

/// Elements T, along axis a.
template <class T> struct broadcast_op {
  int a = 0, root = 0;
  static constexpr event_kind kind = event_kind::broadcast;
  static constexpr bool takes_complex = true;

  void fill(results y, operands x) const { give(y, x, nullptr); }
  void start(results y, operands x, flight& f) const {
    f.axes = 1u << a;
    give(y, x, &f.under_way);
  }
  void give(results y, operands x, collective::requests* later) const {
    const auto& grid = *x[0].grid;
    T* const to = y[0].data<T>();
    const index_t n = x[0].elements();
    if (grid.coords()[a] == root) collective::copy(x[0].data<T>(), to, n);
    collective::broadcast(grid.along(1u << a), to, n, root, collective::most_per_call<T>, later);
  }
  constexpr void cost(tally& t, results y, operands x) const {
    const index_t bytes = y[0].bytes();
    if (x[0].sizes()[a] > 1 && bytes > 0)
      t.collective(event_kind::broadcast, 1u << a, root == 0 ? bytes : 0, bytes);
  }
  static constexpr bool needs(int, unsigned) { return false; }
  /// Where x is what its type says, this operation changes nothing: nor does its transpose.
  constexpr void transpose(const auto& to) const { to.pass(0, to.ybar); }
};

template <class A> struct broadcast_rule : keeps_dims {
  using axes = list<A>;
  static constexpr outcome of(rule_operands x, dim_list) {
    const int a = x[0].axis_of(type_number<A>);
    if (a < 0) return blamed_place(fault_code::axis_not_in_mesh, 0);
    return x[0].layout.axis[a].what == use::replicated
               ? allowed(x[0].layout)
               : blamed_axis(fault_code::axis_not_replicated, a);
  }
};

}  // namespace detail

/// x as the ranks at coordinate `root` of A hold it. Shapes stay. Throws dimesh::error if A has no
/// such coordinate.
template <Axis A, Operand X> constexpr auto broadcast(const X& x, int root = 0) {
  using rule = detail::broadcast_rule<A>;
  using fault = detail::fault_of<rule, X>;
  static_assert(
      ok<only<fault, axis_not_in_mesh>>,
      "broadcast: the tensor's mesh lacks this axis; name one that the tensor is replicated along");
  static_assert(
      ok<only<fault, axis_not_replicated>>,
      "broadcast: the tensor is not replicated along this axis; its ranks hold different parts, "
      "which relayout can move");
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

}  // namespace dimesh
