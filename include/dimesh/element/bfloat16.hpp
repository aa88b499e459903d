// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are numbers kept in two bytes? As bfloat16: the upper half of a float, of the same range with
// eight digits of significand. It is a type to store and to send. Computing happens in float, into
// which it turns by itself; back it is rounded to the nearest, ties to even.
//
//   bfloat16 x(1.01f);             // 1.0078125
//   x * x                          -> float
//   computed<bfloat16>             -> float: in which type to compute with elements of this one
//   tensor<bfloat16, L, batch>     // operations on it: docs of map, sum, einsum, cast
#pragma once

#include <Kokkos_Macros.hpp>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "dimesh/element/element_traits.hpp"

namespace dimesh {

/// A number of 8 significant binary digits and float's range (Kalamkar et al., arXiv:1905.12322).
/// NaN stays NaN, infinities and zeros stay what they are, numbers beyond the range become
/// infinite, those below float's normal range are kept as float keeps them. Other types than float
/// are rounded to float first.
class bfloat16 {
 public:
  bfloat16() = default;  // uninitialised
  template <class N>
    requires std::is_arithmetic_v<N>
  KOKKOS_FORCEINLINE_FUNCTION constexpr explicit bfloat16(N x)
      : bits_(rounded(static_cast<float>(x))) {}

  KOKKOS_FORCEINLINE_FUNCTION constexpr operator float() const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits_) << 16);
  }
  KOKKOS_FORCEINLINE_FUNCTION constexpr bfloat16& operator+=(float x) {
    return *this = static_cast<float>(*this) + x;
  }
  /// Rounds x in its place: in loops, a temporary of class type keeps g++ from making vector code.
  template <class N>
    requires std::is_arithmetic_v<N>
  KOKKOS_FORCEINLINE_FUNCTION constexpr bfloat16& operator=(N x) {
    bits_ = rounded(static_cast<float>(x));
    return *this;
  }

  KOKKOS_FORCEINLINE_FUNCTION constexpr std::uint16_t bits() const { return bits_; }
  KOKKOS_FORCEINLINE_FUNCTION static constexpr bfloat16 from_bits(std::uint16_t bits) {
    bfloat16 x{};
    x.bits_ = bits;
    return x;
  }

 private:
  /// Without a branch, so that loops over it become vector code. To half a unit of what is cut off,
  /// less one bit where the last digit kept is even, carries over into the digits kept just where
  /// they must grow; NaN, which it could make infinite, is quieted instead.
  KOKKOS_FORCEINLINE_FUNCTION static constexpr std::uint16_t rounded(float x) {
    const auto u = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t nearest = (u + 0x7fffu + (u >> 16 & 1u)) >> 16;
    const std::uint32_t quieted = u >> 16 | 0x40u;
    const std::uint32_t nan = 0u - static_cast<std::uint32_t>((u & 0x7fffffffu) > 0x7f800000u);
    return static_cast<std::uint16_t>((quieted & nan) | (nearest & ~nan));
  }
  std::uint16_t bits_;
};

}  // namespace dimesh
