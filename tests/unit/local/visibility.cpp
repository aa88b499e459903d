// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/local/visibility.hpp"

namespace {

using dimesh::index_t;
using dimesh::local::id_range, dimesh::local::segment_ids, dimesh::local::visibility;

static_assert(visibility{6, true, 0}.end(2) == 3 && visibility{6, true, 0}.begin(2) == 0);
static_assert(visibility{6, true, 2}.begin(2) == 1 && visibility{6, false, 2}.end(2) == 4);
static_assert(visibility{6, true, 0}.end(9) == 6 && visibility{6, true, 3}.begin(9) == 6);

/// The number of pairs, counted one by one.
constexpr index_t counted(const visibility& v, index_t from, index_t queries) {
  index_t n = 0;
  for (index_t q = from; q < from + queries; ++q) n += v.end(q) - v.begin(q);
  return n;
}
constexpr bool pairs_agree() {
  for (const index_t keys : {0, 1, 5, 9})
    for (const index_t window : {0, 1, 3, 20})
      for (const bool causal : {false, true})
        for (const index_t from : {-4, 0, 3, 12})
          for (const index_t queries : {0, 1, 7, 15}) {
            const visibility v{keys, causal, window};
            if (v.pairs(from, queries) != counted(v, from, queries)) return false;
          }
  return true;
}
static_assert(pairs_agree());

constexpr index_t ids[] = {4, 1, 1, 7, 2};
constexpr segment_ids segments{ids, 2, ids};
static_assert(segments.any() && !segment_ids{}.any());
static_assert(segments.of_query(2) == 2);
static_assert(segments.of_queries(0, 3).least == 1 && segments.of_queries(0, 3).most == 4);
static_assert(segments.of_keys(1, 3).least == 1 && segments.of_keys(1, 3).most == 7);
static_assert(segments.of_keys(3, 1).meets({2, 7}) && !segments.of_keys(3, 1).meets({2, 6}));
static_assert(!id_range{}.meets(segments.of_keys(0, 5)) && !segments.of_keys(0, 5).meets({}));
static_assert(segments.of_keys(1, 2).is_only({1, 1}) && !segments.of_keys(1, 2).is_only({1, 2}));
static_assert(!segments.of_keys(0, 2).is_only({1, 1}));

}  // namespace
