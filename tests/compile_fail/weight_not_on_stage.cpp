// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The second cell's weight lives on the first stage.
// expect: pipeline: a weight of a cell does not live at the cell's place; give its layout placed<axis, k> of the cell's own k
// expect: weight_not_on_stage<
#include <dimesh/dimesh.hpp>
#include <dimesh/pipeline/pipeline.hpp>
#include <dimesh/pipeline/schedules.hpp>

namespace dm = dimesh;
struct batch : dm::dim<8> {};
struct hidden : dm::dim<4> {};
struct stage : dm::axis<2> {};
struct pod : dm::mesh<stage> {};
template <int K> using there = dm::layout<pod, dm::placed<stage, K>>;
template <int K> using weight = dm::tensor<float, there<K>, hidden>;

#ifdef COMPILE_FAIL
using second = weight<0>;
#else
using second = weight<1>;
#endif

auto train(const std::tuple<weight<0>, second>& w,
           const dm::tensor<float, there<0>, batch, hidden>& x) {
  const auto scale = [](const auto& v, const auto& in) { return in * v; };
  const auto net = dm::pipeline<stage>(dm::cell<0>(scale), dm::cell<1>(scale));
  return net.value_and_grad(
      dm::gpipe{2, 4}, w, [&x](int) { return x; },
      [](const auto& y, int) { return dm::sum(y * y); });
}
