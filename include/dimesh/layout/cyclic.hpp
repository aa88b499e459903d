// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which elements of a dim does a process have, to which blocks are dealt in turn? Block-cyclic:
// blocks of a few elements go round the processes, more than once where there are more blocks.
// What a process has it keeps densely, in order.
//
//   const cyclic c{2, 3, 1};    // 0 1 to process 1, 2 3 to 2, 4 5 to 0, 6 7 to 1 ...
//   c.before(7, 1)       -> 3: process 1 has 0 1 6 of the elements before 7
//   c.global(2, 1)       -> 6: its third element
//   c.each_run(1, 4, f)  -> one run of 1 element, at place 1; one of 2, at place 2
//
// ScaLAPACK Users' Guide (1997), section 4.3.2: MB_ or NB_, the process rows or columns, and RSRC_
// or CSRC_.
#pragma once

#include "dimesh/detail/config.hpp"

namespace dimesh::detail {

/// Blocks of so many elements, dealt in turn to the processes from `first` on.
struct cyclic {
  index_t block = 1, processes = 1, first = 0;

  /// Which of each round's blocks is that of a process.
  constexpr index_t turn(index_t process) const {
    return (process + processes - first) % processes;
  }
  /// How many of the elements before i a process has: where i lies, if it has that.
  constexpr index_t before(index_t i, index_t process) const {
    const index_t blocks = i / block, dealt = blocks % processes, mine = turn(process);
    return blocks / processes * block + (mine < dealt ? block : mine == dealt ? i % block : 0);
  }
  /// Which element of the dim a process has at a place of its own.
  constexpr index_t global(index_t local, index_t process) const {
    return (local / block * processes + turn(process)) * block + local % block;
  }
  /// As many of n elements as no process exceeds.
  constexpr index_t most(index_t n) const { return before(n, first); }

  /// `count` runs of `length` elements each, the first at place `local` of the process; in the dim
  /// they are step() apart, with the process they are dense.
  struct runs {
    index_t local = 0, count = 0, length = 0;
  };
  constexpr index_t step() const { return block * processes; }
  /// Calls f(runs) for what a process keeps at [from, to): a block that begins before, whole ones,
  /// and one that goes on behind.
  template <class F> constexpr void each_run(index_t from, index_t to, const F& f) const {
    if (from >= to) return;
    if (processes == 1) return f(runs{from, 1, to - from});
    if (const index_t in = from % block; in != 0) {
      const index_t rest = block - in < to - from ? block - in : to - from;
      f(runs{from, 1, rest});
      from += rest;
    }
    const index_t whole = (to - from) / block;
    if (whole > 0) f(runs{from, whole, block});
    from += whole * block;
    if (from < to) f(runs{from, 1, to - from});
  }
};

}  // namespace dimesh::detail
