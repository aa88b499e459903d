// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/pipeline/cut_layers.hpp"

#include <doctest/doctest.h>

#include "dimesh/dimesh.hpp"
#include "dimesh/op/convolution.hpp"
#include "dimesh/op/slice.hpp"
#include "dimesh/pipeline/layer_costs.hpp"
#include "dimesh/pipeline/partition.hpp"
#include "dimesh/pipeline/pipeline.hpp"

namespace dm = dimesh;

namespace {

struct batch : dm::dim<8> {};
struct narrow : dm::dim<16> {};
struct wide : dm::dim<64> {};
struct stage : dm::axis<2> {};
struct pod : dm::mesh<stage> {};

/// Digit after digit: which layers a number went through, and in which order.
template <int Name> struct layer {
  constexpr int operator()(int w, int x) const { return 10 * x + w + Name; }
};
constexpr auto bounds = dm::partition<2>(std::array{4.0, 1.0, 1.0, 2.0});
static_assert(bounds == std::array{0, 1, 4});
constexpr auto cells = dm::cells_of_layers<bounds>(layer<1>{}, layer<2>{}, layer<3>{}, layer<4>{});
static_assert(std::tuple_size_v<decltype(cells)> == 2);
static_assert(std::get<0>(cells).place == 0 && std::get<1>(cells).place == 1);
static_assert(std::get<0>(cells).function(std::tuple(0), 9) == 91);
static_assert(std::get<1>(cells).function(std::tuple(0, 0, 1), 9) == 9235);

// Costs of layers, from shapes: 2 * 8 * 16 * 64 for a product with a matrix, and the tanh between.
template <class... D> using shape = dm::tensor<float, dm::shaped<dm::layout<pod>>, D...>;
constexpr auto widen = [](const auto& w, const auto& x) { return dm::einsum<batch, wide>(x, w); };
constexpr auto bend = [](const auto&, const auto& x) { return dm::tanh(x); };
constexpr auto narrow_again = [](const auto& w, const auto& x, int) {
  return dm::einsum<batch, narrow>(x, w);
};
constexpr auto counted_costs() {
  const shape<batch, narrow> x;
  const std::tuple<shape<narrow, wide>, std::tuple<>, shape<wide, narrow>> weights;
  return dm::layer_costs(x, weights, widen, bend, narrow_again);
}
constexpr auto costs = counted_costs();
static_assert(costs[0] == 2 * 8 * 16 * 64 && costs[2] == costs[0]);
static_assert(costs[1] == 8 * 64);
static_assert(dm::partition<2>(costs) == std::array{0, 1, 3});

// Every other element, and windows over them: 8 x 3, of which two taps see nothing.
struct few : dm::dim<8> {};
struct tap : dm::dim<3> {};
constexpr auto every_other = [](const auto&, const auto& x) {
  return dm::slice<narrow, few>(x, 0, 2, few{});
};
constexpr auto filtered = [](const auto& w, const auto& x) {
  return dm::convolution<batch, few>(x, w, dm::window<few, tap>{.around = dm::padding::same});
};
static_assert(dm::layer_costs(shape<batch, narrow>{}, std::tuple<std::tuple<>, shape<tap>>{},
                              every_other,
                              filtered) == std::array<dm::index_t, 2>{0, 2 * 8 * (3 * 8 - 2)});

}  // namespace

TEST_CASE("cells_of_layers: a pipeline of the cells that partition finds") {
  constexpr auto net =
      dm::pipeline_of_layers<stage, bounds>(layer<1>{}, layer<2>{}, layer<3>{}, layer<4>{});
  using by_hand =
      decltype(dm::pipeline<stage>(dm::cell<0>(dm::in_turn(layer<1>{})),
                                   dm::cell<1>(dm::in_turn(layer<2>{}, layer<3>{}, layer<4>{}))));
  CHECK(std::is_same_v<std::remove_const_t<decltype(net)>, by_hand>);
}
