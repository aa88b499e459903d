// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does every layout draw the same numbers? The number of an element is a function of a key and
// of the element's global index, so no rank keeps a state and no order matters. The function is
// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; SC 2011).
//
//   random_key key{42};
//   key.fold(7)                    -> the 7th of many independent keys
//   uniform_at<float>(key, 123)    -> the number of element 123, in [0, 1)
#pragma once

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "dimesh/detail/config.hpp"

namespace dimesh {

/// 128 random bits.
struct random_words {
  std::uint32_t word[4];
};

namespace detail {

/// Philox4x32-10: ten rounds on a counter of four words under a key of two.
KOKKOS_INLINE_FUNCTION constexpr random_words philox(random_words counter, std::uint32_t key0,
                                                     std::uint32_t key1) {
  std::uint32_t c0 = counter.word[0], c1 = counter.word[1], c2 = counter.word[2],
                c3 = counter.word[3];
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * c0;
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * c2;
    c0 = static_cast<std::uint32_t>(p1 >> 32) ^ c1 ^ key0;
    c2 = static_cast<std::uint32_t>(p0 >> 32) ^ c3 ^ key1;
    c1 = static_cast<std::uint32_t>(p1);
    c3 = static_cast<std::uint32_t>(p0);
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

}  // namespace detail

/// Names one stream of random numbers.
class random_key {
 public:
  KOKKOS_INLINE_FUNCTION constexpr explicit random_key(std::uint64_t seed) : key_(seed) {}

  /// Another key, independent of this one and of those of other n: one per layer, step, purpose.
  KOKKOS_INLINE_FUNCTION constexpr random_key fold(std::uint64_t n) const {
    const random_words w = draw(n, 1);
    return random_key(std::uint64_t{w.word[0]} | std::uint64_t{w.word[1]} << 32);
  }
  /// The bits of element i.
  KOKKOS_INLINE_FUNCTION constexpr random_words at(index_t i) const {
    return draw(static_cast<std::uint64_t>(i), 0);
  }
  /// More bits of element i, for distributions that need them: those numbered n; at(i, 0) is at(i).
  KOKKOS_INLINE_FUNCTION constexpr random_words at(index_t i, std::uint32_t n) const {
    return draw(static_cast<std::uint64_t>(i), 0, n);
  }
  constexpr bool operator==(const random_key&) const = default;

 private:
  // The third word of the counter says what the bits are for, so that folding meets no element.
  KOKKOS_INLINE_FUNCTION constexpr random_words draw(std::uint64_t n, std::uint32_t purpose,
                                                     std::uint32_t more = 0) const {
    return detail::philox(
        {{static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(n >> 32), purpose, more}},
        static_cast<std::uint32_t>(key_), static_cast<std::uint32_t>(key_ >> 32));
  }
  std::uint64_t key_;
};

/// The number of element i, uniform in [0, 1): all multiples of 2^-24 (float) or 2^-53 (double).
template <class T> KOKKOS_INLINE_FUNCTION constexpr T uniform_at(random_key key, index_t i) {
  static_assert(std::is_floating_point_v<T>,
                "uniform_at: numbers in [0, 1) are float or double; draw one and convert it");
  const random_words w = key.at(i);
  if constexpr (std::is_same_v<T, float>) {
    return static_cast<float>(w.word[0] >> 8) * 0x1p-24f;
  } else {
    const std::uint64_t bits = std::uint64_t{w.word[1]} << 32 | w.word[0];
    return static_cast<T>(bits >> 11) * T(0x1p-53);
  }
}

/// The number of element i, normal with mean 0 and variance 1 (Box and Muller 1958; the cosine).
/// Both uniform numbers behind it belong to the element alone.
template <class T> KOKKOS_INLINE_FUNCTION T normal_at(random_key key, index_t i) {
  static_assert(std::is_floating_point_v<T>,
                "normal_at: normal numbers are float or double; draw one and convert it");
  constexpr T two_pi = T(6.283185307179586476925286766559L);
  const random_words w = key.at(i);
  // radius is of a number in (0, 1): half a step away from 0, where the logarithm ends
  if constexpr (std::is_same_v<T, float>) {
    const float radius = (static_cast<float>(w.word[0]) + 0.5f) * 0x1p-32f;
    const float turn = static_cast<float>(w.word[1] >> 8) * 0x1p-24f;
    return std::sqrt(-2.0f * std::log(radius)) * std::cos(two_pi * turn);
  } else {
    const std::uint64_t a = std::uint64_t{w.word[1]} << 32 | w.word[0];
    const std::uint64_t b = std::uint64_t{w.word[3]} << 32 | w.word[2];
    const T radius = (static_cast<T>(a >> 11) + T(0.5)) * T(0x1p-53);
    const T turn = static_cast<T>(b >> 11) * T(0x1p-53);
    return std::sqrt(T(-2) * std::log(radius)) * std::cos(two_pi * turn);
  }
}

}  // namespace dimesh
