// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do sequences of different lengths become rows of one length? Padded, one to a row, or packed,
// several to a row. Both give std::tuple, a member for each tensor of a batch.
//
//   sentences | input::pad(64, 0)      -> {64 values, 64 flags: 1 where there is a value}
//   sentences | input::pack(64, 0)     -> {64 values, 64 segments, 64 positions}
//             | input::map(input::followed{})           -> the same and what comes next: -1 at ends
//
// Segments count the sequences of a row from 1 on, and are 0 where the row is filled up; positions
// count within a sequence. Which sequences share a row is known before any is read again: packing
// reads all lengths once, as a filter does, and belongs before the shuffle.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "dimesh/io/data/stage.hpp"

namespace dimesh::input {

namespace detail {

/// The elements of a sequence.
template <class R>
using value_in = std::remove_cvref_t<decltype(*std::begin(std::declval<const R&>()))>;

[[noreturn]] inline void refuse_length(const char* stage, const std::string& where, index_t n,
                                       index_t row) {
  throw error(std::string("input::") + stage + ": at " + where + ": a sequence of " +
              std::to_string(n) + " does not fit a row of " + std::to_string(row) +
              "; filter long ones, or cut them in a map");
}

template <Stage S, class V> struct padded {
  static constexpr bool fixed = S::fixed;
  using value = value_in<record_of<S>>;
  S inner;
  index_t row;
  V filler;

  struct pass {
    std::remove_cvref_t<pass_of<S>> inner;
    index_t row;
    V filler;
    void require_unchanged() const { detail::require_unchanged(inner); }
    index_t size() const { return inner.size(); }
    std::string where(index_t i) const { return inner.where(i); }
    std::tuple<std::vector<value>, std::vector<std::uint8_t>> operator()(index_t i) const {
      const auto record = inner(i);
      const auto n = static_cast<index_t>(std::size(record));
      if (n > row) refuse_length("pad", where(i), n, row);
      const auto length = static_cast<std::size_t>(row);
      std::vector<value> values(length, static_cast<value>(filler));
      std::vector<std::uint8_t> present(length, 0);
      std::copy(std::begin(record), std::end(record), values.begin());
      std::fill_n(present.begin(), n, std::uint8_t{1});
      return {std::move(values), std::move(present)};
    }
  };
  pass epoch(index_t e) const { return {inner.epoch(e), row, filler}; }
};

template <Stage S, class V> struct packed_rows {
  static constexpr bool fixed = S::fixed;
  using value = value_in<record_of<S>>;
  using inner_pass = std::remove_cvref_t<pass_of<S>>;
  using plan = std::shared_ptr<const std::vector<index_t>>;
  S inner;
  index_t row;
  V filler;
  plan always;

  packed_rows(const S& s, index_t n, V with) : inner(s), row(n), filler(with) {
    if constexpr (fixed) always = firsts(inner.epoch(0));
  }

  struct pass {
    inner_pass inner;
    index_t row;
    V filler;
    plan first;  // sequence of each row, and the end
    void require_unchanged() const { detail::require_unchanged(inner); }
    index_t size() const { return static_cast<index_t>(first->size()) - 1; }
    std::string where(index_t i) const {
      const auto [from, to] = range(i);
      return inner.where(from) +
             (to - from > 1 ? " and " + std::to_string(to - from - 1) + " more" : "");
    }
    std::tuple<std::vector<value>, std::vector<std::int32_t>, std::vector<std::int32_t>> operator()(
        index_t i) const {
      const auto [from, to] = range(i);
      const auto length = static_cast<std::size_t>(row);
      std::vector<value> values(length, static_cast<value>(filler));
      std::vector<std::int32_t> segment(length, 0), position(length, 0);
      std::size_t at = 0;
      for (index_t k = from; k < to; ++k) {
        const auto record = inner(k);
        if (std::size(record) > length - at)
          throw error("input::pack: at " + inner.where(k) +
                      ": the sequence is longer than it was "
                      "when rows were packed");
        std::int32_t n = 0;
        for (const auto& v : record) {
          values[at] = v;
          segment[at] = static_cast<std::int32_t>(k - from) + 1;
          position[at++] = n++;
        }
      }
      return {std::move(values), std::move(segment), std::move(position)};
    }
    std::pair<index_t, index_t> range(index_t i) const {
      if (i < 0 || i >= size()) refuse_place("pack", i, size());
      const auto at = static_cast<std::size_t>(i);
      return {(*first)[at], (*first)[at + 1]};
    }
  };
  pass epoch(index_t e) const {
    inner_pass p = inner.epoch(e);
    plan f = fixed ? always : firsts(p);
    return {std::move(p), row, filler, std::move(f)};
  }

 private:
  /// A row ends before the first sequence that it has no room for.
  plan firsts(const inner_pass& p) const {
    auto first = std::make_shared<std::vector<index_t>>();
    index_t used = row;
    for (index_t i = 0; i < p.size(); ++i) {
      const auto n = static_cast<index_t>(std::size(p(i)));
      if (n > row) refuse_length("pack", p.where(i), n, row);
      if (used + n > row || i == 0) first->push_back(i), used = 0;
      used += n;
    }
    first->push_back(p.size());
    detail::require_unchanged(p);
    return first;
  }
};

inline void require_row(const char* stage, index_t n) {
  if (n < 1)
    throw error(std::string("input::") + stage + ": rows of " + std::to_string(n) +
                "; give 1 or more");
}

}  // namespace detail

/// Each sequence in a row of n, filled up with `filler`, and which elements are the sequence's.
/// Throws dimesh::error where n is less than 1 and, later, at sequences that are longer.
template <class V> auto pad(index_t n, V filler) {
  detail::require_row("pad", n);
  return detail::records_adaptor([=](const auto& s) {
    return detail::padded<std::remove_cvref_t<decltype(s)>, V>{s, n, filler};
  });
}
/// As many neighbours as fit in each row of n. Throws as pad() does.
template <class V> auto pack(index_t n, V filler) {
  detail::require_row("pack", n);
  return detail::records_adaptor([=](const auto& s) {
    return detail::packed_rows<std::remove_cvref_t<decltype(s)>, V>(s, n, filler);
  });
}

/// Rows of pack() and the value that follows each in its sequence, as std::int32_t: -1, which
/// losses do not count, at the end of a sequence and where the row is filled up.
struct followed {
  template <class V, class N>
  std::tuple<std::vector<V>, std::vector<N>, std::vector<N>, std::vector<std::int32_t>> operator()(
      std::tuple<std::vector<V>, std::vector<N>, std::vector<N>> row) const {
    auto& [values, segments, positions] = row;
    std::vector<std::int32_t> next(values.size(), -1);
    for (std::size_t i = 0; i + 1 < values.size(); ++i)
      if (segments[i] != 0 && segments[i] == segments[i + 1])
        next[i] = static_cast<std::int32_t>(values[i + 1]);
    return {std::move(values), std::move(segments), std::move(positions), std::move(next)};
  }
};

}  // namespace dimesh::input
