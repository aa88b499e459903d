// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The first cell gives hidden units, the second takes words.
// expect: pipeline: a cell or a layer takes other dims than the one before it gives; let the one give what the other takes
// expect: stages_do_not_meet<dimesh::cell_gives<0, batch, hidden>, dimesh::cell_takes<1, batch, word>
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
template <int K> using weight = dm::tensor<float, there<K>, hidden>;

#ifdef COMPILE_FAIL
using taken = word;
#else
using taken = hidden;
#endif

auto train(const std::tuple<weight<0>, weight<1>>& w,
           const dm::tensor<float, there<0>, batch, hidden>& x) {
  const auto scale = [](const auto& v, const auto& in) { return in * v; };
  const auto net =
      dm::pipeline<stage>(dm::cell<0, batch, hidden>(scale), dm::cell<1, batch, taken>(scale));
  return net.value_and_grad(
      dm::gpipe{2, 4}, w, [&x](int) { return x; },
      [](const auto& y, int) { return dm::sum(y * y); });
}
