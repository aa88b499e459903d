// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where is a line cut whose parts are each in order, so that the first so many elements of the
// whole line's order lie before the cut? Some elements of every part bound the cut; those between
// the bounds decide. Exact: equal elements keep the order of their parts.
//
//   const sampled_line<T, Before> line({4, 4}, {2, 2}, samples);
//   line.bound(3, lo, hi);                       // of part k at least lo[k], at most hi[k]
//                                                // elements are among the first 3
//   settle_cuts<Before>(between, 3, 2, lo, hi);  // lo[k] are
//
// The bounds of parallel sorting by regular sampling (Shi and Schaeffer 1992), here made exact.
#pragma once

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/order.hpp"

namespace dimesh::local {

/// Element j of m that stand for n in order: the first of every n/m.
constexpr index_t sampled_place(index_t j, index_t n, index_t m) { return j * n / m; }

/// The samples of one line, of all parts, in order; asked for one cut after another.
template <class T, class Before> class sampled_line {
 public:
  /// Part k has n[k] elements, of which m[k] <= n[k] are samples; they stand part by part.
  sampled_line(const std::vector<index_t>& n, const std::vector<index_t>& m, const T* samples)
      : n_(n), m_(m) {
    const std::size_t parts = n.size();
    for (std::size_t k = 0; k < parts; ++k)
      for (index_t j = 0; j < m[k]; ++j) {
        all_.push_back({samples[all_.size()], static_cast<index_t>(all_.size())});
        part_.push_back(k);
        place_.push_back(sampled_place(j, n[k], m[k]));
      }
    std::sort(all_.begin(), all_.end(), Before{});
    // Below sample i stand at least least_[i] elements and at most most_[i].
    std::vector<index_t> passed(parts);
    index_t least = 0, most = 0;
    for (const auto& one : all_) {
      const auto at = static_cast<std::size_t>(one.at);
      const std::size_t k = part_[at];
      least_.push_back(least - lower(k, passed[k]) + place_[at]);
      most_.push_back(most);
      least -= lower(k, passed[k]), most -= upper(k, passed[k]);
      ++passed[k];
      least += lower(k, passed[k]), most += upper(k, passed[k]);
    }
  }
  /// Of part k, at least lo[k] and at most hi[k] of its elements are among the first `target`.
  void bound(index_t target, index_t* lo, index_t* hi) const {
    const auto first = static_cast<std::size_t>(
        std::upper_bound(most_.begin(), most_.end(), target) - most_.begin());
    const auto last = static_cast<std::size_t>(
        std::lower_bound(least_.begin(), least_.end(), target) - least_.begin());
    // Sample first - 1 is the last that has no more than target below it.
    count_below(first, true, lo);
    count_below(last, false, hi);
  }

 private:
  /// Of part k, whose first `passed` samples are below: elements that are, at least and at most.
  index_t lower(std::size_t k, index_t passed) const {
    return passed == 0 ? 0 : sampled_place(passed - 1, n_[k], m_[k]) + 1;
  }
  index_t upper(std::size_t k, index_t passed) const {
    return passed < m_[k] ? sampled_place(passed, n_[k], m_[k]) : n_[k];
  }
  /// Lower: elements below sample i - 1 of the order (none if i is 0). Else: at most how many are
  /// below sample i (all if there is none).
  void count_below(std::size_t i, bool is_lower, index_t* of) const {
    const dimesh::detail::writes_arrays host;
    std::vector<index_t> passed(n_.size());
    const std::size_t until = is_lower ? (i == 0 ? 0 : i - 1) : i;
    for (std::size_t s = 0; s < until; ++s) ++passed[part_[static_cast<std::size_t>(all_[s].at)]];
    for (std::size_t k = 0; k < n_.size(); ++k)
      of[k] = is_lower ? lower(k, passed[k]) : upper(k, passed[k]);
    if (until < all_.size() && !(is_lower && i == 0)) {
      const auto at = static_cast<std::size_t>(all_[until].at);
      of[part_[at]] = place_[at];
    }
  }

  const std::vector<index_t>&n_, &m_;
  std::vector<detail::placed_element<T, index_t>> all_;  // at: as they were given
  std::vector<std::size_t> part_;
  std::vector<index_t> place_, least_, most_;
};

/// The elements of parts between their bounds stand part by part, hi[k] - lo[k] each; afterwards
/// lo[k] of part k are among the first `target` of all.
template <class Before, class T>
void settle_cuts(const T* between, index_t target, std::size_t parts, index_t* lo,
                 const index_t* hi) {
  const dimesh::detail::writes_memory kernel;
  std::vector<detail::placed_element<T, index_t>> all;
  std::vector<index_t> end;
  for (std::size_t k = 0; k < parts; ++k) {
    for (index_t i = lo[k]; i < hi[k]; ++i)
      all.push_back({between[all.size()], static_cast<index_t>(all.size())});
    end.push_back(static_cast<index_t>(all.size()));
    target -= lo[k];
  }
  if (target <= 0) return;
  std::nth_element(all.begin(), all.begin() + (target - 1), all.end(), Before{});
  for (index_t i = 0; i < target; ++i)
    ++lo[std::upper_bound(end.begin(), end.end(), all[static_cast<std::size_t>(i)].at) -
         end.begin()];
}

}  // namespace dimesh::local
