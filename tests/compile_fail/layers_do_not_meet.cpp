// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two layers of one cell: the first gives hidden units, the second takes words.
// expect: pipeline: a cell or a layer takes other dims than the one before it gives; let the one give what the other takes
// expect: layers_do_not_meet<dimesh::layer_gives<scale, batch, hidden>, dimesh::layer_takes<rescale, batch, word>
#include <dimesh/dimesh.hpp>
#include <dimesh/pipeline/pipeline.hpp>
#include <dimesh/pipeline/schedules.hpp>

namespace dm = dimesh;
struct batch : dm::dim<8> {};
struct hidden : dm::dim<4> {};
struct word : dm::dim<4> {};
struct stage : dm::axis<2> {};
struct pod : dm::mesh<stage> {};
using there = dm::layout<pod, dm::placed<stage, 0>>;
using weight = dm::tensor<float, there, hidden>;

#ifdef COMPILE_FAIL
using taken = word;
#else
using taken = hidden;
#endif
struct scale {
  template <class W, class X> auto operator()(const W& w, const X& x) const { return x * w; }
};
struct rescale : scale {};

auto train(const std::tuple<std::tuple<weight, weight>>& w,
           const dm::tensor<float, there, batch, hidden>& x) {
  const auto net = dm::pipeline<stage>(dm::cell<0>(
      dm::in_turn(dm::taking<batch, hidden>(scale{}), dm::taking<batch, taken>(rescale{}))));
  return net.value_and_grad(
      dm::gpipe{1, 4}, w, [&x](int) { return x; },
      [](const auto& y, int) { return dm::sum(y * y); });
}
