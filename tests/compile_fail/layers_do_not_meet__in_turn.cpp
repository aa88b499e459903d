// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The second of two layers in turn takes words.
// expect: in_turn: a layer takes other dims than the layer before it gives; let the one give what the other takes
// expect: layers_do_not_meet<dimesh::layer_gives<scale, batch, hidden>, dimesh::layer_takes<rescale, batch, word>
#include <dimesh/dimesh.hpp>
#include <dimesh/pipeline/layers.hpp>

namespace dm = dimesh;
struct batch : dm::dim<8> {};
struct hidden : dm::dim<4> {};
struct word : dm::dim<4> {};
struct rows : dm::axis<2> {};
struct pod : dm::mesh<rows> {};
using weight = dm::tensor<float, dm::layout<pod>, hidden>;

struct scale {
  template <class W, class X> auto operator()(const W& w, const X& x) const { return x * w; }
};
struct rescale : scale {};
struct join {
  template <class W, class X, class Y>
  auto operator()(const W& w, const X& x, const Y& kept) const {
    return x * w + kept;
  }
};
struct skip {};
#ifdef COMPILE_FAIL
constexpr auto layers = dm::in_turn(scale{}, dm::taking<batch, word>(rescale{}));
#else
constexpr auto layers = dm::in_turn(scale{}, dm::taking<batch, hidden>(rescale{}));
#endif

auto run(const std::tuple<weight, weight>& w,
         const dm::tensor<float, dm::layout<pod>, batch, hidden>& x) {
  return layers(w, x);
}
