// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does this thread do, as ranks tell each other in checked builds? Which operation runs, and
// what local operations took before it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dimesh/detail/extent_history.hpp"

namespace dimesh::detail {

/// The operation that runs, a hash of its operands and the extents that went into them, as ranks
/// compare them.
struct doing {
  std::string_view operation;
  std::uint64_t operands = 0;
  extent_history extents = {};

  static doing& now() {
    static thread_local doing it;
    return it;
  }
};
/// From here to the end of the scope, this operation runs.
class [[nodiscard]] while_doing {
 public:
  explicit while_doing(std::string_view operation, std::uint64_t operands = 0,
                       const extent_history& extents = {})
      : before_(doing::now()) {
    doing::now() = {operation, operands, extents};
  }
  while_doing(const while_doing&) = delete;
  while_doing& operator=(const while_doing&) = delete;
  ~while_doing() { doing::now() = before_; }

 private:
  doing before_;
};

/// "dim 'length' has 8 and 6 elements", where two ranks differ so: on this one, and another.
inline std::string two_extents(const past_extents& mine, const past_extents& theirs) {
  const int at = differing(mine, theirs);
  if (at < 0) return {};
  return "dim '" + std::string(doing::now().extents.name[at]) + "' has " +
         std::to_string(mine.at[at].extent) + " and " +
         std::to_string(theirs.only_here(mine.at[at].dim, mine)) + " elements";
}

/// Fowler, Noll, Vo: a hash of 64 bits.
inline std::uint64_t hash_of(const void* data, std::size_t bytes,
                             std::uint64_t h = 14695981039346656037ull) {
  const auto* const p = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < bytes; ++i) h = (h ^ p[i]) * 1099511628211ull;
  return h;
}

/// A block that a local operation took: along which axes it is the same, and what was in it.
struct kept_replica {
  unsigned axes;
  std::uint64_t which, values;
  std::string words;
};
/// What local operations took as replicas since ranks last met: a hash of which, of the elements,
/// and words for them.
struct kept_blocks {
  std::uint64_t which = 0, values = 0;
  std::string words;

  /// Those that calls of the operation which runs may take (null: none), and along which axes it
  /// makes collectives.
  struct offer {
    std::vector<kept_replica>* all = nullptr;
    std::vector<unsigned> along = {};
  };
  static offer& shown() {
    static thread_local offer it;
    return it;
  }
  /// For a call along these axes: what is the same along all of them, and no call has taken yet.
  static kept_blocks take(unsigned axes) {
    kept_blocks b;
    std::vector<kept_replica>* const all = shown().all;
    if (all == nullptr || axes == 0) return b;
    for (kept_replica& one : *all) {
      if ((one.axes & axes) != axes) continue;
      b.which = hash_of(&one.which, sizeof one.which, b.which);
      b.values = hash_of(&one.values, sizeof one.values, b.values);
      if (b.words.size() < 400) b.words += (b.words.empty() ? "" : ", or ") + one.words;
      one.axes &= ~axes;
    }
    std::erase_if(*all, [](const kept_replica& one) { return one.axes == 0; });
    return b;
  }
  /// The operation has ended. A group all of whose blocks are empty made none of its collectives:
  /// it lets go of what the others took in them, so that all ranks keep one list.
  static void end_offer() {
    for (const unsigned axes : shown().along) (void)take(axes);
    shown() = {};
  }
};

}  // namespace dimesh::detail
