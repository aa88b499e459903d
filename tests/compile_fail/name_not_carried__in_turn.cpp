// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers in turn, one of which recalls what none remembers.
// expect: in_turn: a layer recalls a name that none remembers, or remembers one that is carried on already; say remember<name>(f) of one layer, recall<name>(f) later
// expect: name_not_carried<
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

auto run(const std::tuple<weight, weight>& w,
         const dm::tensor<float, dm::layout<pod>, batch, hidden>& x) {
  return layers(w, x);
}
