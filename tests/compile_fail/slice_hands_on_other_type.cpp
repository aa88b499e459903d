// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A cell of slices takes a sum over what came before, and hands on the slice itself.
// expect: pipeline: a cell of slices hands on other tensors than it takes from the slice before; return a pair, the second as past(i) gives it
// expect: slice_hands_on_other_type<
#include <dimesh/dimesh.hpp>
#include <dimesh/pipeline/pipeline.hpp>
#include <dimesh/pipeline/slices.hpp>

namespace dm = dimesh;
struct length : dm::dim<> {};
struct hidden : dm::dim<4> {};
struct stage : dm::axis<2> {};
struct pod : dm::mesh<stage> {};
using there = dm::layout<pod, dm::placed<stage, 0>>;
using weight = dm::tensor<float, there, hidden>;

struct running_sum {
  template <class W, class X, class P>
  auto operator()(const W& w, const X& x, const P& past) const {
    const auto now = dm::sum<length>(x) + past;
#ifdef COMPILE_FAIL
    return std::pair(x * w + now, x);
#else
    return std::pair(x * w + now, now);
#endif
  }
};
struct zero {
  const dm::grid<pod>& g;
  auto operator()(int) const { return dm::zeros<weight>(g); }
};

auto train(const dm::grid<pod>& g, const std::tuple<weight>& w,
           const dm::tensor<float, there, length, hidden>& x) {
  const auto net = dm::pipeline<stage>(dm::cell<0>(dm::carrying(running_sum{}, zero{g})));
  return net.value_and_grad(
      dm::sliced{1, 4, 2}, w, [&x](int) { return x; },
      [](const auto& y, int) { return dm::sum(y * y); });
}
