// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How is 0 .. n-1 put in a random order, when each rank needs some of the places only? By a keyed
// bijection: where a place goes follows from key, place and n alone, and so does the way back.
//
//   random_permutation order(random_key{1}, 1000);
//   order(17)             -> the number at place 17
//   order.inverse(k)      -> the place of number k
//
// A Feistel network of 12 rounds over a power of two that holds n (at least 64), walked until the
// result is below n (cycle walking: Black and Rogaway, CT-RSA 2002): less than two steps on average
// where n > 32. Each round mixes one half of the bits into the other by a 64-bit hash (the
// finalizer of splitmix64) under a key of its own from Philox. A network gives even permutations
// only where n is a power of two: one more bit of the key says whether 0 and 1 change places.
// Quality: 10^6 keys give all orders of 2 to 8 elements equally often, by Pearson's test; for more,
// places and differences of neighbours are uniform likewise. No order is secret: this is no cipher.
#pragma once

#include <algorithm>
#include <bit>

#include "dimesh/detail/words.hpp"
#include "dimesh/random.hpp"

namespace dimesh {

/// A random order of 0 .. n-1, which is a function of the key and n.
class random_permutation {
 public:
  /// Throws dimesh::error where n is negative.
  random_permutation(random_key key, index_t n) : n_(n) {
    if (n < 0)
      (detail::words() << "random_permutation: of " << n << " elements; give 0 or more").raise();
    const int bits =
        std::max(least_bits, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n) - 1)));
    low_ = bits - bits / 2;
    low_mask_ = (std::uint64_t{1} << low_) - 1;
    high_mask_ = (std::uint64_t{1} << (bits / 2)) - 1;
    for (int r = 0; r < rounds; r += 2) {
      const random_words w = key.at(r);
      key_[r] = std::uint64_t{w.word[1]} << 32 | w.word[0];
      key_[r + 1] = std::uint64_t{w.word[3]} << 32 | w.word[2];
    }
    swapped_ = n > 1 ? key.at(rounds).word[0] & 1u : 0;
  }

  KOKKOS_INLINE_FUNCTION index_t size() const { return n_; }
  /// The number at place i, 0 <= i < n.
  KOKKOS_INLINE_FUNCTION index_t operator()(index_t i) const {
    std::uint64_t x = static_cast<std::uint64_t>(i);
    do x = forth(x);
    while (x >= static_cast<std::uint64_t>(n_));
    return ends(x);
  }
  /// The place of number k, 0 <= k < n.
  KOKKOS_INLINE_FUNCTION index_t inverse(index_t k) const {
    std::uint64_t x = static_cast<std::uint64_t>(ends(static_cast<std::uint64_t>(k)));
    do x = back(x);
    while (x >= static_cast<std::uint64_t>(n_));
    return static_cast<index_t>(x);
  }
  /// The numbers at `Count` places: each step of the walk is one loop.
  template <int Count>
  KOKKOS_INLINE_FUNCTION void at(const index_t (&place)[Count], index_t (&number)[Count]) const {
    std::uint64_t x[Count];
    for (int j = 0; j < Count; ++j) x[j] = forth(static_cast<std::uint64_t>(place[j]));
    const std::uint64_t n = static_cast<std::uint64_t>(n_);
    for (bool walking = true; walking;) {
      std::uint64_t beyond = 0;
      for (int j = 0; j < Count; ++j) beyond |= static_cast<std::uint64_t>(x[j] >= n);
      walking = beyond != 0;
      if (walking)
        for (int j = 0; j < Count; ++j) x[j] = x[j] >= n ? forth(x[j]) : x[j];
    }
    for (int j = 0; j < Count; ++j) number[j] = ends(x[j]);
  }

 private:
  static constexpr int rounds = 12, least_bits = 6;

  KOKKOS_FORCEINLINE_FUNCTION static std::uint64_t hash(std::uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (x ^ x >> 31) >> 32;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::uint64_t forth(std::uint64_t x) const {
    std::uint64_t high = x >> low_, low = x & low_mask_;
    for (int r = 0; r < rounds; r += 2) {
      high ^= hash(low ^ key_[r]) & high_mask_;
      low ^= hash(high ^ key_[r + 1]) & low_mask_;
    }
    return high << low_ | low;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::uint64_t back(std::uint64_t x) const {
    std::uint64_t high = x >> low_, low = x & low_mask_;
    for (int r = rounds - 2; r >= 0; r -= 2) {
      low ^= hash(high ^ key_[r + 1]) & low_mask_;
      high ^= hash(low ^ key_[r]) & high_mask_;
    }
    return high << low_ | low;
  }
  KOKKOS_FORCEINLINE_FUNCTION index_t ends(std::uint64_t x) const {
    return static_cast<index_t>(x ^ (x < 2 ? swapped_ : 0));
  }

  index_t n_;
  int low_;  // bits of the lower half
  std::uint64_t low_mask_, high_mask_, swapped_, key_[rounds];
};

}  // namespace dimesh
