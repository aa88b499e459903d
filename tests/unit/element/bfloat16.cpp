// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// labels: heavy
// options: -O2
#include "dimesh/element/bfloat16.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace {

using dimesh::bfloat16;
using std::is_same_v;

// Two bytes that may be copied as bytes.
static_assert(sizeof(bfloat16) == 2 && alignof(bfloat16) == 2);
static_assert(std::is_trivially_copyable_v<bfloat16>);
static_assert(std::is_trivially_default_constructible_v<bfloat16>);

// Computing is in float; only what is asked for is rounded.
static_assert(is_same_v<decltype(bfloat16(1) * bfloat16(2)), float>);
static_assert(is_same_v<decltype(bfloat16(1) + 2), float>);
static_assert(is_same_v<decltype(bfloat16(1) - 2.0), double>);
static_assert(is_same_v<decltype(-bfloat16(1)), float>);
static_assert(is_same_v<decltype(bfloat16(1) < 2.0f), bool>);
static_assert(is_same_v<std::common_type_t<bfloat16, float>, float>);
static_assert(std::is_convertible_v<bfloat16, float> && !std::is_convertible_v<float, bfloat16>);
static_assert(is_same_v<dimesh::computed<bfloat16>, float>);
static_assert(is_same_v<dimesh::computed<double>, double>);
static_assert(dimesh::is_storage_only<bfloat16> && !dimesh::is_storage_only<float>);
static_assert(dimesh::is_real<bfloat16> && dimesh::is_real<double> && !dimesh::is_real<int>);

static_assert(bfloat16(1.01f) == 1.0078125f);
static_assert(bfloat16(1).bits() == 0x3f80 && bfloat16(-2.0).bits() == 0xc000);
static_assert(bfloat16::from_bits(0x4049) == 3.140625f);

float with_bits(std::uint32_t bits) { return std::bit_cast<float>(bits); }

/// What the float with upper half `high` and lower half `low` becomes: by counting, not by adding.
std::uint16_t expected(std::uint32_t high, std::uint32_t low) {
  const bool nan = (high & 0x7f80u) == 0x7f80u && ((high & 0x7fu) != 0 || low != 0);
  if (nan) return static_cast<std::uint16_t>(high | 0x40u);
  const bool up = low > 0x8000u || (low == 0x8000u && high % 2 == 1);
  return static_cast<std::uint16_t>(high + (up ? 1u : 0u));  // the digits carry into the exponent
}

TEST_CASE("bfloat16: every float is rounded to the nearest, ties to even") {
  std::vector<float> from(0x10000);
  std::vector<bfloat16> to(from.size());
  long wrong = 0;
  for (std::uint32_t high = 0; high < 0x10000u; ++high) {
    for (std::uint32_t low = 0; low < 0x10000u; ++low) from[low] = with_bits(high << 16 | low);
#pragma omp simd
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = bfloat16(from[i]);
#pragma omp simd reduction(+ : wrong)
    for (std::uint32_t low = 0; low < 0x10000u; ++low)
      wrong += to[low].bits() != expected(high, low);
  }
  CHECK(wrong == 0);
}

TEST_CASE("bfloat16: every one of them comes back from float as it was") {
  long wrong = 0;
  for (std::uint32_t bits = 0; bits < 0x10000u; ++bits) {
    const auto x = bfloat16::from_bits(static_cast<std::uint16_t>(bits));
    const float wide = x;
    wrong += std::bit_cast<std::uint32_t>(wide) != bits << 16;
    wrong += std::isnan(wide) ? !std::isnan(static_cast<float>(bfloat16(wide)))
                              : bfloat16(wide).bits() != bits;
  }
  CHECK(wrong == 0);
}

TEST_CASE("bfloat16: the ends of the range, and what is no number") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  CHECK(bfloat16(infinity) == infinity);
  CHECK(bfloat16(-infinity) == -infinity);
  CHECK(bfloat16(std::numeric_limits<float>::max()) == infinity);  // nearer than the largest one
  CHECK(bfloat16(with_bits(0x7f7f7fff)) == with_bits(0x7f7f0000));
  CHECK(std::isnan(static_cast<float>(bfloat16(with_bits(0x7f800001)))));  // no digit of it is kept
  CHECK(std::isnan(static_cast<float>(bfloat16(with_bits(0xffffffff)))));  // all would carry
  CHECK(std::signbit(static_cast<float>(bfloat16(-0.0f))));
  CHECK(bfloat16(with_bits(0x00010000)).bits() == 1);  // below the normal range
  CHECK(bfloat16(1e300) == infinity);
  bfloat16 sum(1);
  sum += 0.01f;
  CHECK(sum == 1.0078125f);
}

}  // namespace
