// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do cotangents flow back through products of complex elements? By functions that the product
// brings along: dual numbers know real derivatives only.
//
//   product_pulled_op<multiply_function::pulled<0>, T>   // of a in a * b: g conj(b)
#pragma once

#include "dimesh/local/map_over.hpp"
#include "dimesh/local/reduce_over.hpp"
#include "dimesh/op/parts/apply.hpp"
#include "dimesh/op/parts/loop_plan.hpp"

namespace dimesh::detail {

/// The cotangent of an operand of a product of complex elements T, by the function F of the
/// product's cotangent and both operands; summed over the dims that the operand lacks.
template <class F, class T> struct product_pulled_op {
  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(2 * x[0].elements(), y[0].bytes() + bytes_of(x));
  }
  void fill(results y, operands x) const {
    // Sums go through the product's elements in their order; everything else in that of y.
    const bool sums = y[0].rank() != x[0].rank();
    const auto loops = loops_over(loop_dims(sums ? x[0] : y[0]), y[0], x[0], x[1], x[2]);
    T* const to = y[0].data<T>();
    const T *g = x[0].data<const T>(), *a = x[1].data<const T>(), *b = x[2].data<const T>();
    if (sums)
      local::map_reduce_over(local::plus{}, loops, F{}, to, g, a, b);
    else
      local::map_over(loops, F{}, to, g, a, b);
  }
};

/// A function of one's own of complex elements, of which some are recorded.
template <class F, class... X> struct map_complex_fault {
  static constexpr auto find() {
    if constexpr ((is_poison<X> || ...))
      return tag<no_fault>{};
    else
      return tag<typename complex_fault<F, X...>::type>{};
  }
  using type = typename decltype(find())::type;
};

}  // namespace dimesh::detail
