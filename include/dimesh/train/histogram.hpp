// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are the elements of a tensor distributed? Counted in buckets whose limits grow by a tenth
// each, from 1e-12 to 1e20 on both sides of zero, as TensorBoard's own histograms are. Each element
// counts once, whatever the layout; the ranks sum their counts.
//
//   value_histogram h = histogram_of(complete(gradient));    // the same on all ranks
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "dimesh/collective/all_reduce.hpp"
#include "dimesh/op/to_rank.hpp"

namespace dimesh {

/// Counts of numbers. Those that are no numbers or infinite are counted apart.
class value_histogram {
 public:
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  double sum = 0, sum_of_squares = 0;
  index_t count = 0, not_finite = 0;

  void add(double v) {
    if (!std::isfinite(v)) {
      ++not_finite;
      return;
    }
    ++counts_[bucket(v)];
    ++count;
    min = std::fmin(min, v);
    max = std::fmax(max, v);
    sum += v;
    sum_of_squares += v * v;
  }
  double mean() const { return count > 0 ? sum / static_cast<double>(count) : 0; }

  /// The upper limits and counts of the buckets that are not empty, with one empty one before a
  /// stretch of them, so that pictures show where it begins.
  struct bucket_list {
    std::vector<double> limits, counts;
  };
  bucket_list buckets() const {
    bucket_list b;
    const auto& limit = limits();
    for (std::size_t i = 0; i < limit.size(); ++i) {
      const bool follows = i + 1 < limit.size() && counts_[i + 1] > 0;
      if (counts_[i] == 0 && !follows) continue;
      b.limits.push_back(limit[i]);
      b.counts.push_back(static_cast<double>(counts_[i]));
    }
    return b;
  }
  /// Adds up what the ranks counted. Collective over c.
  void sum_over(const detail::communicator& c) {
    if (c.size() == 1) return;
    const detail::of_host numbers;
    std::vector<index_t> whole = counts_;
    whole.push_back(count), whole.push_back(not_finite);
    collective::all_reduce(c, whole.data(), whole.data(), static_cast<index_t>(whole.size()),
                           collective::reduction::sum);
    double sums[2] = {sum, sum_of_squares}, least[2] = {min, -max};
    collective::all_reduce(c, sums, sums, 2, collective::reduction::sum);
    collective::all_reduce(c, least, least, 2, collective::reduction::min);
    not_finite = whole.back(), whole.pop_back();
    count = whole.back(), whole.pop_back();
    counts_ = std::move(whole);
    sum = sums[0], sum_of_squares = sums[1], min = least[0], max = -least[1];
  }

 private:
  static std::size_t bucket(double v) {
    const auto& l = limits();
    return static_cast<std::size_t>(std::upper_bound(l.begin(), l.end() - 1, v) - l.begin());
  }
  static const std::vector<double>& limits() {
    static const std::vector<double> all = [] {
      std::vector<double> up, l;
      for (double v = 1e-12; v < 1e20; v *= 1.1) up.push_back(v);
      for (auto v = up.rbegin(); v != up.rend(); ++v) l.push_back(-*v);
      l.push_back(0);
      l.insert(l.end(), up.begin(), up.end());
      l.push_back(std::numeric_limits<double>::max());
      return l;
    }();
    return all;
  }
  std::vector<index_t> counts_ = std::vector<index_t>(limits().size());
};

namespace detail {
/// The elements of this rank's block without its halos, for the host.
template <class X> std::vector<value_of<X>> own_values(const X& x) {
  using T = value_of<X>;
  const placement where = placement_of(x);
  const table& layout = core_of(x).layout();
  const box own = where.own(layout), stored = stored_box(where, layout);
  const in_space there(core_of(x).facts->space);
  const storage packed = room_for<T>(own.size());
  if (!own.none)
    local::pack(own.rank, own.length, x.data() + offset_in(stored, own), strides(stored).data(),
                static_cast<T*>(packed.data()));
  return to_vector(static_cast<const T*>(packed.data()), own.size());
}
}  // namespace detail

/// Of a tensor's elements; addends are summed first. The same on all ranks; collective over the
/// grid, silent where every rank has all.
template <Tensor X> value_histogram histogram_of(const X& x) {
  constexpr bool is_real_number = element_traits<value_of<X>>::is_known && !is_complex<value_of<X>>;
  static_assert(is_real_number,
                "histogram_of: the elements are not real numbers; take real(x) or imag(x)");
  value_histogram h;
  if constexpr (is_real_number) {
    const auto y = complete(detail::untracked(x));
    const detail::table& layout = detail::core_of(y).layout();
    const unsigned apart = layout.mask(use::split) | layout.mask(use::placed);
    if (detail::core_of(y).away == 0)
      for (const auto v : detail::own_values(y)) h.add(static_cast<double>(v));
    const auto& grid = y.grid().state();
    if (const unsigned talk = detail::talking(apart, grid.sizes()); talk != 0)
      h.sum_over(grid.along(talk));
  }
  return h;
}
/// Poison has no elements.
template <Operand X>
  requires is_poison<X>
value_histogram histogram_of(const X&) {
  return {};
}

}  // namespace dimesh
