// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which slots of an expert hold a token, and how does the rest cost nothing? Places in a group are
// taken from the first one on, so that a number for each expert and group says it. A rank puts the
// filled rows of each of its experts side by side, multiplies those, and puts them back.
//
//   count_filled_op     slots[G.., token, choice]               -> filled[expert, G..]
//   move_filled_op      x[expert, G.., slot, ..], filled        -> like x, the filled rows of an
//                       expert in front of zeros; or from there to their slots again
//   filled_einsum_op    x[expert, G.., slot, k], w[expert, k, n], filled, rows in front
//                                                               -> [expert, G.., slot, n]
//
// A number is the last place that is taken, and one: where a route leaves places free between
// others, their zeros are rows like any. All dims but the slots may be split.
#pragma once

#include <algorithm>
#include <cstring>

#include "dimesh/nn/moe/parts/route_op.hpp"
#include "dimesh/op/parts/einsum_op.hpp"

namespace dimesh::nn::detail {

/// How many places of each group and expert are taken.
struct count_filled_op : new_dim {
  static constexpr bool on_host = true;
  index_t capacity;
  static constexpr std::string_view call = "count_filled";

  constexpr count_filled_op(const new_dim& expert, index_t n) : new_dim(expert), capacity(n) {}
  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(x[0].elements(), y[0].bytes() + x[0].bytes());
  }
  void fill(results y, operands x) const {
    const dimesh::detail::writes_memory kernel;
    const group_shape s(x[0]);
    const auto* place = x[0].data<const std::int32_t>();
    auto* const filled = y[0].data<std::int32_t>();
    std::fill_n(filled, y[0].elements(), 0);
    for (index_t g = 0; g < s.groups; ++g)
      for (index_t i = 0; i < s.tokens * s.width; ++i, ++place) {
        if (*place < 0 || *place >= extent * capacity) continue;
        std::int32_t& n = filled[*place / capacity * s.groups + g];
        n = std::max(n, static_cast<std::int32_t>(*place % capacity + 1));
      }
  }
};

/// The rows of a rank's experts: of each its groups, one after another.
struct filled_rows {
  index_t experts, groups = 1, slots;
  const std::int32_t* filled;

  filled_rows(const tensor_core& counts, index_t slots_of_group)
      : experts(counts.local(0)), slots(slots_of_group), filled(counts.data<const std::int32_t>()) {
    for (int d = 1; d < counts.rank(); ++d) groups *= counts.local(d);
  }
  index_t rows() const { return groups * slots; }
  index_t count(index_t e, index_t g) const {
    const index_t n = dimesh::detail::get_element(filled + e * groups + g);
    return std::clamp(n, index_t{0}, slots);
  }
  index_t count(index_t e) const {
    index_t n = 0;
    for (index_t g = 0; g < groups; ++g) n += count(e, g);
    return n;
  }
};

/// The last operand says how many slots are filled, the others have slots, or are weights. Of two
/// such it is their product.
constexpr outcome filled_rule_of(rule_operands x, const dim_facts* slot, dim_list out) {
  const tensor_facts& filled = x[x.count - 1];
  if (const int k = foreign_operand(x); k >= 0)
    return dimesh::detail::blamed_place(fault_code::meshes_differ, k);
  if (x[0].place_of(slot) < 0) return blamed(fault_code::dim_not_in_tensor, slot);
  if (filled.place_of(slot) >= 0) return blamed(fault_code::dim_already_in_tensor, slot);
  for (int d = 0; d < filled.rank; ++d)
    if (x[0].place_of(filled.dim[d]) < 0)
      return blamed(fault_code::dim_not_in_tensor, filled.dim[d]);
  if (const int a = filled.layout.first_partial(); a >= 0)
    return dimesh::detail::blamed_axis(fault_code::partial_operand, a);
  if (const outcome o = whole_dims(x[0], {slot}); !o.ok()) return o;
  if (x.count == 3) {
    const tensor_facts* const two[] = {&x[0], &x[1]};
    const outcome o = dimesh::detail::einsum_rule_of({two, 2}, out);
    if (!o.ok()) return o;
  }
  return dimesh::detail::product_rule(x, dimesh::detail::dim_union(x).all(), out);
}
template <class Slot, class Out> struct filled_rule {
  using named = typename concat_impl<Out, list<Slot>>::type;
  template <class...> struct dims {
    using type = Out;
  };
  static constexpr outcome of(rule_operands x, dim_list out) {
    return filled_rule_of(x, &dimesh::detail::facts_of_dim<Slot>, out);
  }
};

/// Rows of elements T to the front of their expert, or (Back) from there to their slots; zeros in
/// all others.
template <class T, bool Back> struct move_filled_op {
  static constexpr bool on_host = true;
  const dim_facts* slot;
  static constexpr std::string_view call = Back ? "filled_to_slots" : "filled_to_front";

  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(0, y[0].bytes() + bytes_of(x));
  }
  static constexpr bool needs(int k, unsigned) { return k == 1; }
  constexpr void transpose(const auto& to) const {
    to.give(0, move_filled_op<T, !Back>{slot}, to.ybar, to.x(1));
  }
  void fill(results y, operands x) const {
    const dimesh::detail::writes_memory kernel;
    const int at = x[0].facts->place_of(slot);
    const filled_rows all(x[1], x[0].local(at));
    const index_t width = x[0].stride(at);
    const T* from = x[0].data<const T>();
    T* to = y[0].data<T>();
    const auto zero = [](T* begin, const T* end) {
      if (begin != end) std::memset(begin, 0, static_cast<std::size_t>(end - begin) * sizeof(T));
    };
    for (index_t e = 0; e < all.experts; ++e) {
      const T* front = from;  // of the side where rows are together
      T* end = to;
      for (index_t g = 0; g < all.groups; ++g) {
        const index_t n = all.count(e, g) * width, here = g * all.slots * width;
        const T* const source = Back ? front : from + here;
        T* const goal = Back ? to + here : end;
        if (n > 0) std::memcpy(goal, source, static_cast<std::size_t>(n) * sizeof(T));
        if (Back) zero(goal + n, goal + all.slots * width);
        front += n, end += n;
      }
      from += all.rows() * width, to += all.rows() * width;
      if (!Back) zero(end, to);
    }
  }
};

/// The product of two of [expert, G.., slot, k], [expert, k, n], [expert, G.., slot, n], of which
/// the third is the result; rows behind the filled ones are not read, and zeros in a result. The
/// transposes are of this kind again.
template <class T> struct filled_einsum_op {
  const dim_facts* slot;

  /// That of all slots: types do not say how many are filled.
  constexpr void cost(tally& t, results y, operands x) const {
    dimesh::detail::einsum_op<T>{}.cost(t, y, x);
  }
  static constexpr bool puts_off = true;
  static constexpr bool needs(int k, unsigned wanted) {
    return k == 2 || (k == 0 && (wanted & 2u)) || (k == 1 && (wanted & 1u));
  }
  constexpr void transpose(const auto& to) const {
    to.give(0, *this, to.ybar, to.x(1), to.x(2));
    to.give(1, *this, to.ybar, to.x(0), to.x(2));
  }
  void fill(results y, operands x) const {
    const tensor_core &c = y[0], &a = x[0], &b = x[1];
    dimesh::detail::loop_dims labels;  // those of the result, then those that are summed
    for (const tensor_core* t : {&c, &a, &b})
      for (int d = 0; d < t->rank(); ++d) {
        const dim_facts* const dim = t->facts->dim[d];
        if (x[2].facts->place_of(dim) < 0 && !dim_list{labels.dim, labels.count}.has(dim))
          labels.add(*t, d);
      }
    local::contraction loops = dimesh::detail::contraction_over(labels, c, a, b);
    const int row = dim_list{labels.dim, labels.count}.place_of(slot);
    const filled_rows all(x[2], labels.length[row]);
    const int at = c.facts->place_of(slot);
    const index_t experts = all.experts;
    for (index_t e = 0; e < experts; ++e) {
      const index_t n = loops.extent[row] = all.count(e);
      T* const to = c.data<T>() + e * part_of(c);
      product(loops, a.data<const T>() + e * part_of(a), b.data<const T>() + e * part_of(b), to);
      if (at < 0) continue;
      const index_t width = c.stride(at);
      dimesh::detail::zero_bytes(to + n * width, (all.rows() - n) * width * index_t{sizeof(T)});
    }
  }

 private:
  /// How far apart experts lie.
  index_t part_of(const tensor_core& x) const { return x.stride(0); }
  static void product(const local::contraction& loops, const T* a, const T* b, T* c) {
    if constexpr (is_storage_only<T>)
      local::contract_bfloat16(loops, a, b, c);
    else
      local::contract(loops, a, b, c);
  }
};

}  // namespace dimesh::nn::detail

namespace dimesh::detail {
// Compiled once in dimesh::compiled.
DIMESH_INSTANCE(nn::detail::filled_einsum_op<float>, 0);
DIMESH_INSTANCE(nn::detail::filled_einsum_op<float>, 1);
DIMESH_INSTANCE(nn::detail::filled_einsum_op<double>, 0);
DIMESH_INSTANCE(nn::detail::filled_einsum_op<double>, 1);
DIMESH_INSTANCE(nn::detail::filled_einsum_op<bfloat16>, 0);
DIMESH_INSTANCE(nn::detail::filled_einsum_op<bfloat16>, 1);
DIMESH_INSTANCE(nn::detail::move_filled_op<float, false>, 0);
DIMESH_INSTANCE(nn::detail::move_filled_op<float, false>, 1);
DIMESH_INSTANCE(nn::detail::move_filled_op<float, true>, 0);
DIMESH_INSTANCE(nn::detail::move_filled_op<float, true>, 1);
DIMESH_INSTANCE(nn::detail::move_filled_op<double, false>, 0);
DIMESH_INSTANCE(nn::detail::move_filled_op<double, false>, 1);
DIMESH_INSTANCE(nn::detail::move_filled_op<double, true>, 0);
DIMESH_INSTANCE(nn::detail::move_filled_op<double, true>, 1);
DIMESH_INSTANCE(nn::detail::move_filled_op<bfloat16, false>, 0);
DIMESH_INSTANCE(nn::detail::move_filled_op<bfloat16, false>, 1);
DIMESH_INSTANCE(nn::detail::move_filled_op<bfloat16, true>, 0);
DIMESH_INSTANCE(nn::detail::move_filled_op<bfloat16, true>, 1);
DIMESH_INSTANCE(nn::detail::count_filled_op, 0);
}  // namespace dimesh::detail
