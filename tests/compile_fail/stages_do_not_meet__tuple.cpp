// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The first cell gives two tensors, the second says that it takes one.
// expect: pipeline: a cell or a layer takes other dims than the one before it gives; let the one give what the other takes
// expect: stages_do_not_meet<dimesh::cell_gives<0, dimesh::tensor_of<row, hidden>, dimesh::tensor_of<row>
// expect: dimesh::cell_takes<1, row, hidden>
#include <dimesh/dimesh.hpp>
#include <dimesh/pipeline/pipeline.hpp>
#include <dimesh/pipeline/schedules.hpp>

namespace dm = dimesh;
struct row : dm::dim<8> {};
struct hidden : dm::dim<4> {};
struct stage : dm::axis<2> {};
struct pod : dm::mesh<stage> {};
template <int K> using there = dm::layout<pod, dm::placed<stage, K>>;
template <int K> using weight = dm::tensor<float, there<K>, hidden>;

auto train(const std::tuple<weight<0>, weight<1>>& w,
           const dm::tensor<float, there<0>, row, hidden>& x) {
  const auto scale = [](const auto& v, const auto& in) { return in * v; };
  const auto two = [](const auto& v, const auto& in) {
#ifdef COMPILE_FAIL
    return std::tuple(in * v, dm::sum<hidden>(in));
#else
    return in * v;
#endif
  };
  const auto net = dm::pipeline<stage>(dm::cell<0>(two), dm::cell<1, row, hidden>(scale));
  return net.value_and_grad(
      dm::gpipe{2, 4}, w, [&x](int) { return x; },
      [](const auto& y, int) { return dm::sum(y * y); });
}
