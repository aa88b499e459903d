// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The inputs live on the second stage, the first cell does not.
// expect: pipeline: the inputs live at another place than the first cell; give their layout placed<axis, k> of its k, or none, or send<axis, k> them
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
  return net.value_and_grad(
      dm::gpipe{2, 4}, w, [&x](int) { return x; },
      [](const auto& y, int) { return dm::sum(y * y); });
}
