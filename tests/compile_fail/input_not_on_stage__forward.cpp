// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cells that only go forward, and inputs of the other stage.
// expect: pipeline: the cells and their weights do not fit; value_and_grad of them says what is wrong
// expect: input_not_on_stage<
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
using input = dm::tensor<float, there<1>, batch, hidden>;
#else
using input = dm::tensor<float, there<0>, batch, hidden>;
#endif

auto train(const std::tuple<weight<0>, weight<1>>& w, const input& x) {
  const auto scale = [](const auto& v, const auto& in) { return in * v; };
  const auto net = dm::pipeline<stage>(dm::cell<0>(scale), dm::cell<1>(scale));
  return net.forward(dm::forward_only{2, 4}, w, [&x](int) { return x; });
}
