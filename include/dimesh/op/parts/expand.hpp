// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does the gradient of a sum get back to what was summed? Every element counted once, so each
// gets the sum's cotangent: copied along the dims that were summed, each rank its own block.
//
//   expand_op<float>(cotangent of sum<hidden>(x))  -> the cotangent of x
#pragma once

#include "dimesh/local/map_over.hpp"
#include "dimesh/local/reduce.hpp"  // itself
#include "dimesh/op/parts/apply_rule.hpp"
#include "dimesh/op/parts/loop_plan.hpp"

namespace dimesh::detail {

template <class T, class From> struct sum_to_op;

/// weight * x, elements T, from a tensor x of From that lacks some of the result's dims.
template <class T, class From = T> struct expand_op {
  using factor = std::conditional_t<is_complex<From>, computed<From>, double>;
  factor weight = factor(1);
  static constexpr bool takes_complex = true;

  struct scale {
    computed<From> weight;
    KOKKOS_INLINE_FUNCTION computed<From> operator()(computed<From> x) const { return weight * x; }
  };
  void fill(results y, operands x) const {
    const auto loops = loops_over(loop_dims(y[0]), y[0], x[0]);
    if (weight == factor(1))
      local::map_over(loops, local::detail::itself{}, y[0].data<T>(), x[0].data<const From>());
    else
      local::map_over(loops, scale{static_cast<computed<From>>(weight)}, y[0].data<T>(),
                      x[0].data<const From>());
  }
  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(0, y[0].bytes() + x[0].bytes());
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const {
    to.give(0, sum_to_op<From, T>{conjugate(static_cast<computed<From>>(weight))}, to.ybar);
  }
};

}  // namespace dimesh::detail
