// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do to_slots and from_slots do on a rank? Of tokens x, gates w and what is in slots b, two
// give the third, and so do their transposes: b = w x, x = sum of w b over choices, w = <x, b>.
//
//   slots_shape s(slots core, elements of x)   the loops: groups, tokens, choices, width of a row
#pragma once

#include <cstring>
#include <vector>

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/op/operation.hpp"
#include "dimesh/op/parts/apply_rule.hpp"
#include "dimesh/op/parts/einsum_op.hpp"

namespace dimesh::nn::detail {

using dimesh::detail::concat_impl;
using dimesh::detail::list;
using dimesh::detail::remaining;
using dimesh::detail::storage;
using dimesh::detail::tally;

/// Named dims that a tensor has are whole and without a halo.
constexpr outcome whole_dims(const tensor_facts& x, std::initializer_list<const dim_facts*> dims) {
  for (const dim_facts* d : dims) {
    const int at = x.place_of(d);
    if (at < 0) continue;
    if (const int a = x.layout.axis_at(at, 0); a >= 0)
      return blamed(fault_code::dim_is_split, d, a);
  }
  if (const dim_facts* h = haloed_dim(x); h != nullptr) return blamed(fault_code::dim_has_halo, h);
  return allowed(x.layout);
}

/// The first operand is tokens (Into) or slots; then come gates, if any, and places, last.
template <class Token, class Choice, class Expert, class Slot, bool Into, class Out>
struct slots_rule {
  using named = list<Token, Choice, Expert, Slot>;
  template <class...> struct dims {
    using type = Out;
  };
  static constexpr outcome of(rule_operands x, dim_list out) {
    constexpr auto &token = facts_of_dim<Token>, &choice = facts_of_dim<Choice>;
    constexpr auto &expert = facts_of_dim<Expert>, &slot = facts_of_dim<Slot>;
    if (const int k = foreign_operand(x); k >= 0) return blamed_place(fault_code::meshes_differ, k);
    for (int k = 1; k < x.count; ++k) {
      for (const dim_facts* d : {&token, &choice})
        if (x[k].place_of(d) < 0) return blamed(fault_code::dim_not_in_tensor, d);
      for (int d = 0; d < x[k].rank; ++d)
        if (x[x.count - 1].place_of(x[k].dim[d]) < 0)
          return blamed(fault_code::dim_not_in_tensor, x[k].dim[d]);
    }
    const tensor_facts& places = x[x.count - 1];
    const auto lacks = [&](const tensor_facts& one, const dim_facts* d) {
      return one.place_of(d) < 0;
    };
    for (int d = 0; d < places.rank; ++d) {
      const bool of_group = !same_dim(places.dim[d], &token) && !same_dim(places.dim[d], &choice);
      for (int k = 0; k < x.count - 1; ++k)
        if (of_group && lacks(x[k], places.dim[d]))
          return blamed(fault_code::dim_not_in_tensor, places.dim[d]);
    }
    for (const dim_facts* d : {&expert, &slot}) {
      if (!lacks(places, d) || (Into && !lacks(x[0], d)))
        return blamed(fault_code::dim_already_in_tensor, d);
      if (!Into && lacks(x[0], d)) return blamed(fault_code::dim_not_in_tensor, d);
    }
    if (Into && lacks(x[0], &token)) return blamed(fault_code::dim_not_in_tensor, &token);
    if (!Into && !lacks(x[0], &token)) return blamed(fault_code::dim_already_in_tensor, &token);
    if (!lacks(x[0], &choice)) return blamed(fault_code::dim_already_in_tensor, &choice);
    for (int k = 0; k < x.count; ++k)
      if (const outcome o = whole_dims(x[k], {&token, &choice, &expert, &slot}); !o.ok()) return o;
    if (const int a = places.layout.first_partial(); a >= 0)
      return blamed_axis(fault_code::partial_operand, a);
    return dimesh::detail::product_rule(x, dimesh::detail::dim_union(x).all(), out);
  }
};

/// The loops over this rank's part: places[groups, tokens, choices], rows of `width` elements.
struct slots_shape {
  index_t groups = 1, tokens, choices, experts, slots, width = 0;

  constexpr slots_shape(const tensor_core& places, const tensor_core& in_slots, int slot_at)
      : tokens(places.local(places.rank() - 2)),
        choices(places.local(places.rank() - 1)),
        experts(in_slots.local(0)),
        slots(in_slots.local(slot_at)) {
    for (int d = 0; d < places.rank() - 2; ++d) groups *= places.local(d);
    width = 1;
    for (int d = slot_at + 1; d < in_slots.rank(); ++d) width *= in_slots.local(d);
  }
  /// Where the row of a place of group g begins, -1 where it is none.
  constexpr index_t row(index_t g, std::int32_t place) const {
    if (place < 0 || place >= experts * slots) return -1;
    return ((place / slots * groups + g) * slots + place % slots) * width;
  }
};

/// What the three operations share: the dims that come anew, and their extents.
struct slot_extents {
  const dim_facts *expert, *slot;
  index_t experts, slots;

  constexpr index_t extent_of(const dim_facts* d) const {
    return same_dim(d, expert) ? experts : same_dim(d, slot) ? slots : dynamic;
  }
  slots_shape loops(const tensor_core& places, const tensor_core& in_slots) const {
    return slots_shape(places, in_slots, in_slots.facts->place_of(slot));
  }
};

template <class A, class T, class S> void add_row(A by, const T* from, S* to, index_t n) {
  const dimesh::detail::writes_memory kernel;
#pragma omp simd
  for (index_t i = 0; i < n; ++i) to[i] += by * static_cast<A>(from[i]);
}
/// A row as the sum of others. Where T only stores it is summed in float, and rounded once.
template <class T> class row_sum {
 public:
  row_sum(T* to, index_t n) : to_(to), n_(n) {}
  void begin() {
    if constexpr (is_storage_only<T>)
      sum_.assign(static_cast<std::size_t>(n_), 0);
    else if (n_ > 0)
      std::memset(to_, 0, static_cast<std::size_t>(n_) * sizeof(T));
  }
  void add(computed<T> by, const T* from) {
    if constexpr (is_storage_only<T>)
      add_row(by, from, sum_.data(), n_);
    else
      add_row(by, from, to_, n_);
  }
  /// On to the next row.
  void end() {
    const dimesh::detail::writes_memory kernel;
    if constexpr (is_storage_only<T>)
      for (index_t i = 0; i < n_; ++i) to_[i] = static_cast<T>(sum_[static_cast<std::size_t>(i)]);
    to_ += n_;
  }

 private:
  T* to_;
  index_t n_;
  std::vector<computed<T>> sum_;
};

/// Summed in float where T is narrower.
template <class T> T row_product(const T* a, const T* b, index_t n) {
  const dimesh::detail::writes_memory kernel;
  using A = computed<T>;
  A sum = 0;
#pragma omp simd reduction(+ : sum)
  for (index_t i = 0; i < n; ++i) sum += static_cast<A>(a[i]) * static_cast<A>(b[i]);
  return static_cast<T>(sum);
}

template <class T, bool Weighted> struct from_slots_op;
template <class T> struct slot_gates_op;

/// b from x, w (Weighted) and places. One pass: what nobody has is set to zero behind it.
template <class T, bool Weighted> struct to_slots_op : slot_extents {
  static constexpr bool on_host = true;
  static constexpr std::string_view call = "to_slots";

  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(Weighted ? x[0].elements() : 0, y[0].bytes() + bytes_of(x));
  }
  static constexpr bool needs(int k, unsigned wanted) {
    if constexpr (Weighted)
      return k == 2 || (k == 0 && (wanted & 2u)) || (k == 1 && (wanted & 1u));
    else
      return k == 1;
  }
  constexpr void transpose(const auto& to) const {
    if constexpr (Weighted) {
      to.give(0, from_slots_op<T, true>{*this}, to.ybar, to.x(1), to.x(2));
      to.give(1, slot_gates_op<T>{*this}, to.x(0), to.ybar, to.x(2));
    } else {
      to.give(0, from_slots_op<T, false>{*this}, to.ybar, to.x(1));
    }
  }
  void fill(results y, operands x) const {
    const dimesh::detail::writes_memory kernel;
    const tensor_core& places = x[x.count() - 1];
    const slots_shape s = loops(places, y[0]);
    const index_t rows = s.experts * s.groups * s.slots;
    const storage taken = storage::acquire(static_cast<std::size_t>(rows));
    auto* const has = static_cast<unsigned char*>(taken.data());
    if (rows > 0) std::memset(has, 0, static_cast<std::size_t>(rows));
    const T* from = x[0].data<const T>();
    const T* const gates = Weighted ? x[1].data<const T>() : nullptr;
    const auto* const place = places.data<const std::int32_t>();
    T* const to = y[0].data<T>();
    const auto bytes = static_cast<std::size_t>(s.width) * sizeof(T);
    index_t i = 0;
    for (index_t g = 0; g < s.groups; ++g)
      for (index_t t = 0; t < s.tokens; ++t, from += s.width)
        for (index_t k = 0; k < s.choices; ++k, ++i) {
          const index_t at = s.row(g, place[i]);
          if (at < 0 || s.width == 0) continue;
          unsigned char& there = has[at / s.width];
          if (there == 0 && !Weighted) {
            std::memcpy(to + at, from, bytes);
          } else {
            if (there == 0) std::memset(to + at, 0, bytes);
            add_row(Weighted ? static_cast<computed<T>>(gates[i]) : 1, from, to + at, s.width);
          }
          there = 1;
        }
    for (index_t r = 0; r < rows; ++r)
      if (has[r] == 0) std::memset(to + r * s.width, 0, bytes);
  }
};

/// x from b, w (Weighted) and places.
template <class T, bool Weighted> struct from_slots_op : slot_extents {
  static constexpr bool on_host = true;
  static constexpr std::string_view call = "from_slots";

  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(2 * y[0].elements(), y[0].bytes() + bytes_of(x));
  }
  static constexpr bool needs(int k, unsigned wanted) {
    return to_slots_op<T, Weighted>::needs(k, wanted);
  }
  constexpr void transpose(const auto& to) const {
    if constexpr (Weighted) {
      to.give(0, to_slots_op<T, true>{*this}, to.ybar, to.x(1), to.x(2));
      to.give(1, slot_gates_op<T>{*this}, to.ybar, to.x(0), to.x(2));
    } else {
      to.give(0, to_slots_op<T, false>{*this}, to.ybar, to.x(1));
    }
  }
  void fill(results y, operands x) const {
    const dimesh::detail::writes_memory kernel;
    const tensor_core& places = x[x.count() - 1];
    const slots_shape s = loops(places, x[0]);
    const T* const from = x[0].data<const T>();
    const T* const gates = Weighted ? x[1].data<const T>() : nullptr;
    const auto* const place = places.data<const std::int32_t>();
    row_sum<T> to(y[0].data<T>(), s.width);
    index_t i = 0;
    for (index_t row = 0; row < s.groups * s.tokens; ++row) {
      to.begin();
      for (index_t k = 0; k < s.choices; ++k, ++i)
        if (const index_t at = s.row(row / s.tokens, place[i]); at >= 0)
          to.add(Weighted ? static_cast<computed<T>>(gates[i]) : 1, from + at);
      to.end();
    }
  }
};

/// w from x, b and places: 0 where a choice has no slot.
template <class T> struct slot_gates_op : slot_extents {
  static constexpr bool on_host = true;
  static constexpr std::string_view call = "slot_gates";

  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(2 * x[0].elements(), y[0].bytes() + bytes_of(x));
  }
  static constexpr bool needs(int k, unsigned wanted) {
    return k == 2 || (k == 0 && (wanted & 2u)) || (k == 1 && (wanted & 1u));
  }
  constexpr void transpose(const auto& to) const {
    to.give(0, from_slots_op<T, true>{*this}, to.x(1), to.ybar, to.x(2));
    to.give(1, to_slots_op<T, true>{*this}, to.x(0), to.ybar, to.x(2));
  }
  void fill(results y, operands x) const {
    const dimesh::detail::writes_memory kernel;
    const slots_shape s = loops(x[2], x[1]);
    const T *x_row = x[0].data<const T>(), *const b = x[1].data<const T>();
    const auto* const place = x[2].data<const std::int32_t>();
    T* const w = y[0].data<T>();
    index_t i = 0;
    for (index_t row = 0; row < s.groups * s.tokens; ++row, x_row += s.width)
      for (index_t k = 0; k < s.choices; ++k, ++i) {
        const index_t at = s.row(row / s.tokens, place[i]);
        w[i] = at < 0 ? T(0) : row_product(x_row, b + at, s.width);
      }
  }
};

}  // namespace dimesh::nn::detail
