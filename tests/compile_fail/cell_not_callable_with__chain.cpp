// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Costs of layers, the last of which takes its weights alone.
// expect: chain: a layer cannot be called with its weights and what the layer before it gives; take both as const auto&, and return a tensor
// expect: cell_not_callable_with<
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
  template <class W> auto operator()(const W& w) const { return w; }
};
#else
using last = scale;
#endif

auto costs(const std::tuple<weight, weight>& w, const input& x) {
  return dm::counted_chain(dm::in_turn(scale{}, last{}), w, x);
}
