// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which keys does a query of an attention see? By their places: a mask that is causal, or a window.
// And by data: only keys of its own segment, where several sequences share a row.
//
//   visibility{.keys = 6, .causal = true}.end(2)   -> 3: query 2 sees the keys 0, 1, 2
//   segment_ids{q, 1, k}.of_keys(8, 4)             -> the least and greatest id of the keys 8..11
#pragma once

#include <algorithm>
#include <limits>

#include "dimesh/detail/config.hpp"

namespace dimesh::local {

/// Which keys a query sees: those in [begin(q), end(q)), both of which never fall as q grows. A
/// window of w keys ends with the query's own (causal) or has it in its middle: |q - key| < w.
struct visibility {
  index_t keys = 0;
  bool causal = false;
  index_t window = 0;  ///< 0: no limit

  constexpr index_t begin(index_t q) const { return window > 0 ? within(q - window + 1) : 0; }
  constexpr index_t end(index_t q) const {
    return causal ? within(q + 1) : window > 0 ? within(q + window) : keys;
  }
  /// How many pairs of a query in [from, from + queries) and a key see each other.
  constexpr index_t pairs(index_t from, index_t queries) const {
    const index_t to = from + queries;
    const index_t before = window > 0 ? below(to - window + 1) - below(from - window + 1) : 0;
    if (causal) return below(to + 1) - below(from + 1) - before;
    return (window > 0 ? below(to + window) - below(from + window) : queries * keys) - before;
  }

 private:
  constexpr index_t within(index_t n) const { return n < 0 ? 0 : n > keys ? keys : n; }
  /// The sum of within(i) over i < n.
  constexpr index_t below(index_t n) const {
    if (n <= 0) return 0;
    return n <= keys ? n * (n - 1) / 2 : keys * (keys + 1) / 2 + (n - keys - 1) * keys;
  }
};

/// The ids of some queries or keys lie within [least, most]; of none, in an empty range.
struct id_range {
  index_t least = std::numeric_limits<index_t>::max();
  index_t most = std::numeric_limits<index_t>::min();

  constexpr bool meets(const id_range& o) const { return least <= o.most && o.least <= most; }
  /// Do all of both have one and the same id?
  constexpr bool is_only(const id_range& o) const {
    return least == most && o.least == least && o.most == most;
  }
};

/// A query sees the keys that have its id.
struct segment_ids {
  const index_t* queries = nullptr;  ///< null: all have the id 1, so that those of keys are flags
  index_t step = 0;  ///< from one query to the next; 0: all have the same
  const index_t* keys = nullptr;  ///< null: ids hide nothing

  constexpr bool any() const { return keys != nullptr; }
  /// Those of keys where they are flags: 1 for a key that all queries see, else hidden from all.
  constexpr const index_t* flags() const { return queries == nullptr ? keys : nullptr; }
  constexpr index_t of_query(index_t i) const { return queries == nullptr ? 1 : queries[i * step]; }
  constexpr id_range of_queries(index_t from, index_t n) const {
    return queries == nullptr ? id_range{1, 1} : among(queries + from * step, step, n);
  }
  constexpr id_range of_keys(index_t from, index_t n) const { return among(keys + from, 1, n); }

 private:
  static constexpr id_range among(const index_t* id, index_t step, index_t n) {
    id_range r;
    for (index_t i = 0; i < n; ++i)
      r = {std::min(r.least, id[i * step]), std::max(r.most, id[i * step])};
    return r;
  }
};

}  // namespace dimesh::local
