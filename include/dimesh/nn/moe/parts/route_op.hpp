// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who goes where? The sequential steps of routing, group by group in token order, on a rank that
// holds groups whole: the best experts of a token, the slots that they give it, what each expert
// gets, and the tokens that experts choose. Whole numbers; none of it has a gradient.
//
//   choose_op     scores[G.., token, expert]                -> experts[G.., token, choice], or -1
//   assign_op     experts, shares[G.., token, choice]       -> slots[G.., token, choice], or -1
//   load_op       experts                                   -> how many choose it [G.., expert]
//   pick_op       scores[G.., token, expert]                -> slots[G.., token, choice]
//
// A second operand valid[G.., token] of choose and pick is 0 for padding, which nobody gets.
#pragma once

#include <algorithm>
#include <vector>

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/nn/moe/capacity.hpp"
#include "dimesh/nn/moe/parts/slots_op.hpp"
#include "dimesh/random/places.hpp"

namespace dimesh::nn::detail {

/// All operands lie alike; Whole dims are whole. The result has the dims Out.
template <class Out, class... Whole> struct route_rule {
  using named = list<Whole...>;
  template <class...> struct dims {
    using type = Out;
  };
  static constexpr outcome of(rule_operands x, dim_list out) {
    if (const int k = foreign_operand(x); k >= 0)
      return dimesh::detail::blamed_place(fault_code::meshes_differ, k);
    for (int k = 0; k < x.count; ++k) {
      const outcome o = whole_dims(x[k], {&dimesh::detail::facts_of_dim<Whole>...});
      if (!o.ok()) return o;
      if (const int a = x[k].layout.first_partial(); a >= 0)
        return dimesh::detail::blamed_axis(fault_code::partial_operand, a);
    }
    return dimesh::detail::product_rule(x, dimesh::detail::dim_union(x).all(), out);
  }
};

/// The last two dims of a block, and how many of them there are.
struct group_shape {
  index_t groups = 1, tokens, width;

  explicit group_shape(const tensor_core& x)
      : tokens(x.local(x.rank() - 2)), width(x.local(x.rank() - 1)) {
    for (int d = 0; d < x.rank() - 2; ++d) groups *= x.local(d);
  }
};

/// A dim that the operands lack.
struct new_dim {
  const dim_facts* dim;
  index_t extent;
  constexpr index_t extent_of(const dim_facts* d) const {
    return same_dim(d, dim) ? extent : dynamic;
  }
};

/// Does a score come before another one? What is not a number is the greatest, as in a sort
/// (local/order.hpp): it is chosen, and shows in the result where it is the weight.
template <class T> constexpr bool is_above(const T& a, const T& b) {
  return a > b || (a != a && b == b);
}

/// Does token a stand before b, with these scores? The greater one; of equals the first. (For
/// std::sort: libstdc++'s std::stable_sort uses what is deprecated, and clang warns of it in users'
/// files.)
template <class T> constexpr bool stands_before(index_t a, const T& x, index_t b, const T& y) {
  return is_above(x, y) || (!is_above(y, x) && a < b);
}

/// The greatest scores of each token, greatest first, of equals the lowest expert. Elements T.
template <class T> struct choose_op : new_dim {
  static constexpr bool on_host = true;
  static constexpr std::string_view call = "choose_experts";

  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(x[0].elements(), y[0].bytes() + bytes_of(x));
  }
  void fill(results y, operands x) const {
    const dimesh::detail::writes_memory kernel;
    const group_shape s(x[0]);
    const T* score = x[0].data<const T>();
    const T* const valid = x.count() > 1 ? x[1].data<const T>() : nullptr;
    const index_t choices = y[0].local(y[0].rank() - 1);
    auto* out = y[0].data<std::int32_t>();
    for (index_t t = 0; t < s.groups * s.tokens; ++t, score += s.width, out += choices) {
      for (index_t k = 0; k < choices; ++k) {
        std::int32_t best = -1;
        for (index_t e = 0; e < s.width; ++e) {
          if (best >= 0 && !is_above(score[e], score[best])) continue;
          if (std::find(out, out + k, static_cast<std::int32_t>(e)) == out + k)
            best = static_cast<std::int32_t>(e);
        }
        out[k] = best;
      }
      if (valid != nullptr && valid[t] == T(0)) std::fill(out, out + choices, -1);
    }
  }
};

/// Slots by running counts: all first choices, then all second ones. Shares T. A token whose first
/// share is not a number stands in front: one of a group has a slot, at least.
template <class T> struct assign_op {
  static constexpr bool on_host = true;
  index_t experts, capacity;
  gating how;
  static constexpr std::string_view call = "assign_slots";

  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(x[0].elements(), y[0].bytes() + bytes_of(x));
  }
  void fill(results y, operands x) const {
    const dimesh::detail::writes_memory kernel;
    const group_shape s(x[0]);
    const auto* chosen = x[0].data<const std::int32_t>();
    const T* share = x[1].data<const T>();
    const dimesh::detail::block_places where(x[0]);
    auto* slot = y[0].data<std::int32_t>();
    std::vector<index_t> used(static_cast<std::size_t>(experts)), line;
    const index_t size = s.tokens * s.width;
    for (index_t g = 0; g < s.groups; ++g, chosen += size, share += size, slot += size) {
      std::fill(used.begin(), used.end(), 0);
      stand_in_line(s, chosen, share, line);
      for (index_t k = 0; k < s.width; ++k)
        for (const index_t t : line) {
          const index_t i = t * s.width + k;
          slot[i] = -1;
          if (chosen[i] < 0) continue;
          const bool taken = is_taken(where, g * size + i, k, share[i]);
          if (!taken && how.later == later_choices::random_freeing) continue;
          const index_t at = used[static_cast<std::size_t>(chosen[i])]++;
          if (taken && at < capacity)
            slot[i] = static_cast<std::int32_t>(chosen[i] * capacity + at);
        }
    }
  }

 private:
  /// By the number of the choice in the whole tensor, so that no layout changes it.
  bool is_taken(const dimesh::detail::block_places& where, index_t i, index_t k, T share) const {
    if (k == 0 || how.later == later_choices::all) return true;
    index_t at = 0;
    where.of(i, 1, &at);
    return static_cast<double>(share) > how.threshold * uniform_at<double>(how.key, at);
  }
  void stand_in_line(const group_shape& s, const std::int32_t* chosen, const T* share,
                     std::vector<index_t>& line) const {
    const auto first = [&](index_t t) {
      return s.width > 0 && chosen[t * s.width] >= 0 ? share[t * s.width] : T(-1);
    };
    line.clear();
    for (const bool number : {false, true})
      for (index_t t = 0; t < s.tokens; ++t)
        if ((first(t) == first(t)) == number) line.push_back(t);
    if (how.line == line_order::by_gate)
      std::sort(line.begin(), line.end(),
                [&](index_t a, index_t b) { return stands_before(a, first(a), b, first(b)); });
  }
};

/// How many of the first `choices` choices of each token name an expert, as elements T.
template <class T> struct load_op : new_dim {
  static constexpr bool on_host = true;
  index_t choices;
  static constexpr std::string_view call = "expert_load";

  constexpr load_op(const new_dim& d, index_t n) : new_dim(d), choices(n) {}
  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(x[0].elements(), y[0].bytes() + x[0].bytes());
  }
  void fill(results y, operands x) const {
    const dimesh::detail::writes_memory kernel;
    const group_shape s(x[0]);
    const auto* chosen = x[0].data<const std::int32_t>();
    const index_t experts = y[0].local(y[0].rank() - 1);
    T* out = y[0].data<T>();
    std::vector<index_t> count(static_cast<std::size_t>(experts));
    for (index_t g = 0; g < s.groups; ++g, out += experts) {
      std::fill(count.begin(), count.end(), 0);  // exact in any T up to its digits
      for (index_t t = 0; t < s.tokens; ++t, chosen += s.width)
        for (index_t k = 0; k < s.width && k < choices; ++k)
          if (chosen[k] >= 0 && chosen[k] < experts) ++count[static_cast<std::size_t>(chosen[k])];
      for (index_t e = 0; e < experts; ++e)
        out[e] = static_cast<T>(count[static_cast<std::size_t>(e)]);
    }
  }
};

/// The tokens that each expert scores highest, of equals the first; its slots in that order. Choice
/// e of a token is expert e.
template <class T> struct pick_op : new_dim {
  static constexpr bool on_host = true;
  index_t capacity;
  static constexpr std::string_view call = "pick_tokens";

  constexpr pick_op(const new_dim& d, index_t n) : new_dim(d), capacity(n) {}
  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(x[0].elements(), y[0].bytes() + bytes_of(x));
  }
  void fill(results y, operands x) const {
    const dimesh::detail::writes_memory kernel;
    const group_shape s(x[0]);
    const T* score = x[0].data<const T>();
    const T* valid = x.count() > 1 ? x[1].data<const T>() : nullptr;
    auto* slot = y[0].data<std::int32_t>();
    std::vector<index_t> line;
    for (index_t g = 0; g < s.groups; ++g) {
      std::fill(slot, slot + s.tokens * s.width, -1);
      for (index_t e = 0; e < s.width; ++e) {
        line.clear();
        for (index_t t = 0; t < s.tokens; ++t)
          if (valid == nullptr || valid[t] != T(0)) line.push_back(t);
        std::sort(line.begin(), line.end(), [&](index_t a, index_t b) {
          return stands_before(a, score[a * s.width + e], b, score[b * s.width + e]);
        });
        for (index_t c = 0; c < capacity && c < static_cast<index_t>(line.size()); ++c)
          slot[line[static_cast<std::size_t>(c)] * s.width + e] =
              static_cast<std::int32_t>(e * capacity + c);
      }
      score += s.tokens * s.width, slot += s.tokens * s.width;
      if (valid != nullptr) valid += s.tokens;
    }
  }
};

}  // namespace dimesh::nn::detail
