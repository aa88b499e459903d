// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A layer recalls what the one before it has not named.
// expect: pipeline: a name stands for no layer, for two, or for one that none recalls; say remember<name>(f) of one layer, and recall<name>(f) of a later one
// expect: name_not_carried<
#include <dimesh/dimesh.hpp>
#include <dimesh/pipeline/pipeline.hpp>
#include <dimesh/pipeline/schedules.hpp>

namespace dm = dimesh;
struct batch : dm::dim<8> {};
struct hidden : dm::dim<4> {};
struct stage : dm::axis<2> {};
struct pod : dm::mesh<stage> {};
using there = dm::layout<pod, dm::placed<stage, 0>>;
using weight = dm::tensor<float, there, hidden>;

struct scale {
  template <class W, class X> auto operator()(const W& w, const X& x) const { return x * w; }
};
struct join {
  template <class W, class X, class Y>
  auto operator()(const W& w, const X& x, const Y& kept) const {
    return x * w + kept;
  }
};
struct skip {};
#ifdef COMPILE_FAIL
constexpr auto layers = dm::in_turn(scale{}, dm::recall<skip>(join{}));
#else
constexpr auto layers = dm::in_turn(dm::remember<skip>(scale{}), dm::recall<skip>(join{}));
#endif

auto train(const std::tuple<std::tuple<weight, weight>>& w,
           const dm::tensor<float, there, batch, hidden>& x) {
  const auto net = dm::pipeline<stage>(dm::cell<0>(layers));
  return net.value_and_grad(
      dm::gpipe{1, 4}, w, [&x](int) { return x; },
      [](const auto& y, int) { return dm::sum(y * y); });
}
