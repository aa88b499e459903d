// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/layout/cyclic.hpp"

namespace {

using dimesh::index_t;
using dimesh::detail::cyclic;

constexpr cyclic in_pairs{2, 3, 1};
static_assert(in_pairs.before(7, 1) == 3 && in_pairs.before(8, 1) == 4 &&
              in_pairs.before(100, 0) == 32 && in_pairs.before(0, 2) == 0);
static_assert(in_pairs.global(2, 1) == 6 && in_pairs.global(0, 0) == 4 &&
              in_pairs.global(3, 2) == 9);
static_assert(in_pairs.most(7) == 3 && in_pairs.most(2) == 2 && in_pairs.most(0) == 0);

/// Elements dealt one by one, as the words say: is each where before() and global() have it?
constexpr bool deals(const cyclic& c, index_t n) {
  for (index_t process = 0; process < c.processes; ++process) {
    index_t kept = 0;
    for (index_t i = 0; i < n; ++i) {
      if (c.before(i, process) != kept) return false;
      if ((c.first + i / c.block) % c.processes != process) continue;
      if (c.global(kept, process) != i) return false;
      ++kept;
    }
    if (c.before(n, process) != kept || kept > c.most(n)) return false;
  }
  return true;
}
/// Do the runs of each range make up the range, one element after another?
constexpr bool covers(const cyclic& c, index_t kept) {
  for (index_t process = 0; process < c.processes; ++process)
    for (index_t from = 0; from <= kept; ++from)
      for (index_t to = from; to <= kept; ++to) {
        index_t next = from;
        bool right = true;
        c.each_run(from, to, [&](const cyclic::runs& r) {
          for (index_t k = 0; k < r.count; ++k)
            for (index_t i = 0; i < r.length; ++i) {
              right = right && r.local + k * c.block + i == next &&
                      c.global(r.local, process) + k * c.step() + i == c.global(next, process);
              ++next;
            }
        });
        if (!right || next != to) return false;
      }
  return true;
}
constexpr bool all_deal() {
  for (index_t block = 1; block <= 4; ++block)
    for (index_t processes = 1; processes <= 4; ++processes)
      for (index_t first = 0; first < processes; ++first)
        if (!deals({block, processes, first}, 23) || !covers({block, processes, first}, 9))
          return false;
  return true;
}
static_assert(all_deal());
static_assert(deals({7, 1, 0}, 23) && deals({30, 3, 2}, 23));

// Beyond 2^31 elements.
static_assert(cyclic{64, 2, 0}.before(index_t{1} << 40, 1) == index_t{1} << 39);

}  // namespace
