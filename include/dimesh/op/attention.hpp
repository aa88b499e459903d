// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do queries look values up by keys? By scaled dot-product attention (Vaswani et al. 2017,
// section 3.2.1) in one kernel that never stores a score, forward or backward. Local: every rank
// has its own queries, and all keys. Outer dims that keys and values lack share them: grouped
// queries (Ainslie et al. 2023) are a dim `group` of the queries alone.
//
//   k = rename<length, key>(...)
//   attention<length, key, head>(q[batch, heads, group, length, head], k[batch, heads, key, head],
//                                v[batch, heads, key, head], {.causal = true})  -> as q
//
// Batch and heads may be split, of the queries also length; whole<key> gathers keys that are.
#pragma once

#include "dimesh/local/attention_transpose.hpp"
#include "dimesh/op/parts/attention_plan.hpp"

namespace dimesh {

namespace detail {

/// The wanted cotangents of q, k and v in one pass over the tiles: from ybar, q, k, v, the result
/// and log_sum. Shapes: ybar and the result as q; log_sum as q without the head dim.
template <class T> struct attention_transpose_op {
  attention_options options;
  attention_dims dims;

  constexpr void cost(tally& t, results bars, operands in) const {
    const auto x = attention_plan(options, dims, in[1], in[2], in[3], in[5]);
    index_t products = 2;  // scores, their cotangents, and each wanted
    for (int k = 0; k < bars.count(); ++k) products += bars.has(k);
    t.compute(products * 2 * x.head * x.turns() * x.sees.pairs(x.position, x.queries),
              bytes_of(in) + bars.bytes());
  }
  void fill(results bars, operands in) const {
    auto x = attention_plan(options, dims, in[1], in[2], in[3], in[5]);
    x.scale = attention_scale(options, x.head);
    for (const int k : {1, 2})
      if (bars.has(k)) zero_bytes(bars[k].memory.data(), bars[k].bytes());
    const local::attention_cotangents<T> to{bars.data<T>(0), bars.data<T>(1), bars.data<T>(2)};
    const auto scratch = storage::acquire(
        static_cast<std::size_t>(local::attention_transpose_scratch<T>(x)) * sizeof(T));
    local::attention_transpose<T>(x, in[1].data<const T>(), in[2].data<const T>(),
                                  in[3].data<const T>(), in[4].data<const T>(),
                                  in[5].data<const T>(), in[0].data<const T>(), to,
                                  static_cast<T*>(scratch.data()));
  }
};

/// Shapes: q (.., Query, Head), k and v (.., Key, Head) -> as q; auxiliary: q without Head, the
/// logarithms of the sums of exponentials. Head is last in all.
template <class T> struct attention_op {
  attention_options options;
  attention_dims dims;

  constexpr void cost(tally& t, results y, operands in) const {
    const auto x = attention_plan(options, dims, in[0], in[1], in[2], y[1]);
    t.compute(4 * x.head * x.turns() * x.sees.pairs(x.position, x.queries),
              y.bytes() + bytes_of(in));
  }
  void fill(results y, operands in) const {
    static_assert(is_on_host<T>, "attention: the kernel runs on the host only; use a host space");
    auto x = attention_plan(options, dims, in[0], in[1], in[2], y[1]);
    x.scale = attention_scale(options, x.head);
    const auto scratch =
        storage::acquire(static_cast<std::size_t>(local::attention_scratch<T>(x)) * sizeof(T));
    local::attention<T>(x, in[0].data<const T>(), in[1].data<const T>(), in[2].data<const T>(),
                        y[0].data<T>(), y[1].data<T>(), static_cast<T*>(scratch.data()));
  }
  static constexpr bool needs(int, unsigned wanted) { return wanted != 0; }
  constexpr void transpose(const auto& to) const {
    to.give_all(attention_transpose_op<T>{options, dims}, to.y(0), to.y(1));
  }
};

/// Head is last in all operands.
template <class Query, class Key, class Head, class... X>
constexpr auto attention_with_last(const attention_options& options, const X&... x) {
  using T = value_of<type_at<0, list<X...>>>;
  const attention_dims dims{&facts_of_dim<Query>, &facts_of_dim<Key>};
  return apply_two_rules<attention_rule<Query, Key, Head>, attention_sums_rule<Query, Key, Head>,
                         T>(attention_op<T>{options, dims}, x...);
}

// Compiled once in dimesh::compiled.
DIMESH_INSTANCE(attention_op<float>, 0);
DIMESH_INSTANCE(attention_op<float>, 1);
DIMESH_INSTANCE(attention_op<double>, 0);
DIMESH_INSTANCE(attention_op<double>, 1);

}  // namespace detail

/// For every query, the mean of the values weighted by softmax(scale q . k) over the keys that it
/// sees; 0 where it sees none. Shapes: q [.., Query, Head]; k and v [.., Key, Head] with some of
/// q's other dims, shared along those that they lack; the result is as q. Dims in any order, Head
/// last at best: elsewhere it is moved, which copies the operand. Memory: linear in Query and Key.
/// Local. Throws dimesh::error if an option is out of range.
template <Dim Query, Dim Key, Dim Head, Operand Q, Operand K, Operand V>
constexpr auto attention(const Q& q, const K& k, const V& v,
                         const attention_options& options = {}) {
  using fault = detail::fault_of<detail::attention_rule<Query, Key, Head>, Q, K, V>;
  static_assert(ok<only<fault, meshes_differ>>,
                "attention: the operands live on different meshes; put them on one");
  static_assert(ok<only_placed<fault>>,
                "attention: the operands live on different ranks of this axis; place<axis, k> the "
                "one that all of them hold (free), or send<axis, k> the one that lives elsewhere");
  static_assert(ok<only<fault, elements_differ>>,
                "attention: the operands have different element types; cast one of them");
  static_assert(ok<only<fault, element_not_differentiable>>,
                "attention: its operands are float or double; cast them first");
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "attention: an operand lacks a dim: queries have the query dim, keys and values "
                "the key dim, all the head dim; other dims of keys are the queries', too");
  static_assert(ok<only<fault, dim_already_in_tensor>>,
                "attention: the queries have the key dim, or keys or values the query dim; "
                "rename<query, key> what belongs to keys and values");
  static_assert(ok<only<fault, dim_has_halo>>,
                "attention: an operand's blocks carry a halo; take the tensor without it");
  static_assert(ok<only<fault, dim_is_split>>,
                "attention: a query must see all keys, and all of the head dim; gather the dim "
                "that is split with whole<dim> first");
  static_assert(ok<only<fault, partial_operand>>,
                "attention: an operand is a sum yet to be made; complete it first");
  static_assert(
      ok<only<fault, dim_split_in_one_operand_only>>,
      "attention: a dim is split in one operand only; take own<dim, axis> of the other (free), or "
      "gather it with whole<dim>");
  static_assert(ok<only<fault, dim_split_differently, dims_share_mesh_axis>>,
                "attention: the operands are split differently; relayout one of them");
  if constexpr (!ok<fault> || (is_poison<Q> || is_poison<K> || is_poison<V>)) {
    return poison{};
  } else {
    detail::check_options(options);
    return detail::permuted<typename spec_of<Q>::dims>(
        detail::attention_with_last<Query, Key, Head>(options, detail::with_last<Head>(q),
                                                      detail::with_last<Head>(k),
                                                      detail::with_last<Head>(v)));
  }
}

}  // namespace dimesh
