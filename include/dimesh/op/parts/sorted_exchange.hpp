// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do elements go to the ranks where they stand in order, and how do others go the same way, or
// back? They travel once, straight to the block that is to hold them; a table remembers which went
// where.
//
//   sorted_exchange way;
//   way.sort<T, Before>(x, d, y, true)   // y: x in order along d; the table is kept
//   way.move<false, U>(u, v)             // v: u, as x went;  move<true>: v, as y would come back
#pragma once

#include "dimesh/collective/all_to_all.hpp"
#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/op/parts/sorted_lines.hpp"

namespace dimesh::detail {

/// What it costs the rank at the origin, which has so many lines and bytes, to sort: as though each
/// rank had as much for every other.
constexpr void count_sorted_move(tally& t, const cut_dim& dim, index_t lines, index_t bytes) {
  const index_t away = bytes - bytes / dim.ranks();
  if (dim.talk != 0 && dim.extent() > 0 && lines > 0)
    t.collective(event_kind::all_to_all, dim.talk, away, away);
}

/// Which elements of the blocks of two tensors are one another: a permutation over all ranks.
class sorted_exchange {
 public:
  /// Sorts x along dim d into y, and remembers how, if that is asked. Collective along the axes
  /// that split d.
  template <class T, class Before> void sort(const tensor_core& x, int d, T* y, bool remember) {
    sorted_lines<T, Before> lines(x, d);
    std::vector<index_t> targets;
    index_t before = 0;
    for (index_t k = 0; k + 1 < lines.parts(); ++k) targets.push_back(before += lines.length(k));
    lines.find(targets);
    lay_out(lines);
    const index_t inner = x.stride(d), n = lines.length(lines.part());
    leave_.clear();
    std::vector<T> packed;
    packed.reserve(static_cast<std::size_t>(x.elements()));
    for (index_t k = 0; k < lines.parts(); ++k)
      for (index_t l = 0; l < lines.lines(); ++l)
        for (index_t i = begin_of(lines, l, k, lines.part());
             i < begin_of(lines, l, k + 1, lines.part()); ++i) {
          packed.push_back(lines.line(l)[i].value);
          if (remember)
            leave_.push_back(l / inner * n * inner + l % inner +
                             index_t{lines.line(l)[i].at} * inner);
        }
    const std::vector<T> came = exchange<false>(std::move(packed));
    arrive_.resize(remember ? came.size() : 0);
    if (remember)
      merge<local::detail::placed_element<T, index_t>, Before>(lines, came, inner, y);
    else
      merge<T, Before>(lines, came, inner, y);
  }
  /// Elements x, which lie as those that were sorted, to where they went; Back: the other way.
  template <bool Back, class T> void move(const T* x, T* y) const {
    const writes_memory kernel;
    const std::vector<index_t>&from = Back ? arrive_ : leave_, &to = Back ? leave_ : arrive_;
    std::vector<T> packed(from.size());
    for (std::size_t k = 0; k < from.size(); ++k) packed[k] = x[from[k]];
    const std::vector<T> came = exchange<Back>(std::move(packed));
    for (std::size_t k = 0; k < came.size(); ++k) y[to[k]] = came[k];
  }

 private:
  /// Where the elements of rank-part `from` that go to part k begin, in its part of line l.
  template <class Lines>
  static index_t begin_of(const Lines& lines, index_t l, index_t k, index_t from) {
    return k == 0 ? 0 : k == lines.parts() ? lines.length(from) : lines.cut(l, k - 1, from);
  }
  /// Buffers hold what goes to, or comes from, one part after another: there line by line.
  template <class Lines> void lay_out(const Lines& lines) {
    over_ = lines.over();
    most_ = lines.lines() * lines.longest();
    const auto parts = static_cast<std::size_t>(lines.parts());
    out_.assign(parts, {}), in_.assign(parts, {});
    index_t sent = 0, received = 0;
    for (index_t k = 0; k < lines.parts(); ++k) {
      index_t to = 0, from = 0;
      for (index_t l = 0; l < lines.lines(); ++l) {
        to += begin_of(lines, l, k + 1, lines.part()) - begin_of(lines, l, k, lines.part());
        from += begin_of(lines, l, lines.part() + 1, k) - begin_of(lines, l, lines.part(), k);
      }
      const auto r = static_cast<std::size_t>(lines.rank_of(k));
      out_[r] = {sent, to}, in_[r] = {received, from};
      sent += to, received += from;
    }
  }
  template <bool Back, class T> std::vector<T> exchange(std::vector<T> packed) const {
    if (over_ == nullptr || most_ == 0) return packed;
    std::vector<collective::run> out = Back ? in_ : out_, in = Back ? out_ : in_;
    index_t count = 0;
    for (const collective::run& r : in) count += r.count;
    std::vector<T> came(static_cast<std::size_t>(count));
    const auto me = static_cast<std::size_t>(over_->rank());
    std::copy_n(packed.begin() + out[me].at, out[me].count, came.begin() + in[me].at);
    out[me] = in[me] = {};
    const of_host numbers;
    collective::all_to_all_v(*over_, packed.data(), out.data(), came.data(), in.data(), most_);
    return came;
  }
  /// Every part's elements of a line came in order: they become one line of y. E: T, or with the
  /// place where it came in, which tells where each went, to be remembered.
  template <class E, class Before, class T, class Lines>
  void merge(const Lines& lines, const std::vector<T>& came, index_t inner, T* y) {
    const writes_memory kernel;
    constexpr bool remember = !std::is_same_v<E, T>;
    std::vector<index_t> next, end;
    for (index_t k = 0; k < lines.parts(); ++k)
      next.push_back(over_ == nullptr ? 0 : in_[static_cast<std::size_t>(lines.rank_of(k))].at);
    const index_t n = lines.length(lines.part());
    std::vector<E> run, other;
    for (index_t l = 0; l < lines.lines(); ++l) {
      run.clear(), end.assign(1, 0);
      for (index_t k = 0; k < lines.parts(); ++k) {
        index_t& from = next[static_cast<std::size_t>(k)];
        for (index_t i = begin_of(lines, l, lines.part(), k);
             i < begin_of(lines, l, lines.part() + 1, k); ++i, ++from)
          if constexpr (remember)
            run.push_back({came[static_cast<std::size_t>(from)], from});
          else
            run.push_back(came[static_cast<std::size_t>(from)]);
        end.push_back(static_cast<index_t>(run.size()));
      }
      merge_runs<Before>(run, end, other);
      for (index_t i = 0; i < n; ++i) {
        const E& e = run[static_cast<std::size_t>(i)];
        const index_t place = l / inner * n * inner + l % inner + i * inner;
        y[place] = value_of_sorted(e);
        if constexpr (remember) arrive_[static_cast<std::size_t>(e.at)] = place;
      }
    }
  }
  template <class T> static const T& value_of_sorted(const T& x) { return x; }
  template <class T>
  static const T& value_of_sorted(const local::detail::placed_element<T, index_t>& e) {
    return e.value;
  }
  /// Runs [from, middle) and [middle, end) become one; of equals the first run's come first. Which
  /// one is next is no branch: it would be guessed wrong every other time.
  template <class Before, class E>
  static void merge_two(const E* from, const E* const middle, const E* const end, E* to) {
    const writes_memory kernel;
    const E* other = middle;
    while (from != middle && other != end) {
      const bool second = Before::of(value_of_sorted(*other), value_of_sorted(*from));
      *to++ = second ? *other : *from;
      from += !second, other += second;
    }
    to = std::copy(from, middle, to);
    std::copy(other, end, to);
  }
  /// Runs [end[k], end[k + 1]), each in order, become one: two and two, as often as it takes.
  template <class Before, class E>
  static void merge_runs(std::vector<E>& run, std::vector<index_t> end, std::vector<E>& other) {
    while (end.size() > 2) {
      other.resize(run.size());
      std::vector<index_t> half{0};
      for (std::size_t k = 0; k + 1 < end.size(); k += 2) {
        const index_t last = end[std::min(k + 2, end.size() - 1)];
        merge_two<Before>(run.data() + end[k], run.data() + end[k + 1], run.data() + last,
                          other.data() + end[k]);
        half.push_back(last);
      }
      run.swap(other);
      end.swap(half);
    }
  }

  const communicator* over_ = nullptr;  // null: there is nobody to talk to
  index_t most_ = 0;  // elements of any block
  std::vector<index_t> leave_, arrive_;  // places in the blocks, in the order of the buffers
  std::vector<collective::run> out_, in_;  // by rank, the own one too
};

}  // namespace dimesh::detail
