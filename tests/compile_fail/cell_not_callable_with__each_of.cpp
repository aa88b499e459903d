// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers of one form that take their weights alone.
// expect: each_of: a layer cannot be called with its weights and what it is given; take both as const auto&, and return a tensor
// expect: cell_not_callable_with<
#include <dimesh/dimesh.hpp>
#include <dimesh/pipeline/pipeline.hpp>

namespace dm = dimesh;
struct batch : dm::dim<8> {};
struct hidden : dm::dim<4> {};
struct rows : dm::axis<2> {};
struct pod : dm::mesh<rows> {};
using weight = dm::tensor<float, dm::layout<pod>, hidden>;

#ifdef COMPILE_FAIL
struct scale {
  template <class W> auto operator()(const W& w) const { return w; }
};
#else
struct scale {
  template <class W, class X> auto operator()(const W& w, const X& x) const { return x * w; }
};
#endif

auto run(const std::array<weight, 3>& w,
         const dm::tensor<float, dm::layout<pod>, batch, hidden>& x) {
  return dm::each_of(scale{})(w, x);
}
