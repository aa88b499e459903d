// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/optim/schedule.hpp"

#include <doctest/doctest.h>

namespace dm = dimesh;
using doctest::Approx;

static_assert(dm::constant_rate{.rate = 2}(0) == 2 && dm::constant_rate{.rate = 2}(1000) == 2);
static_assert(dm::constant_rate{.rate = 2, .warmup = 4}(0) == 0.5);
constexpr dm::warmup_linear line{.peak = 1, .warmup = 4, .total = 12, .last = 0.5};
static_assert(line(0) == 0.25 && line(3) == 1 && line(4) == 1 && line(8) == 0.75);
static_assert(line(12) == 0.5 && line(1000) == 0.5);

TEST_CASE("schedule: cosine") {
  const dm::warmup_cosine rate{.peak = 2, .warmup = 10, .total = 110, .last = 1};
  CHECK(rate(0) == Approx(0.2));
  CHECK(rate(9) == Approx(2));
  CHECK(rate(10) == Approx(2));
  CHECK(rate(60) == Approx(1.5));
  CHECK(rate(110) == Approx(1));
  CHECK(rate(5000) == Approx(1));
  for (dm::index_t t = 10; t < 110; ++t) CHECK(rate(t + 1) <= rate(t));
  CHECK(dm::warmup_cosine{.peak = 3, .total = 0}(0) == 0);
}

TEST_CASE("schedule: inverse square root") {
  const dm::warmup_inverse_sqrt rate{.peak = 1, .warmup = 100};
  CHECK(rate(0) == Approx(0.01).scale(0));
  CHECK(rate(99) == Approx(1));
  CHECK(rate(399) == Approx(0.5));
  CHECK(dm::warmup_inverse_sqrt{.peak = 1, .warmup = 0}(3) == Approx(0.5));
}

TEST_CASE("schedule: steps") {
  const dm::step_decay rate{.rate = 1, .factor = 0.5, .every = 10};
  CHECK(rate(0) == 1);
  CHECK(rate(9) == 1);
  CHECK(rate(10) == 0.5);
  CHECK(rate(25) == 0.25);
  CHECK(dm::step_decay{.rate = 1, .factor = 0.5, .every = 0}(25) == 1);
}
