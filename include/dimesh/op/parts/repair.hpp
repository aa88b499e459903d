// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What would make a product that einsum refuses legal at the least cost? The fault names it: the
// operand to relayout, the layout, and the bytes that each rank then receives (even blocks), where
// extents and axes are known to the compiler.
//
//   repairable<dims_share_mesh_axis<batch, hidden, rows>, relayout_operand<2, layout<pod>>,
//              received_bytes<144>>
#pragma once

#include "dimesh/op/parts/cheapest_meeting.hpp"

namespace dimesh {

/// A fault and its cheapest repair.
template <class Fault, class... Repair> struct repairable;
/// relayout<L> of this operand, the first one being 1.
template <int Operand, class L> struct relayout_operand;
template <long Bytes> struct received_bytes;

namespace detail {

template <class Out, class A, class B> struct cheapest_repair {
  static constexpr rule_operands operands{facts_list<A, B>::at, 2};
  static constexpr contract_meeting value = cheapest_meeting(operands, dims_in<Out>);
  template <int K> struct meets {
    static constexpr table result = value.whole[K];
  };
  static constexpr bool is_sized() {
    for (int k = 0; k < 2; ++k) {
      if (!operands[k].is_static) return false;
      for (int a = 0; a < operands[k].layout.axes; ++a)
        if (operands[k].axis_sizes()[a] < 1) return false;
    }
    return true;
  }
  template <int K, class S> static constexpr auto moved() {
    if constexpr (meets<K>::result == S::table)
      return list<>{};
    else
      return list<
          relayout_operand<K + 1, layout_type<typename S::mesh, typename S::dims, meets<K>>>>{};
  }
  static constexpr auto bytes() {
    if constexpr (is_sized())
      return list<received_bytes<static_cast<long>(value.bytes)>>{};
    else
      return list<>{};
  }
  template <class Fault, class... R> static auto join(list<R...>) -> repairable<Fault, R...>;
  template <class Fault> static constexpr auto find() {
    if constexpr (!value.found.ok())
      return tag<Fault>{};
    else
      return tag<decltype(join<Fault>(
          typename concat_impl<decltype(moved<0, A>()), decltype(moved<1, B>()),
                               decltype(bytes())>::type{}))>{};
  }
};
template <class Fault, class Out, class... S> struct repair_of {
  using type = Fault;
};
template <class Out, class A, class B> struct repair_of<no_fault, Out, A, B> {
  using type = no_fault;
};
template <class Fault, class Out, class A, class B> struct repair_of<Fault, Out, A, B> {
  using type = typename decltype(cheapest_repair<Out, A, B>::template find<Fault>())::type;
};

}  // namespace detail

/// A fault of a product of X..., with its cheapest repair where there are two operands.
template <class Fault, class Out, class... X> struct repair_named {
  using type = typename detail::repair_of<Fault, Out, spec_of<X>...>::type;
};
template <class Out, class... X> struct repair_named<no_fault, Out, X...> {
  using type = no_fault;
};
template <class Fault, class Out, class... X>
using with_repair = typename repair_named<Fault, Out, X...>::type;

}  // namespace dimesh
