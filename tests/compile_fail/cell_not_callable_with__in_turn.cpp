// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A layer that takes its weights alone, behind another one.
// expect: in_turn: a layer cannot be called with its weights and what the layer before it gives; take both as const auto&, and return a tensor
// expect: cell_not_callable_with<
#include <dimesh/dimesh.hpp>
#include <dimesh/pipeline/pipeline.hpp>

namespace dm = dimesh;
struct batch : dm::dim<8> {};
struct hidden : dm::dim<4> {};
struct rows : dm::axis<2> {};
struct pod : dm::mesh<rows> {};
using weight = dm::tensor<float, dm::layout<pod>, hidden>;

struct scale {
  template <class W, class X> auto operator()(const W& w, const X& x) const { return x * w; }
};
#ifdef COMPILE_FAIL
struct second {
  template <class W> auto operator()(const W& w) const { return w; }
};
#else
using second = scale;
#endif

auto run(const std::tuple<weight, weight>& w,
         const dm::tensor<float, dm::layout<pod>, batch, hidden>& x) {
  return dm::in_turn(scale{}, second{})(w, x);
}
