// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An operation of one's own that gradients would leave out, although it has a transpose.
// expect: gradient: this operation has a transpose, but does not say what that reads; add static constexpr bool needs(int k, unsigned wanted)
// lines: 23
#include <dimesh/dimesh.hpp>
#include <dimesh/op/operation.hpp>

#include "names.hpp"

struct twice_op {
  void fill(dm::results y, dm::operands x) const {
    for (dm::index_t i = 0; i < x[0].elements(); ++i)
      y[0].data<float>()[i] = 2 * x[0].data<float>()[i];
  }
  constexpr void cost(dm::cost_counter& c, dm::results y, dm::operands x) const {
    c.compute(y[0].elements(), y.bytes() + dm::bytes_of(x));
  }
#ifndef COMPILE_FAIL
  static constexpr bool needs(int, unsigned) { return false; }
#endif
  constexpr void transpose(const auto& to) const { to.give(0, twice_op{}, to.ybar); }
};

template <class X> auto twice(const X& x) { return dm::apply_as<dm::spec_of<X>>(twice_op{}, x); }

using weights = dm::tensor<float, whole, hidden>;
auto f(const weights& w) {
#ifdef COMPILE_FAIL
  const auto loss = [](const auto& p) { return dm::sum(twice(p) * p); };
#else
  const auto loss = [](const auto& p) { return dm::sum(twice(p) * p); };
#endif
  return dm::value_and_grad(loss, w)();
}
