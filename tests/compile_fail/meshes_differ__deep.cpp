// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mistake sits three templates deep in a model, recorded for gradients or not.
// expect: operator+: the operands live on different meshes; put them on one
// expect: meshes_differ<pod, row>
// levels: 4
// also: RECORDED
#include <dimesh/dimesh.hpp>

#include "deep.hpp"

struct line : dm::axis<2> {};
struct row : dm::mesh<line> {};
struct step {
  template <class P, class X> auto operator()(const P& p, [[maybe_unused]] const X& x) const {
#ifdef COMPILE_FAIL
    dm::tensor<dm::value_of<X>, dm::layout<row>, label> y;
    return p.b + y;
#else
    dm::tensor<dm::value_of<X>, dm::layout<pod>, label> y;
    return p.b + y;
#endif
  }
};
auto f(parameters<hybrid>& p, const inputs& x) { return run<step>(p, x); }
