// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../../../examples/common/by_temperature.hpp"

#include <doctest/doctest.h>

using text::chances_up_to;
using text::drawn_at;

TEST_CASE("by_temperature: a chance is pairs to the power 1 / temperature") {
  const std::vector<std::size_t> pairs = {6400, 1600, 100};
  for (const double t : {1.0, 2.0, 5.0, 1e6}) {
    const auto up_to = chances_up_to(pairs, t);
    REQUIRE(up_to.size() == 3);
    CHECK(up_to[2] == 1);
    const double first = up_to[0], second = up_to[1] - up_to[0], third = 1 - up_to[1];
    CHECK(first / third == doctest::Approx(std::pow(64, 1 / t)).epsilon(1e-9));
    CHECK(second / third == doctest::Approx(std::pow(16, 1 / t)).epsilon(1e-9));
  }
  CHECK(chances_up_to({900, 100}, 2)[0] == doctest::Approx(0.75));
}

TEST_CASE("by_temperature: evenly spread numbers draw each as often as its chance says") {
  const auto up_to = chances_up_to({6400, 1600, 100}, 2);  // 80, 40, 10
  std::vector<int> drawn(3, 0);
  for (int i = 0; i < 1300; ++i) ++drawn[drawn_at(up_to, (i + 0.5) / 1300)];
  CHECK(drawn == std::vector<int>{800, 400, 100});
  CHECK(drawn_at(up_to, 0) == 0);
  CHECK(drawn_at(up_to, 1) == 2);  // a number that was rounded up
  CHECK(drawn_at({1.0}, 0.5) == 0);
}
