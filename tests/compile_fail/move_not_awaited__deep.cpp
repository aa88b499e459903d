// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mistake sits three templates deep in a model, recorded for gradients or not.
// expect: await: the operand is a move that has been started, not a tensor yet
// expect: move_not_awaited<
// levels: 4
// lines: 29
// also: RECORDED
#include <dimesh/dimesh.hpp>

#include "deep.hpp"

struct step {
  template <class P, class X> auto operator()(const P& p, [[maybe_unused]] const X& x) const {
    auto coming = dm::start_shift<batch>(x, 1);
#ifdef COMPILE_FAIL
    return dm::einsum<batch, label>(coming, p.w);
#else
    return dm::einsum<batch, label>(dm::await(std::move(coming)), p.w);
#endif
  }
};
auto f(parameters<hybrid>& p, const inputs& x) { return run<step>(p, x); }
