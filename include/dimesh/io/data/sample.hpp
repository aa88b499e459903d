// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which records does a step see where it may see any? So many an epoch, each of them drawn from
// all, whatever was drawn before: for windows of a text, say, which may begin anywhere.
//
//   input::windows("book.txt", 129, 1) | input::sample(7, 16)      // epoch n: 16 for step n
#pragma once

#include "dimesh/io/data/order.hpp"

namespace dimesh::input {

namespace detail {

template <Stage S> struct sampled {
  static constexpr bool fixed = false;
  S inner;
  random_key key;
  index_t count;

  struct pass {
    std::remove_cvref_t<pass_of<S>> inner;
    random_key key;
    index_t count;
    void require_unchanged() const { detail::require_unchanged(inner); }
    index_t size() const { return inner.size() > 0 ? count : 0; }
    auto operator()(index_t i) const { return inner(place(i)); }
    std::string where(index_t i) const { return inner.where(place(i)); }
    index_t place(index_t i) const {
      if (i < 0 || i >= size()) refuse_place("sample", i, size());
      return static_cast<index_t>(static_cast<double>(inner.size()) * uniform_at<double>(key, i));
    }
  };
  pass epoch(index_t e) const {
    return {inner.epoch(e), key.fold(static_cast<std::uint64_t>(e)), count};
  }
};

}  // namespace detail

/// n records an epoch, each any record of the stage with the same chance: a function of key, epoch
/// and place. None where the stage has none. Throws dimesh::error where n is less than 1.
inline auto sample(random_key key, index_t n) {
  detail::require_count("sample", n, 1);
  return detail::records_adaptor(
      [=](const auto& s) { return detail::sampled<std::remove_cvref_t<decltype(s)>>{s, key, n}; });
}
inline auto sample(std::uint64_t seed, index_t n) { return input::sample(random_key(seed), n); }

}  // namespace dimesh::input
