// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The first cell, whose function has a name, gives two tensors; the second says that it takes one.
// expect: pipeline: a cell or a layer takes other dims than the one before it gives; let the one give what the other takes
// expect: stages_do_not_meet<dimesh::cell_gives<0, pair_of, dimesh::tensor_of<row, col>, dimesh::tensor_of<row>
// expect: dimesh::cell_takes<1, row, col>
#include <dimesh/dimesh.hpp>
#include <dimesh/pipeline/pipeline.hpp>
#include <dimesh/pipeline/schedules.hpp>

namespace dm = dimesh;
struct row : dm::dim<8> {};
struct col : dm::dim<4> {};
struct stage : dm::axis<2> {};
struct pod : dm::mesh<stage> {};
template <int K> using there = dm::layout<pod, dm::placed<stage, K>>;
template <int K> using weight = dm::tensor<float, there<K>, col>;

struct pair_of {
  auto operator()(const auto& v, const auto& in) const {
#ifdef COMPILE_FAIL
    return std::tuple(in * v, dm::sum<col>(in));
#else
    return in * v;
#endif
  }
};

auto train(const std::tuple<weight<0>, weight<1>>& w,
           const dm::tensor<float, there<0>, row, col>& x) {
  const auto scale = [](const auto& v, const auto& in) { return in * v; };
  const auto net =
      dm::pipeline<stage>(dm::cell<0>(dm::recompute(pair_of{})), dm::cell<1, row, col>(scale));
  return net.value_and_grad(
      dm::gpipe{2, 4}, w, [&x](int) { return x; },
      [](const auto& y, int) { return dm::sum(y * y); });
}
