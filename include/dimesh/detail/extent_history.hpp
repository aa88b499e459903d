// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which run-time extents went into a tensor? Those of its own dims, and of dims that are summed
// away. In checked builds a tensor keeps them, and ranks compare them where they meet: a sum over a
// dim of which each rank gave its own part as the extent is a number like any other.
//
//   h.add(number, "batch", 8);   h.add_all(of_an_operand);
//   e.extents = h.sent;    differing(e.extents, theirs.extents)  -> its place, or -1
#pragma once

#include <cstdint>
#include <string_view>

namespace dimesh::detail {

/// The number of a dim's type, and how many elements it had.
struct past_extent {
  std::uint64_t dim = 0;
  std::int64_t extent = 0;
};
/// Those of a tensor, the newest first, as ranks send them to each other.
struct past_extents {
  static constexpr int most = 12;
  past_extent at[most] = {};
  std::int64_t count = 0;

  constexpr bool has(const past_extent& c) const {
    for (int i = 0; i < count; ++i)
      if (at[i].dim == c.dim && at[i].extent == c.extent) return true;
    return false;
  }
  constexpr int count_of(std::uint64_t dim) const {
    int n = 0;
    for (int i = 0; i < count; ++i) n += at[i].dim == dim ? 1 : 0;
    return n;
  }
  /// An extent of a dim that the other has not.
  constexpr std::int64_t only_here(std::uint64_t dim, const past_extents& other) const {
    for (int i = 0; i < count; ++i)
      if (at[i].dim == dim && !other.has(at[i])) return at[i].extent;
    return -1;
  }
};
/// With the names of the dims. The oldest are let go of where there are too many.
struct extent_history {
  past_extents sent;
  std::string_view name[past_extents::most] = {};

  constexpr void add(std::uint64_t dim, std::string_view called, std::int64_t extent) {
    if (sent.count == past_extents::most || sent.has({dim, extent})) return;
    sent.at[sent.count] = {dim, extent};
    name[sent.count++] = called;
  }
  constexpr void add_all(const extent_history& of) {
    for (int i = 0; i < of.sent.count; ++i)
      add(of.sent.at[i].dim, of.name[i], of.sent.at[i].extent);
  }
};

/// Of two ranks: the place in `a` of a dim of which they had other extents, -1 if there is none.
/// One that has had more extents here than there is none: local work may branch on the rank.
constexpr int differing(const past_extents& a, const past_extents& b) {
  for (int i = 0; i < a.count; ++i)
    if (!b.has(a.at[i]) && a.count_of(a.at[i].dim) == b.count_of(a.at[i].dim)) return i;
  return -1;
}

}  // namespace dimesh::detail
