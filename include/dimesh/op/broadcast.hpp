// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do values that one rank alone knows (read from a file, say) become a replicated tensor? The
// rank at one coordinate of an axis gives its block to the others along it.
//
//   broadcast<rows>(x, 0)   -> like x; every rank along rows holds what coordinate 0 held
#pragma once

#include "dimesh/collective/broadcast.hpp"
#include "dimesh/op/parts/transition.hpp"

namespace dimesh {

namespace detail {

/// Elements T, along axis a.
template <class T> struct broadcast_op {
  int a = 0, root = 0;
  static constexpr bool takes_complex = true;

  void fill(results y, operands x) const {
    const auto& grid = *x[0].grid;
    T* const to = y[0].data<T>();
    const index_t n = x[0].elements();
    if (grid.coords()[a] == root) collective::copy(x[0].data<T>(), to, n);
    collective::broadcast(grid.along(1u << a), to, n, root);
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

template <class A, class X> struct broadcast_fault {
  using mesh = typename spec_of<X>::mesh;
  static constexpr auto find() {
    constexpr int a = axis_index<mesh, A>;
    if constexpr (a < 0)
      return tag<axis_not_in_mesh<A, mesh>>{};
    else if constexpr (spec_of<X>::table.axis[a].what != use::replicated)
      return tag<axis_not_replicated<A>>{};
    else
      return tag<no_fault>{};
  }
  using type = typename decltype(find())::type;
};
template <class A, class X>
  requires is_poison<X>
struct broadcast_fault<A, X> {
  using type = no_fault;
};

}  // namespace detail

/// x as the ranks at coordinate `root` of A hold it. Shapes stay. Throws dimesh::error if A has no
/// such coordinate.
template <Axis A, Operand X> constexpr auto broadcast(const X& x, int root = 0) {
  using fault = typename detail::broadcast_fault<A, X>::type;
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
    constexpr int a = axis_index<typename spec_of<X>::mesh, A>;
    const index_t size = detail::sizes_of(x)[a];
    if (root < 0 || root >= size)
      throw error("broadcast: axis " + detail::quoted<A>() + " has coordinates 0.." +
                  std::to_string(size - 1) + ", not " + std::to_string(root));
    return detail::apply_as<spec_of<X>>(detail::broadcast_op<value_of<X>>{a, root}, x);
  }
}

}  // namespace dimesh
