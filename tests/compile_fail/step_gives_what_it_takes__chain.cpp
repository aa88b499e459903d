// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Costs of a step that is repeated, and gives a sum instead of a state.
// expect: chain: a step that is repeated, or one of layers of one form, gives a tensor of another type than it takes; relayout its result
#include <dimesh/dimesh.hpp>
#include <dimesh/pipeline/chain_costs.hpp>
#include <dimesh/pipeline/revolve.hpp>

namespace dm = dimesh;
struct batch : dm::dim<8> {};
struct hidden : dm::dim<4> {};
struct rows : dm::axis<2> {};
struct pod : dm::mesh<rows> {};
using weight = dm::tensor<double, dm::layout<pod>, hidden>;
using input = dm::tensor<double, dm::layout<pod>, batch, hidden>;

struct scale {
  template <class W, class X> auto operator()(const W& w, const X& x) const { return x * w; }
};
#ifdef COMPILE_FAIL
struct last {
  template <class W, class X> auto operator()(const W& w, const X& x) const {
    return dm::sum<batch>(x * w);
  }
};
#else
using last = scale;
#endif

auto costs(const weight& w, const input& x) { return dm::measured_chain(last{}, w, x, 10); }
