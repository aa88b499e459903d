// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same of cells that are made of layers, which are named.
// expect: pipeline: a cell or a layer takes other dims than the one before it gives; let the one give what the other takes
// expect: stages_do_not_meet<dimesh::cell_gives<0, scale, batch, hidden>, dimesh::cell_takes<1, rescale, batch, word>
#include <dimesh/dimesh.hpp>
#include <dimesh/pipeline/pipeline.hpp>
#include <dimesh/pipeline/schedules.hpp>

namespace dm = dimesh;
struct batch : dm::dim<8> {};
struct hidden : dm::dim<4> {};
struct word : dm::dim<4> {};
struct stage : dm::axis<2> {};
struct pod : dm::mesh<stage> {};
template <int K> using there = dm::layout<pod, dm::placed<stage, K>>;
template <int K> using weight = std::tuple<dm::tensor<float, there<K>, hidden>>;

#ifdef COMPILE_FAIL
using taken = word;
#else
using taken = hidden;
#endif

struct scale {
  template <class W, class X> auto operator()(const W& w, const X& x) const { return x * w; }
};
struct rescale : scale {};

auto train(const std::tuple<weight<0>, weight<1>>& w,
           const dm::tensor<float, there<0>, batch, hidden>& x) {
  const auto net =
      dm::pipeline<stage>(dm::cell<0>(dm::in_turn(scale{})),
                          dm::cell<1>(dm::in_turn(dm::taking<batch, taken>(rescale{}))));
  return net.value_and_grad(
      dm::gpipe{2, 4}, w, [&x](int) { return x; },
      [](const auto& y, int) { return dm::sum(y * y); });
}
