// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Under which layout is a tensor summed that has addends on one mesh, and is on its way to another?
// Every axis that holds addends, or replicates, may come to split a dim for the sum, which then
// scatters; what is left moves. Weighed is what a rank receives in both; where the sum can end in
// the new blocks, nothing is left to move.
//
//   summed_for(facts of {partial 0, partial 1}, {split d over u}, {4})   -> {split d over 0, 1}
//   summed_for(facts of {partial 0}, {replicated}, {2})                  -> {replicated}
//
// Sums end on all ranks of an axis, also for a goal that lives at a place, to which goes what was
// scattered. A reduce to the place, or addends sent there, are fewer bytes for n ranks together
// (n - 1 blocks, not n - 1/n), but from three ranks on more for the one that all wait for (n - 1,
// or log2(n) in a tree, not 2 - 2/n). To send every rank the addends of its new block, and to add
// there, would be one step: fewer bytes where the sum cannot end in parts of the new blocks, else
// not, since of g addends a rank lacks g - 1.
#pragma once

#include "dimesh/op/parts/across.hpp"

namespace dimesh::detail {

/// The search. Sizes and extents that only the run knows are assumed: two ranks, or as many as the
/// other mesh has; blocks of any lengths are taken to be even.
class sum_across {
  static constexpr int most_boxes = 1024, most_tries = 256, most_ranks = 16;

 public:
  constexpr sum_across(const tensor_facts& x, const table& goal, const index_t* there)
      : x_(x), from_(as_even(x.layout)), goal_(as_even(goal)) {
    for (int a = 0; a < from_.axes; ++a) here_[a] = assumed(x.axis_sizes()[a], 2);
    for (int a = 0; a < goal_.axes; ++a) there_[a] = assumed(there[a], 2);
    match(here_, x.axis_sizes(), from_.axes, there_, goal_.axes);
    match(there_, there, goal_.axes, here_, from_.axes);
    old_ = placed_on(here_), now_ = placed_on(there_);
    for (int d = 0; d < x.rank; ++d) block_ *= static_cast<double>(old_.extent[d]);
    block_ /= part(from_.mask(use::split));
    for (int a = 0; a < from_.axes; ++a) {
      const use u = from_.axis[a].what;
      if ((u == use::partial || u == use::replicated) && here_[a] > 1) free_[axes_++] = a;
    }
    find_dims();
  }
  /// The table that lets a rank receive the least; of equals the one that scatters least.
  constexpr table best() {
    look_from_ranks();
    try_all(from_, 0, -1);
    table t = best_;
    for (int d = 0; d < x_.rank; ++d)
      if (x_.layout.ragged[d]) t.ragged[d] = true, t.uneven[d] = x_.layout.uneven[d];
    return tidied(x_, t);
  }

 private:
  const tensor_facts& x_;
  table from_, goal_, best_;
  double least_ = -1, block_ = 1;
  index_t here_[max_axes]{}, there_[max_axes]{};
  placement old_, now_;
  int free_[max_axes]{}, axes_ = 0, dim_[max_dims]{}, dims_ = 0, tries_ = 0;
  index_t rank_[most_ranks]{};
  box wanted_[most_ranks]{};
  int ranks_ = 0;

  static constexpr index_t assumed(index_t known, index_t otherwise) {
    return known < 1 ? otherwise : known;
  }
  static constexpr table as_even(table t) {
    for (int d = 0; d < max_dims; ++d)
      if (t.ragged[d]) t.ragged[d] = false, t.uneven[d] = true;
    return t;
  }
  static constexpr index_t product(const index_t* sizes, int axes) {
    return group_size((1u << axes) - 1, sizes);
  }
  /// Where a size is open, there are as many ranks as on the other mesh, if that can be.
  static constexpr void match(index_t* sizes, const index_t* known, int axes, const index_t* others,
                              int n) {
    const index_t few = product(sizes, axes), many = product(others, n);
    for (int a = 0; a < axes && few < many && many % few == 0; ++a)
      if (known[a] < 1) {
        sizes[a] *= many / few;
        return;
      }
  }
  constexpr placement placed_on(const index_t* sizes) const {
    placement p;
    p.rank = x_.rank;
    for (int d = 0; d < x_.rank; ++d) p.extent[d] = assumed(x_.dim[d]->extent, 720);
    p.sizes = sizes;
    return p;
  }
  constexpr double part(unsigned axes) const {
    return static_cast<double>(group_size(axes, here_));
  }
  /// Those that the goal splits; else those with the most elements.
  constexpr void find_dims() {
    for (int d = 0; d < x_.rank; ++d)
      if (!x_.layout.ragged[d] && goal_.split_count(d) > 0) dim_[dims_++] = d;
    int longest = -1;
    for (int d = 0; d < x_.rank && dims_ == 0; ++d)
      if (!x_.layout.ragged[d] && (longest < 0 || old_.extent[d] > old_.extent[longest]))
        longest = d;
    if (longest >= 0) dim_[dims_++] = longest;
  }
  /// The ranks for which it is worked out what they lack: all, or some all over the mesh.
  constexpr void look_from_ranks() {
    int tables = 1;
    for (int i = 0; i < axes_ && tables < most_tries; ++i) tables *= dims_ + 1 + i;
    const index_t all = product(here_, from_.axes);
    const index_t may = most_boxes / (tables < most_tries ? tables : most_tries);
    const index_t n = may < most_ranks ? may : most_ranks, step = all > n ? all / n | 1 : 1;
    for (; ranks_ < n && ranks_ < all; ++ranks_) {
      rank_[ranks_] = ranks_ * step % all;
      wanted_[ranks_] = block_of(now_, goal_, rank_[ranks_]);
    }
  }
  static constexpr box block_of(const placement& p, const table& t, index_t r) {
    return box_at(t, p.rank, p.extent, p.sizes,
                  peer(r, (1u << t.axes) - 1, p.sizes, nullptr).coords);
  }
  /// From each table on: as it is, and with one more axis, that splits one dim or another.
  constexpr void try_all(const table& now, unsigned taken, int last) {
    if (tries_++ >= most_tries) return;
    weigh(now);
    for (int i = 0; i < axes_; ++i) {
      if ((taken >> i & 1u) != 0 || (axes_ > 2 && i < last)) continue;
      for (int k = 0; k < dims_; ++k)
        try_all(with_split(now, free_[i], dim_[k], true), taken | 1u << i, i);
    }
  }
  constexpr void weigh(const table& now) {
    table t = now;
    unsigned scattered = 0, gathered = 0;
    double block = block_;
    for (int i = 0; i < axes_; ++i) {
      const int a = free_[i];
      const bool splits = t.axis[a].what == use::split;
      if (from_.axis[a].what == use::partial)
        (splits ? scattered : gathered) |= 1u << a;
      else if (splits)
        block /= part(1u << a);
    }
    for (int a = 0; a < t.axes; ++a)
      if (t.axis[a].what == use::partial) t.axis[a] = {};
    const double left = block / part(scattered);
    const double sums = block - left + 2 * (left - left / part(gathered));
    const double n = sums / part(from_.mask(use::placed)) + lacked(t);
    if (least_ >= 0 && n > least_ * (1 - 1e-9)) return;
    least_ = n, best_ = t;
  }
  constexpr double lacked(const table& t) const {
    double n = 0;
    for (int i = 0; i < ranks_; ++i) {
      const box had = block_of(old_, t, rank_[i]);
      n += static_cast<double>(wanted_[i].size() - intersection(had, wanted_[i]).size());
    }
    return n / ranks_;
  }
};

/// The table under which x, which has addends, is summed on its mesh before it goes to `goal` on
/// another, whose axes have these sizes as far as types say.
constexpr table summed_for(const tensor_facts& x, const table& goal, const index_t* sizes) {
  return sum_across(x, goal, sizes).best();
}

}  // namespace dimesh::detail
