// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which elements of each rank's lines are among the first so many of the whole lines, in order,
// where ranks split the dim? Every rank sorts its parts and tells a few elements of each, evenly
// spaced; then all tell those that these leave undecided. All ranks then know how many elements of
// every part come first, so that an exchange needs no counts, and blocks come out as the layout has
// them whatever the data.
//
//   sorted_lines<T, Before> lines(x, d);   lines.find({4, 8});   lines.cut(line, 0, part)
//
// Of n elements a rank tells about the square root, twice; all of them where n is small, once.
#pragma once

#include <memory>

#include "dimesh/collective/all_gather.hpp"
#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/splitters.hpp"
#include "dimesh/op/parts/along.hpp"

namespace dimesh::detail {

/// The lines of a tensor along a dim, one for each place of the others.
constexpr index_t lines_of(const tensor_core& x, int d) {
  index_t n = 1;
  for (int e = 0; e < x.rank(); ++e) n *= e == d ? 1 : x.local(e);
  return n;
}
constexpr cut_dim dim_in_order(const tensor_core& x, int d) {
  return cut_dim(placement_of(x), x.layout(), d, boundary::zero);
}
/// How many elements a part of a line tells at first, where no part is longer than this.
constexpr index_t most_samples(index_t longest, index_t cuts) {
  index_t n = 64;
  while (n * n < longest * cuts) n += n / 8;
  return n;
}

/// What it costs the rank at the origin to find cuts. What a second round tells depends on data;
/// two steps between samples for each cut is what random ones leave undecided.
constexpr void count_cuts(tally& t, const cut_dim& dim, index_t lines, index_t cuts, index_t size) {
  if (dim.talk == 0 || cuts == 0) return;
  index_t longest = 0, all = 0;
  for (index_t r = 0; r < dim.ranks(); ++r)
    longest = longest > dim.of(r).length ? longest : dim.of(r).length;
  const index_t most = most_samples(longest, cuts), own = dim.of(dim.me()).length;
  const auto told = [most](index_t n) { return n < most ? n : most; };
  for (index_t r = 0; r < dim.ranks(); ++r) all += told(dim.of(r).length);
  const auto count = [&](index_t mine, index_t sum) {
    if (sum * lines * size > 0)
      t.collective(event_kind::all_gather, dim.talk, mine * lines * size,
                   ring_bytes(event_kind::all_gather, sum * lines * size, dim.ranks()));
  };
  count(told(own), all);
  if (longest <= most) return;
  const auto left = [&](index_t n) { return n <= most ? 0 : 2 * cuts * ((n + most - 1) / most); };
  index_t later = 0;
  for (index_t r = 0; r < dim.ranks(); ++r) later += left(dim.of(r).length);
  count(left(own), later);
}

/// The parts that this rank has of the lines along dim d, each in order, and where the whole lines'
/// order cuts every part.
template <class T, class Before> class sorted_lines {
 public:
  using element = local::detail::placed_element<T, std::int32_t>;

  sorted_lines(const tensor_core& x, int d) : dim_(dim_in_order(x, d)), lines_(lines_of(x, d)) {
    const writes_memory kernel;
    parts_in_order();
    const index_t n = length(part_);
    index_t inner = 1;
    for (int e = d + 1; e < x.rank(); ++e) inner *= x.local(e);
    own_ = std::make_unique_for_overwrite<element[]>(index(lines_ * n));
    const auto places = std::make_unique_for_overwrite<std::int32_t[]>(index(lines_ * n));
    if (lines_ * n > 0)
      local::order_along({lines_ / inner, n, n, inner}, x.data<const T>(), Before::descending,
                         places.get());
    for (index_t l = 0; l < lines_; ++l) {
      const index_t first = l / inner * n * inner + l % inner;
      const T* const from = x.data<const T>() + first;
      const std::int32_t* const at = places.get() + first;
      element* const line = own_.get() + l * n;
      for (index_t i = 0; i < n; ++i) {
        const std::int32_t place = at[i * inner];
        line[i] = {from[place * inner], place};
      }
    }
    if (dim_.talk != 0) over_ = &x.grid->along(dim_.talk);
  }

  const communicator* over() const { return over_; }
  index_t lines() const { return lines_; }
  /// Ranks along the dim, in the order of their blocks; which of them is this one.
  index_t parts() const { return static_cast<index_t>(rank_.size()); }
  index_t part() const { return part_; }
  int rank_of(index_t part) const { return rank_[static_cast<std::size_t>(part)]; }
  index_t length(index_t part) const { return length_[static_cast<std::size_t>(part)]; }
  index_t longest() const { return *std::max_element(length_.begin(), length_.end()); }
  index_t first() const { return dim_.of(dim_.me()).offset; }
  /// This rank's part of a line, in order.
  const element* line(index_t l) const { return own_.get() + l * length(part_); }
  /// So many elements of a part of a line are among the first targets[i] of the line. Known are all
  /// cuts of this rank's part, and of other parts those between which its block lies: cuts part()
  /// - 1 and part().
  index_t cut(index_t l, index_t i, index_t part) const {
    if (part == part_) return own_cut_[index(l * cuts_ + i)];
    return near_cut_[index((2 * l + (i - part_ + 1)) * parts() + part)];
  }

  /// Finds the cuts. Collective along the axes that split the dim.
  void find(const std::vector<index_t>& targets) {
    cuts_ = static_cast<index_t>(targets.size());
    own_cut_.assign(index(lines_ * cuts_), 0);
    near_cut_.assign(index(2 * lines_ * parts()), 0);
    if (cuts_ == 0) return;
    const std::vector<T> samples = tell_samples();
    std::vector<index_t> begin{0}, open;  // open: lines of which samples leave something undecided
    std::vector<index_t> count(length_.size());
    std::vector<T> mine;
    for (index_t k = 0; k < parts(); ++k) begin.push_back(begin.back() + lines_ * told(k));
    for (index_t l = 0; l < lines_; ++l) {
      bool decided = true;
      for_each_bound(samples, begin, l, targets, [&](index_t i, index_t* lo, const index_t* hi) {
        keep(l, i, lo);
        for (std::size_t k = 0; k < count.size(); ++k) {
          count[k] += hi[k] - lo[k];
          decided = decided && hi[k] == lo[k];
        }
        for (index_t e = lo[index(part_)]; e < hi[index(part_)]; ++e)
          mine.push_back(line(l)[e].value);
      });
      if (!decided) open.push_back(l);
    }
    const std::vector<T> all = gathered(mine, count);
    std::vector<index_t> next{0};
    for (const index_t n : count) next.push_back(next.back() + n);
    std::vector<T> between;
    for (const index_t l : open)
      for_each_bound(samples, begin, l, targets, [&](index_t i, index_t* lo, const index_t* hi) {
        between.clear();
        for (std::size_t k = 0; k < count.size(); ++k)
          for (index_t e = lo[k]; e < hi[k]; ++e) between.push_back(all[index(next[k]++)]);
        local::settle_cuts<Before>(between.data(), targets[index(i)], count.size(), lo, hi);
        keep(l, i, lo);
      });
  }

 private:
  static std::size_t index(index_t i) { return static_cast<std::size_t>(i); }
  index_t told(index_t part) const { return told_[index(part)]; }

  void parts_in_order() {
    for (index_t r = 0; r < dim_.ranks(); ++r) rank_.push_back(static_cast<int>(r));
    // Of blocks that begin at one place all but the last are empty.
    std::sort(rank_.begin(), rank_.end(), [this](int a, int b) {
      const block x = dim_.of(a), y = dim_.of(b);
      if (x.offset != y.offset) return x.offset < y.offset;
      return x.length != y.length ? x.length < y.length : a < b;
    });
    for (std::size_t k = 0; k < rank_.size(); ++k) {
      length_.push_back(dim_.of(rank_[k]).length);
      if (rank_[k] == dim_.me()) part_ = static_cast<index_t>(k);
    }
  }
  /// From blocks by rank to blocks by part.
  std::vector<T> gathered(const std::vector<T>& mine, const std::vector<index_t>& count) const {
    if (over_ == nullptr) return mine;
    std::vector<index_t> by_rank(count.size()), begin(count.size());
    for (std::size_t k = 0; k < count.size(); ++k)
      by_rank[static_cast<std::size_t>(rank_[k])] = count[k];
    index_t sum = 0;
    for (std::size_t r = 0; r < count.size(); ++r) begin[r] = sum, sum += by_rank[r];
    std::vector<T> all(index(sum)), sorted;
    collective::all_gather_v(*over_, mine.data(), by_rank.data(), all.data());
    sorted.reserve(all.size());
    for (std::size_t k = 0; k < count.size(); ++k) {
      const T* const from = all.data() + begin[static_cast<std::size_t>(rank_[k])];
      sorted.insert(sorted.end(), from, from + count[k]);
    }
    return sorted;
  }
  /// Of all parts: [part][line][sample].
  std::vector<T> tell_samples() {
    const index_t most = most_samples(longest(), cuts_), n = length(part_);
    std::vector<index_t> count;
    told_.clear();
    for (const index_t all : length_) {
      told_.push_back(std::min(all, most));
      count.push_back(lines_ * told_.back());
    }
    std::vector<T> mine;
    mine.reserve(index(lines_ * told(part_)));
    for (index_t l = 0; l < lines_; ++l)
      for (index_t j = 0; j < told(part_); ++j)
        mine.push_back(line(l)[local::sampled_place(j, n, told(part_))].value);
    return gathered(mine, count);
  }
  /// f(cut, least, most) for the cuts of a line: how many elements of each part are among the first
  /// so many, as far as the samples of all parts, which begin there, say it.
  template <class F>
  void for_each_bound(const std::vector<T>& samples, const std::vector<index_t>& begin, index_t l,
                      const std::vector<index_t>& targets, const F& f) const {
    std::vector<T> one;
    for (index_t k = 0; k < parts(); ++k) {
      const T* const from = samples.data() + begin[index(k)] + l * told(k);
      one.insert(one.end(), from, from + told(k));
    }
    const local::sampled_line<T, Before> line(length_, told_, one.data());
    std::vector<index_t> low(length_.size()), high(length_.size());
    for (index_t i = 0; i < cuts_; ++i) {
      line.bound(targets[index(i)], low.data(), high.data());
      f(i, low.data(), high.data());
    }
  }
  /// What this rank is to know of a cut: of lines x ranks numbers, not of their square.
  void keep(index_t l, index_t i, const index_t* low) {
    own_cut_[index(l * cuts_ + i)] = low[part_];
    const index_t side = i - part_ + 1;
    if (side == 0 || side == 1)
      std::copy_n(low, parts(), near_cut_.begin() + (2 * l + side) * parts());
  }

  cut_dim dim_;
  index_t lines_, part_ = 0, cuts_ = 0;
  const communicator* over_ = nullptr;  // null: there is nobody to talk to
  std::vector<int> rank_;  // of each part
  std::vector<index_t> length_, told_;  // of each part
  std::unique_ptr<element[]> own_;  // [line][place in order]
  std::vector<index_t> own_cut_;  // [line][cut]
  std::vector<index_t> near_cut_;  // [line][cut before, cut behind][part]
};

}  // namespace dimesh::detail
