// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// labels: heavy
// options: -O2
#include "dimesh/element/half.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace {

using dimesh::half;
using std::is_same_v;

static_assert(sizeof(half) == 2 && alignof(half) == 2);
static_assert(std::is_trivially_copyable_v<half>);
static_assert(std::is_trivially_default_constructible_v<half>);
static_assert(is_same_v<decltype(half(1) * half(2)), float>);
static_assert(std::is_convertible_v<half, float> && !std::is_convertible_v<float, half>);
static_assert(is_same_v<dimesh::computed<half>, float>);
static_assert(dimesh::is_storage_only<half> && dimesh::is_real<half>);

static_assert(half(1).bits() == 0x3c00 && half(-2.0).bits() == 0xc000);
static_assert(half(65504.0f).bits() == 0x7bff && half(65519.0f).bits() == 0x7bff);
static_assert(half(65520.0f).bits() == 0x7c00);  // a tie: to the even one, which is infinity
static_assert(half(5.9604644775390625e-8f).bits() == 1);
static_assert(half::from_bits(0x3555) == 0.333251953125f);

/// By the definition: sign, exponent, significand.
double meant(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, digits = bits & 1023;
  const double size =
      exponent == 0 ? std::ldexp(digits, -24) : std::ldexp(1024 + digits, exponent - 25);
  return bits >> 15 ? -size : size;
}

TEST_CASE("half: each of the 65536 bit patterns is the number it means, and comes back") {
  int wrong = 0;
  for (unsigned b = 0; b < 65536; ++b) {
    const auto bits = static_cast<std::uint16_t>(b);
    const float x = half::from_bits(bits);
    if ((b & 0x7fff) > 0x7c00) {
      wrong += !std::isnan(x) || !std::isnan(float(half(x)));
    } else {
      if ((b & 0x7fff) == 0x7c00)
        wrong += !std::isinf(x) || std::signbit(x) != (b >> 15 != 0);
      else
        wrong += x != meant(bits);
      wrong += half(x).bits() != bits;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("half: floats are rounded to the nearest, ties to even") {
  int wrong = 0;
  for (unsigned b = 0; b < 0x7bff; ++b) {
    const auto bits = static_cast<std::uint16_t>(b);
    const float low = half::from_bits(bits),
                high = half::from_bits(static_cast<std::uint16_t>(b + 1));
    const float middle = low + (high - low) / 2;  // exact in float
    const auto even = static_cast<std::uint16_t>(b % 2 == 0 ? b : b + 1);
    wrong += half(middle).bits() != even;
    wrong += half(-middle).bits() != (even | 0x8000u);
    wrong += half(std::nextafter(middle, low)).bits() != bits;
    wrong += half(std::nextafter(middle, high)).bits() != bits + 1;
  }
  CHECK(wrong == 0);
  CHECK(half(std::numeric_limits<float>::max()).bits() == 0x7c00);
  CHECK(half(-std::numeric_limits<float>::infinity()).bits() == 0xfc00);
  CHECK(half(1e-30f).bits() == 0);
  CHECK(half(-1e-30f).bits() == 0x8000);
  half x(1);
  x += 0.5f;
  CHECK(x == 1.5f);
  x = 3;
  CHECK(x == 3.0f);
}

}  // namespace
