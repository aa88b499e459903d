// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/pipeline/layers.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <optional>

#include "dimesh/pipeline/carried.hpp"
#include "dimesh/pipeline/cell.hpp"

namespace dm = dimesh;

namespace {

/// Digit after digit: which layers a number went through, and in which order.
template <int Name> struct layer {
  constexpr int operator()(int w, int x) const { return 10 * x + w + Name; }
};
struct numbered {
  constexpr int operator()(int w, int x, int i) const { return 100 * x + 10 * w + i; }
};
struct adds {
  constexpr int operator()(int w, int x, int kept) const { return x + 1000 * kept + w; }
};
struct adds_numbered {
  constexpr int operator()(int w, int x, int kept, int i) const { return x + kept + w + i; }
};
/// With a default the number comes, too; what is no int behind weights and input is left alone.
struct numbered_or_not {
  constexpr int operator()(int w, int x, int i = 0) const { return numbered{}(w, x, i); }
};
struct adds_numbered_or_not {
  constexpr int operator()(int w, int x, int kept, int i = 0) const { return x + kept + w + i; }
};
struct scaled {
  constexpr int operator()(int w, int x, double by = 2) const {
    return static_cast<int>(by) * x + w;
  }
};
/// Of a third argument with a default: does it get the number?
template <class Third> struct takes {
  constexpr int operator()(int, int, Third = {}) const { return 0; }
};
template <class Third>
constexpr bool is_numbered = dm::detail::pipeline::wants_number<takes<Third>, int, int>();
static_assert(is_numbered<int> && is_numbered<dm::index_t> && is_numbered<std::optional<int>>);
static_assert(!is_numbered<std::size_t> && !is_numbered<bool> && !is_numbered<double>);

constexpr auto forwarded = [](const auto&... a) { return layer<1>{}(a...); };
struct skip {};
struct other {};

static_assert(dm::in_turn(layer<1>{}, layer<2>{})(std::tuple(0, 3), 9) == 915);
static_assert(dm::in_turn(layer<1>{}, numbered{})(std::tuple(0, 2), 9, 7) == 9127);
static_assert(dm::each_of(layer<1>{})(std::array{0, 1, 2}, 9) == 9123);
static_assert(dm::in_turn(layer<1>{}, numbered_or_not{})(std::tuple(0, 2), 9, 7) == 9127);
static_assert(dm::each_of(numbered_or_not{})(std::array{0, 1}, 9, 7) == 90717);
static_assert(dm::taking<dm::dim<3>>(numbered_or_not{})(0, 9, 7) == 907);
static_assert(dm::in_turn(scaled{}, forwarded)(std::tuple(3, 0), 9, 7) == 211);

// What is carried past others is what was given, and nothing is left behind.
constexpr auto there_and_back =
    dm::in_turn(dm::remember<skip>(layer<1>{}), layer<2>{}, dm::recall<skip>(adds{}));
static_assert(there_and_back(std::tuple(0, 0, 5), 9) == 912 + 91 * 1000 + 5);
// Two names, across each other; the number of the micro-batch goes to whom it concerns.
constexpr auto crossed =
    dm::in_turn(dm::remember<skip>(layer<1>{}), dm::remember<other>(layer<2>{}),
                dm::recall<skip>(adds_numbered{}), dm::recall<other>(adds{}));
static_assert(crossed(std::tuple(0, 0, 0, 0), 9, 4) == 912 + 91 + 4 + 1000 * 912);
constexpr auto by_default =
    dm::in_turn(dm::remember<skip>(numbered_or_not{}), dm::recall<skip>(adds_numbered_or_not{}));
static_assert(by_default(std::tuple(0, 5), 9, 7) == 907 + 907 + 5 + 7);
// Layers of one form, and layers within layers, hand on what is carried past them.
constexpr auto deep = dm::in_turn(dm::remember<skip>(layer<1>{}), dm::each_of(layer<2>{}),
                                  dm::in_turn(layer<3>{}, dm::recall<skip>(adds{})));
static_assert(deep(std::tuple(0, std::array{0, 0}, std::tuple(0, 0)), 9) == 91223 + 91 * 1000);
// Of a cell that ends in between, a tuple goes on, which the next one takes.
constexpr auto first = dm::in_turn(dm::remember<skip>(layer<1>{}), layer<2>{});
constexpr auto second = dm::in_turn(layer<3>{}, dm::recall<skip>(adds{}));
constexpr auto between = first(std::tuple(0, 0), 9);
static_assert(dm::detail::pipeline::is_carrying<std::remove_const_t<decltype(between)>>);
static_assert(second(std::tuple(0, 0), between) == 9123 + 91 * 1000);

}  // namespace

TEST_CASE("layers: cells, wherever they are cut, do what the layers do in turn") {
  CHECK(there_and_back(std::tuple(0, 0, 5), 9) == 91917);
  CHECK(dm::taking<dm::dim<3>>(layer<4>{})(0, 1) == 14);
}
