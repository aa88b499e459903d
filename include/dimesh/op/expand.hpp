// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does the gradient of a sum get back to what was summed? Every element counted once, so each
// gets the sum's cotangent: copied along the dims that were summed, each rank its own block.
//
//   expand_op<S>(cotangent of sum<hidden>(x))  -> the cotangent of x; S the spec of x
#pragma once

#include "dimesh/detail/nest_plan.hpp"
#include "dimesh/local/map.hpp"
#include "dimesh/op/apply.hpp"

namespace dimesh::detail {

struct copy_function {
  template <class A> KOKKOS_INLINE_FUNCTION A operator()(const A& a) const { return a; }
};

/// Result: the cotangent of a tensor with spec S, from that of its sum over some dims.
template <class S> struct expand_op {
  typename S::shape_type whole;  // the shape of what was summed

  template <class> using result = cotangent_spec<S>;
  constexpr auto new_dims() const { return whole; }
  template <class Y, class X> constexpr void cost(tally& t, const Y& y, const X& x) const {
    t.compute(0, y.local_bytes() + x.local_bytes());
  }
  template <class Y, class X> void fill(Y& y, const X& x) const {
    using loop = typename spec_of<Y>::dims;
    using plan = nest_plan<loop, loop, typename spec_of<X>::dims>;
    local::map(plan::nest(y), copy_function{}, plan::template operand<0, value_of<Y>>(y.data(), y),
               plan::template operand<1, const value_of<X>>(x.data(), x));
  }
};

}  // namespace dimesh::detail
