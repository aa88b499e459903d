// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which attention does a rank compute? The rule of attention on specs, and the kernel's description
// of it from blocks: named dims become loops and strides, offsets of blocks become places among the
// keys and in the stream of random numbers.
//
//   attention_rule<length, key, head>   -> q's dims and layout;  attention_sums_rule: without head
//
// After q, k and v come whole numbers that hide keys, in one of these forms, which their dims tell:
// lengths[..]; flags[.., key]; ids[.., length], ids[.., key]; lengths and both ids.
#pragma once

#include <cmath>

#include "dimesh/local/attention_tile.hpp"
#include "dimesh/op/argmax.hpp"
#include "dimesh/op/parts/join_rule.hpp"
#include "dimesh/op/permute.hpp"

namespace dimesh {

/// What attention may leave out, and how it weighs.
struct attention_options {
  bool causal = false;  ///< query i sees the keys 0..i
  index_t window = 0;  ///< w > 0: only keys less than w before the query; if not causal, after it
      ///< likewise
  double scale = 0;  ///< of the scores; 0: 1 / sqrt(extent of Head)
  double dropout = 0;  ///< probability, below 1 and in steps of 2^-16, with which a weight is
      ///< dropped; others grow to match
  random_key key{0};  ///< which numbers decide that: the same under every layout
  index_t offset = 0;  ///< place of query 0 among the keys, where it is not key 0
  bool short_factors = false;  ///< a device may multiply float as TF32, which has 11 bits: for what
      ///< had no more (bfloat16 has 8)
};

namespace detail {

constexpr void check_options(const attention_options& o) {
  if (!(o.dropout >= 0 && o.dropout < 1))
    (words() << "attention: the probability of dropout must be at least 0 and below 1").raise();
  if (o.window < 0)
    (words() << "attention: a window has " << o.window << " keys; give 1 or more, or 0 for all")
        .raise();
}

inline double attention_scale(const attention_options& o, index_t head) {
  return o.scale != 0 || head == 0 ? o.scale : 1 / std::sqrt(static_cast<double>(head));
}

/// What is missing from q (x[0]), k and v, or stands where it should not.
constexpr outcome attention_dims_rule(rule_operands x, const dim_facts* query, const dim_facts* key,
                                      const dim_facts* head) {
  if (x[0].place_of(key) >= 0) return blamed(fault_code::dim_already_in_tensor, key);
  for (int k = 1; k < 3; ++k)
    if (x[k].place_of(query) >= 0) return blamed(fault_code::dim_already_in_tensor, query);
  for (int k = 0; k < 3; ++k)
    for (const dim_facts* const d : {k == 0 ? query : key, head})
      if (x[k].place_of(d) < 0) return blamed(fault_code::dim_not_in_tensor, d);
  for (int k = 1; k < 3; ++k)
    for (int d = 0; d < x[k].rank; ++d)
      if (!same_dim(x[k].dim[d], key) && x[0].place_of(x[k].dim[d]) < 0)
        return blamed(fault_code::dim_not_in_tensor, x[k].dim[d]);
  return outcome();
}
/// Likewise of the whole numbers that hide keys.
constexpr outcome hiding_dims_rule(rule_operands x, const dim_facts* query, const dim_facts* key,
                                   const dim_facts* head) {
  for (int k = 3; k < x.count; ++k) {
    const bool has_query = x.count > 4 && k == x.count - 2,
               has_key = x.count > 4 ? k == x.count - 1 : x[k].place_of(key) >= 0;
    for (int d = 0; d < x[k].rank; ++d) {
      const dim_facts* const dim = x[k].dim[d];
      if (same_dim(dim, head) || (same_dim(dim, query) && !has_query) ||
          (same_dim(dim, key) && !has_key))
        return blamed(fault_code::dim_already_in_tensor, dim);
      if (!same_dim(dim, key) && x[0].place_of(dim) < 0)
        return blamed(fault_code::dim_not_in_tensor, dim);
    }
    if (has_query && x[k].place_of(query) < 0) return blamed(fault_code::dim_not_in_tensor, query);
    if (has_key && x[k].place_of(key) < 0) return blamed(fault_code::dim_not_in_tensor, key);
  }
  return outcome();
}
constexpr outcome attention_rule_of(rule_operands x, const dim_facts* query, const dim_facts* key,
                                    const dim_facts* head, dim_list out) {
  if (const int k = foreign_operand(x); k >= 0) return blamed_place(fault_code::meshes_differ, k);
  for (int k = 1; k < 3; ++k)
    if (x[k].type != x[0].type) return blamed_place(fault_code::elements_differ, k);
  if (x[0].kind != element_kind::float32 && x[0].kind != element_kind::float64)
    return blamed_place(fault_code::element_not_differentiable, 0);
  if (const outcome o = attention_dims_rule(x, query, key, head); !o.ok()) return o;
  if (const outcome o = hiding_dims_rule(x, query, key, head); !o.ok()) return o;
  for (int k = 0; k < x.count; ++k)
    if (const dim_facts* const d = haloed_dim(x[k]); d != nullptr)
      return blamed(fault_code::dim_has_halo, d);
  for (const dim_facts* const d : {key, head}) {
    int axis = -1;  // the last of those found first
    for (int k = 0; k < x.count; ++k)
      if (x[k].place_of(d) >= 0)
        axis = std::max(axis, first_axis(x[k].layout.axes_of(x[k].place_of(d))));
    if (axis >= 0) return blamed(fault_code::dim_is_split, d, axis);
  }
  const dim_union all(x);
  const outcome o = join_operands(join_kind::nonlinear, x, all.all());
  if (!o.ok()) return o;
  return allowed(table_over_dims(o.layout, all.all(), out));
}

/// Rule of attention: the result has the dims of q.
template <class Query, class Key, class Head> struct attention_rule : keeps_dims {
  using named = list<Query, Key, Head>;
  static constexpr outcome of(rule_operands x, dim_list out) {
    return attention_rule_of(x, &facts_of_dim<Query>, &facts_of_dim<Key>, &facts_of_dim<Head>, out);
  }
};
/// Of its auxiliary, a number for each query.
template <class Query, class Key, class Head>
struct attention_sums_rule : attention_rule<Query, Key, Head> {
  template <class First, class...> struct dims : without_dim<Head, First> {};
};

/// Which whole numbers follow q, k and v.
struct attention_hiding {
  bool lengths = false, flags = false, ids = false;
  constexpr int count() const { return lengths + flags + 2 * ids; }
};
/// The dims of queries and keys.
struct attention_dims {
  const dim_facts* query;
  const dim_facts* key;
  attention_hiding hides{};
};

/// Elements between neighbours along a dim of x's block; 0 where x lacks it.
constexpr index_t stride_along_dim(const tensor_core& x, const dim_facts* dim) {
  const int d = x.facts->place_of(dim);
  return d < 0 ? 0 : x.stride(d);
}

/// All but the scale. `log_sum`: q without the head dim, which is last. Loops go from the last dim
/// to the first, as strides of the global index grow.
constexpr local::attention_problem attention_plan(const attention_options& o,
                                                  const attention_dims& dims, const tensor_core& q,
                                                  const tensor_core& k, const tensor_core& v,
                                                  const tensor_core& log_sum) {
  local::attention_problem x;
  const int rows = q.facts->place_of(dims.query);
  x.queries = q.local(rows);
  x.keys = k.local(k.facts->place_of(dims.key));
  x.head = q.local(q.rank() - 1);
  x.q_row = stride_along_dim(q, dims.query);
  x.k_row = stride_along_dim(k, dims.key), x.v_row = stride_along_dim(v, dims.key);
  x.log_row = stride_along_dim(log_sum, dims.query);
  x.position = o.offset + q.own(rows).offset;
  x.sees = {x.keys, o.causal, o.window};
  x.dropout = o.dropout, x.key = o.key;
  x.short_factors = o.short_factors;
  index_t step = 1;
  for (int d = log_sum.rank() - 1; d >= 0; --d) {
    const dim_facts* const dim = log_sum.facts->dim[d];
    const int at = q.facts->place_of(dim);
    x.first_draw += q.own(at).offset * step;
    if (same_dim(dim, dims.query))
      x.draw_row = step;
    else
      x.loops[x.outer++] = {
          q.local(at),       q.stride(at), stride_along_dim(k, dim), stride_along_dim(v, dim),
          log_sum.stride(d), step};
    step *= q.extent(at);
  }
  std::reverse(x.loops, x.loops + x.outer);  // as they lie in memory
  return x;
}

/// What hides keys from the queries of q: in[first], of index_t, and those after it. Of flags and
/// ids the key dim is last, so contiguous.
inline void hide_keys(local::attention_problem& x, const attention_dims& dims,
                      const tensor_core& log_sum, operands in, int first) {
  const auto& [lengths, flags, ids] = dims.hides;
  const tensor_core* const length = lengths ? &in[first] : nullptr;
  const tensor_core* const query = ids ? &in[first + lengths] : nullptr;
  const tensor_core* const key = ids || flags ? &in[first + lengths + ids] : nullptr;
  if (length) x.lengths = length->data<const index_t>();
  if (query) x.ids.queries = query->data<const index_t>();
  if (query) x.ids.step = stride_along_dim(*query, dims.query);
  if (key) x.ids.keys = key->data<const index_t>();
  int i = 0;
  for (int d = 0; d < log_sum.rank(); ++d) {
    const dim_facts* const dim = log_sum.facts->dim[d];
    if (same_dim(dim, dims.query)) continue;
    auto& loop = x.loops[i++];
    if (length) loop.length = stride_along_dim(*length, dim);
    if (query) loop.query_id = stride_along_dim(*query, dim);
    if (key) loop.key_id = stride_along_dim(*key, dim);
  }
}

}  // namespace detail
}  // namespace dimesh
