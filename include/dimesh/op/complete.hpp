// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a program say "make this whole" under every layout? complete sums what is partial, if
// anything is: the one text then serves every layout, and compiles to nothing where no sum arises.
//
//   complete(tensor<T, layout<pod, partial<rows>, partial<cols>>, hidden>)  -> one all-reduce
//   complete(tensor<T, layout<pod, split<hidden, rows>>, hidden>)           -> its argument
#pragma once

#include "dimesh/op/all_reduce.hpp"

namespace dimesh {

namespace detail {
template <use Kind, class X> constexpr auto complete_kind(const X& x) {
  constexpr unsigned axes = spec_of<X>::table.mask(Kind);
  if constexpr (axes == 0)
    return x;
  else
    return all_reduced<Kind, axes>(x);
}

/// Addends of elements that have no sum.
template <class X> struct addends_fault {
  static constexpr bool sums = element_traits<value_of<X>>::is_summable;
  using type = std::conditional_t<spec_of<X>::table.mask(use::partial) == 0 || sums, no_fault,
                                  element_not_summable<value_of<X>>>;
};
template <class X>
  requires is_poison<X>
struct addends_fault<X> {
  using type = no_fault;
};
}  // namespace detail

/// The value of x: sums over all axes along which it is partial in one call (and likewise maxima,
/// minima). Shapes stay; what is not partial is returned as it is, sharing its memory.
template <Operand X> constexpr auto complete(const X& x) {
  using fault = typename detail::addends_fault<X>::type;
  static_assert(ok<only<fault, element_not_summable>>,
                "complete: ranks cannot add up elements of this type; cast the tensor first");
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else if constexpr (!spec_of<X>::table.any_partial())
    return x;
  else
    return detail::complete_kind<use::partial_min>(
        detail::complete_kind<use::partial_max>(detail::complete_kind<use::partial>(x)));
}

}  // namespace dimesh
