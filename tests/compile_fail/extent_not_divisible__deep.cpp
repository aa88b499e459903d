// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mistake sits three templates deep in a model, recorded for gradients or not.
// expect: tensor: the extent of a split dim is not a multiple of its mesh axes
// expect: extent_not_divisible<odd, 9, rows, 2>
// levels: 4
// also: RECORDED
#include <dimesh/dimesh.hpp>

#include "deep.hpp"

struct odd : dm::dim<9> {};
struct step {
  template <class P, class X> auto operator()(const P& p, [[maybe_unused]] const X& x) const {
#ifdef COMPILE_FAIL
    dm::tensor<dm::value_of<X>, dm::layout<pod, dm::split<odd, rows>>, odd> y;
    return p.b * dm::complete(dm::sum(y));
#else
    dm::tensor<dm::value_of<X>, dm::layout<pod, dm::split<dm::uneven<odd>, rows>>, odd> y;
    return p.b * dm::complete(dm::sum(y));
#endif
  }
};
auto f(parameters<hybrid>& p, const inputs& x) { return run<step>(p, x); }
