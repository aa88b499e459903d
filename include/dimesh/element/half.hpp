// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are numbers kept in two bytes with eleven digits, where their range is small? As half, the
// 16-bit format of IEEE 754. Like bfloat16 it is a type to store and to send: it turns into float
// by itself, and back it is rounded to the nearest, ties to even.
//
//   half x(1.01f);       // 1.0097656
//   half(70000.0f)       // infinity: the largest number is 65504
//   computed<half>       // float
//
// Gradients below 6e-8 become zero: scale losses (optim/loss_scale.hpp).
#pragma once

#include <Kokkos_Macros.hpp>
#include <bit>
#include <cstdint>

#include "dimesh/element/element_traits.hpp"

namespace dimesh {

/// A number of IEEE 754's binary16: 11 significant binary digits, at most 65504, gradual underflow
/// from 6.1e-5 to 6.0e-8. NaN stays NaN. Other types than float are rounded to float first.
class half {
 public:
  half() = default;  // uninitialised
  template <class N>
    requires std::is_arithmetic_v<N>
  KOKKOS_FORCEINLINE_FUNCTION constexpr explicit half(N x)
      : bits_(rounded(static_cast<float>(x))) {}

  KOKKOS_FORCEINLINE_FUNCTION constexpr operator float() const {
    constexpr std::uint32_t exponent = 0x7c00u << 13, rebias = (127u - 15u) << 23;
    std::uint32_t u = (bits_ & 0x7fffu) << 13;
    const std::uint32_t mine = u & exponent;
    u += rebias;
    if (mine == exponent) {
      u += rebias;  // infinity, NaN: the largest exponent stays it
    } else if (mine == 0) {                   // a subnormal number is a normal float
      u = std::bit_cast<std::uint32_t>(std::bit_cast<float>(u + (1u << 23)) -
                                       std::bit_cast<float>(113u << 23));
    }
    return std::bit_cast<float>(u | (bits_ & 0x8000u) << 16);
  }
  KOKKOS_FORCEINLINE_FUNCTION constexpr half& operator+=(float x) {
    return *this = static_cast<float>(*this) + x;
  }
  template <class N>
    requires std::is_arithmetic_v<N>
  KOKKOS_FORCEINLINE_FUNCTION constexpr half& operator=(N x) {
    bits_ = rounded(static_cast<float>(x));
    return *this;
  }

  KOKKOS_FORCEINLINE_FUNCTION constexpr std::uint16_t bits() const { return bits_; }
  KOKKOS_FORCEINLINE_FUNCTION static constexpr half from_bits(std::uint16_t bits) {
    half x{};
    x.bits_ = bits;
    return x;
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION static constexpr std::uint16_t rounded(float x) {
    const auto given = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t sign = given & 0x80000000u, u = given ^ sign;
    std::uint32_t out = 0;
    if (u >= (127u + 16u) << 23) {  // beyond the range; NaN
      out = u > 0xffu << 23 ? 0x7e00u : 0x7c00u;
    } else if (u < 113u << 23) {
      // Adding a power of two whose last digit is worth the result's makes the processor round.
      constexpr std::uint32_t magic = (127u - 15u + 23u - 10u + 1u) << 23;
      out = std::bit_cast<std::uint32_t>(std::bit_cast<float>(u) + std::bit_cast<float>(magic)) -
            magic;
    } else {  // half a unit, less one bit where the last digit kept is even
      out = (u - ((127u - 15u) << 23) + 0xfffu + (u >> 13 & 1u)) >> 13;
    }
    return static_cast<std::uint16_t>(out | sign >> 16);
  }
  std::uint16_t bits_;
};

}  // namespace dimesh
