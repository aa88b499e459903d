// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tensor is awaited, three templates deep in a model, recorded for gradients or not.
// expect: await: it takes a started move, and uses it up: await(std::move(s))
// expect: move_not_given_up<
// levels: 4
// also: RECORDED
#include <dimesh/dimesh.hpp>

#include "deep.hpp"

struct step {
  template <class P, class X> auto operator()(const P& p, [[maybe_unused]] const X& x) const {
#ifdef COMPILE_FAIL
    return dm::einsum<batch, label>(dm::await(dm::shift<batch>(x, 1)), p.w);
#else
    return dm::einsum<batch, label>(dm::await(dm::start_shift<batch>(x, 1)), p.w);
#endif
  }
};
auto f(parameters<hybrid>& p, const inputs& x) { return run<step>(p, x); }
