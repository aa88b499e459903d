// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A cell that takes its weights alone.
// expect: pipeline: a cell cannot be called with its weights and what the cell before it gives; take both as const auto&, and return a tensor
// expect: cell_not_callable_with<
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

auto train(const std::tuple<weight<0>, weight<1>>& w,
           const dm::tensor<float, there<0>, batch, hidden>& x) {
  const auto scale = [](const auto& v, const auto& in) { return in * v; };
#ifdef COMPILE_FAIL
  const auto second = [](const auto& v) { return v; };
#else
  const auto second = scale;
#endif
  const auto net = dm::pipeline<stage>(dm::cell<0>(scale), dm::cell<1>(second));
  return net.value_and_grad(
      dm::gpipe{2, 4}, w, [&x](int) { return x; },
      [](const auto& y, int) { return dm::sum(y * y); });
}
