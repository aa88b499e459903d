// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a comparison give where nobody may branch on it? The function of a stencil is asked
// once which neighbours it reads. One that reads others where an element is greater would hide
// them, and its gradient would lack them: so its comparisons are no bool then.
//
//   select(at<>(u) > 0, at<row>(u, 1), at<row>(u, -1))   -> reads both
//   if (at<>(u) > 0) ...                                 -> branch_on_element<bool>
#pragma once

#include <type_traits>

#include "dimesh/layout/fault.hpp"
#include "dimesh/local/math.hpp"

namespace dimesh {

template <class T, int N> struct dual;

/// In place of a number of variables: a value that only shows what a function looks at, and must
/// not choose by it what it looks at next. Its comparisons are no bool.
inline constexpr int looking = -1;

namespace detail {

/// A comparison of elements: for `select`, not for `if`.
struct choice {
  bool holds;
  template <class B>
    requires std::is_same_v<B, bool>
  operator B() const {
    static_assert(ok<std::conditional_t<std::is_void_v<B>, no_fault, branch_on_element<B>>>,
                  "stencil: the function branches on an element, and its gradient sees one branch; "
                  "choose between values: select(c, x, y)");
    return holds;
  }
  friend choice operator!(choice a) { return {!a.holds}; }
  friend choice operator&(choice a, choice b) { return {a.holds && b.holds}; }
  friend choice operator|(choice a, choice b) { return {a.holds || b.holds}; }
  friend choice operator&&(choice a, choice b) { return {a.holds && b.holds}; }
  friend choice operator||(choice a, choice b) { return {a.holds || b.holds}; }
};
template <class D> struct comparison {
  using type = bool;
};
template <class T> struct comparison<dual<T, looking>> {
  using type = choice;
};
/// What comparing gives whose joint type is D.
template <class D> using comparison_t = typename comparison<D>::type;

}  // namespace detail

}  // namespace dimesh
