// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A schedule with an update for each micro-batch, for a step that makes none.
// expect: pipeline: value_and_grad gives one gradient, and this schedule updates weights between micro-batches; take value_and_update, or one_f_one_b
// expect: updates_not_made<dimesh::pipedream>
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
constexpr dm::pipedream order{2, 4};
#else
constexpr dm::one_f_one_b order{2, 4};
#endif

auto train(const std::tuple<weight<0>, weight<1>>& w,
           const dm::tensor<float, there<0>, batch, hidden>& x) {
  const auto scale = [](const auto& v, const auto& in) { return in * v; };
  const auto net = dm::pipeline<stage>(dm::cell<0>(scale), dm::cell<1>(scale));
  return net.value_and_grad(
      order, w, [&x](int) { return x; }, [](const auto& y, int) { return dm::sum(y * y); });
}
