// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// By which schedules can a contraction move its operands? As types: functions of the operands'
// layouts, which say under which layouts they meet, what is wrong where they do not, and how deep
// the panels are in which blocks go by.
//
//   contract<by::ring<rows>, m, n>(x, y)     contract<by::best<>, m, n>(x, y)
#pragma once

#include "dimesh/op/parts/cheapest_meeting.hpp"

namespace dimesh {

/// The schedules of `contract`.
namespace by {

/// Splits are given up, and what is replicated is cut, where that costs the fewest bytes; then one
/// local product, partial where a summed dim stays split.
struct gather {
  using axes = detail::list<>;
  static constexpr detail::contract_meeting meet(detail::rule_operands x, detail::dim_list out) {
    return detail::cheapest_meeting(x, out);
  }
};
/// One local product, each operand cut (free) where the other one is split; the addends along A are
/// summed, and D is split over A: half the bytes of an all_reduce. D may be uneven<dim>.
template <class D, class A> struct reduce_scatter {
  using axes = detail::list<A>;
  static constexpr detail::contract_meeting meet(detail::rule_operands x, detail::dim_list out) {
    return detail::cut_meeting(x, out);
  }
};
/// The blocks of the smaller operand that A cuts go from neighbour to neighbour along A; the next
/// one travels while the product with this one is computed. Memory: two blocks, of the gradient
/// three. Which is smaller, and so what the result is split over, types say: an extent that only
/// the run knows counts 64, and of equals the second travels.
template <class A> struct ring {
  using axes = detail::list<A>;
  static constexpr index_t depth = 0;
  static constexpr detail::contract_meeting meet(detail::rule_operands x, detail::dim_list out) {
    const int a = x[0].axis_of(detail::type_number<A>);
    if (a < 0) return detail::no_meeting(detail::blamed_place(fault_code::axis_not_in_mesh, 0));
    return detail::ring_meeting(x, out, a);
  }
};
/// SUMMA (van de Geijn and Watts 1997): the summed dim is split over Cols in the one operand, over
/// Rows in the other; panels of both, at most Depth elements deep, are broadcast, one ahead of the
/// product. With a Spare axis, which both operands replicate, its ranks share the panels out, and
/// the result is partial along it (Solomonik and Demmel 2011).
template <class Rows, class Cols, index_t Depth = 256, class... Spare>
  requires(Depth >= 2 && sizeof...(Spare) <= 1)
struct summa {
  using axes = detail::list<Rows, Cols, Spare...>;
  static constexpr index_t depth = Depth;
  static constexpr detail::contract_meeting meet(detail::rule_operands x, detail::dim_list out) {
    const int a[] = {x[0].axis_of(detail::type_number<Rows>),
                     x[0].axis_of(detail::type_number<Cols>),
                     x[0].axis_of(detail::type_number<Spare>)..., -1};
    for (int i = 0; i < 2 + static_cast<int>(sizeof...(Spare)); ++i)
      if (a[i] < 0)
        return detail::no_meeting(detail::blamed_place(fault_code::axis_not_in_mesh, i));
    return detail::panel_meeting(x, out, a[0], a[1], a[2]);
  }
};

/// Whatever brings the result under layout L with the fewest bytes received; an operand that holds
/// addends is summed before the product, or the result is. Without L, its dims keep the splits that
/// they have in the operands, the first one's first. Memory: the bytes of operands that a rank may
/// gather at once (0: any); beyond it a ring or panels, whose gradients gather nothing either.
/// Where neither is possible it does not compile, and says what the smallest gather needs. The
/// compiler chooses; where an extent or an axis is known at run time only, the run does, on all
/// ranks alike, and throws dimesh::error where nothing fits.
template <class L = void, index_t Memory = 0> struct best {
  using axes = detail::list<>;
};

}  // namespace by

}  // namespace dimesh
