// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which few elements of each line does every rank have to offer, where ranks split the dim? Each
// tells its own with their places among all, in one gather; what is best of them the caller knows.
//
//   told_elements<T> few(x, d, told);       told(length): how many a block of so many tells
//   few.tell(line, k, {value, place});  few.exchange(x);  few.for_each(line, f)
#pragma once

#include <cstring>
#include <utility>
#include <vector>

#include "dimesh/local/order.hpp"
#include "dimesh/op/parts/sorted_lines.hpp"

namespace dimesh::detail {

template <class T> class told_elements {
 public:
  using element = local::detail::placed_element<T, std::int32_t>;

  template <class Told>
  told_elements(const tensor_core& x, int d, const Told& told)
      : dim_(dim_in_order(x, d)), lines_(lines_of(x, d)), own_(told(x.own(d).length)) {
    for (index_t r = 0; r < dim_.ranks(); ++r) few_.push_back(told(dim_.of(r).length));
    mine_.resize(static_cast<std::size_t>(lines_ * own_ * bytes_each));
  }
  /// What the gather costs.
  template <class Told>
  static constexpr void cost(tally& t, const tensor_core& x, int d, const Told& told) {
    const cut_dim dim = dim_in_order(x, d);
    const index_t bytes = lines_of(x, d) * bytes_each;
    index_t all = 0;
    for (index_t r = 0; r < dim.ranks(); ++r) all += told(dim.of(r).length);
    if (dim.talk != 0 && all * bytes > 0)
      t.collective(event_kind::all_gather, dim.talk, told(dim.of(dim.me()).length) * bytes,
                   ring_bytes(event_kind::all_gather, all * bytes, dim.ranks()));
  }

  /// Is there anybody to tell?
  bool is_split() const { return dim_.talk != 0; }
  index_t lines() const { return lines_; }
  /// How many of each line this rank tells.
  index_t own() const { return own_; }
  void tell(index_t line, index_t k, const element& e) {
    const slot at(own_, lines_, line * own_ + k);
    std::memcpy(mine_.data() + at.value, &e.value, sizeof e.value);
    std::memcpy(mine_.data() + at.place, &e.at, sizeof e.at);
  }
  /// Communicates: an all-gather along the axes that split the dim.
  void exchange(const tensor_core& x) {
    if (!is_split()) {
      all_ = std::move(mine_);
      return;
    }
    std::vector<index_t> bytes;
    index_t sum = 0;
    for (const index_t few : few_) {
      bytes.push_back(lines_ * few * bytes_each);
      sum += bytes.back();
    }
    all_.resize(static_cast<std::size_t>(sum));
    collective::all_gather_v(x.grid->along(dim_.talk), mine_.data(), bytes.data(), all_.data());
  }
  /// Calls f with each element of a line that any rank has told.
  template <class F> void for_each(index_t line, const F& f) const {
    const std::byte* from = all_.data();
    for (const index_t few : few_) {
      for (index_t k = 0; k < few; ++k) {
        const slot at(few, lines_, line * few + k);
        element e;
        std::memcpy(&e.value, from + at.value, sizeof e.value);
        std::memcpy(&e.at, from + at.place, sizeof e.at);
        f(e);
      }
      from += lines_ * few * bytes_each;
    }
  }

 private:
  static constexpr index_t bytes_each = sizeof(T) + sizeof(std::int32_t);
  /// Where number i of what a rank tells begins: its values come first, then their places.
  struct slot {
    index_t value, place;
    slot(index_t few, index_t lines, index_t i)
        : value(i * static_cast<index_t>(sizeof(T))),
          place(few * lines * static_cast<index_t>(sizeof(T)) +
                i * static_cast<index_t>(sizeof(std::int32_t))) {}
  };
  cut_dim dim_;
  index_t lines_, own_;
  std::vector<index_t> few_;  // of each line, rank by rank
  std::vector<std::byte> mine_, all_;
};

}  // namespace dimesh::detail
