// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a tensor get another element type? Element by element; layout and dims stay.
//
//   cast<double>(tensor<float, L, batch>)        -> tensor<double, L, batch>
//   cast<float>(tensor<float, L, batch>)         -> its argument
//   cast<int>(a partial tensor of float)         -> partial_operand<axis>: complete it first
#pragma once

#include "dimesh/local/map.hpp"
#include "dimesh/op/apply.hpp"

namespace dimesh {

namespace detail {

template <class T> struct cast_function {
  template <class A> KOKKOS_INLINE_FUNCTION T operator()(const A& a) const {
    return static_cast<T>(a);
  }
};

template <class T> struct cast_op {
  template <class S> using result = with_value<S, T>;
  template <class Y, class X> constexpr void cost(tally& t, const Y& y, const X& x) const {
    t.compute(0, y.local_bytes() + x.local_bytes());
  }
  template <class Y, class X> void fill(Y& y, const X& x) const {
    const local::nest<1> all{{x.local_size()}};
    local::map(all, cast_function<T>{}, local::operand<T, local::step::unit>{y.data(), {1}},
               local::operand<const value_of<X>, local::step::unit>{x.data(), {1}});
  }
  static constexpr bool needs(int, unsigned) { return false; }
  template <bool, class B, class Y, class X>
  constexpr auto transpose(const slots<1>& to, const B& ybar, const Y&, const X&) const {
    return bundle(apply_into(cast_op<value_of<X>>{}, to, ybar));
  }
};

template <class T, class X> struct cast_fault {
  static constexpr auto find() {
    using S = spec_of<X>;
    constexpr bool exact = !std::is_integral_v<T> || std::is_integral_v<value_of<X>>;
    constexpr int axis = S::table.first_partial(!exact);
    if constexpr (axis >= 0)
      return tag<partial_operand<type_at<axis, typename S::mesh::axes>>>{};
    else
      return tag<no_fault>{};
  }
  using type = typename decltype(find())::type;
};
template <class T, class X>
  requires is_poison<X>
struct cast_fault<T, X> {
  using type = no_fault;
};

}  // namespace detail

/// The same values as elements of type T, converted as static_cast does. Local.
template <class T, Operand X> constexpr auto cast(const X& x) {
  using fault = typename detail::cast_fault<T, X>::type;
  static_assert(
      ok<only<fault, partial_operand>>,
      "cast: the operand is a sum yet to be made, and its rounded addends would not add up to it; "
      "complete it first");
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else if constexpr (std::is_same_v<T, value_of<X>>)
    return x;
  else
    return apply(detail::cast_op<T>{}, x);
}

}  // namespace dimesh
