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
//
// Rows of several lengths, and several sequences in a row, in whole numbers split as q and k are:
//
//   attention<length, key, head>(q, k, v, {}, lengths[batch])    // sees keys 0 .. lengths - 1
//   attention<length, key, head>(q, k, v, {}, flags[batch, key]) // sees keys with a flag, not 0
//   attention<length, key, head>(q, k, v, {.causal = true},
//                                segments[batch, length], segments[batch, key])  // sees its own
#pragma once

#include "dimesh/local/attention_transpose.hpp"
#include "dimesh/op/cast.hpp"
#include "dimesh/op/compare.hpp"
#include "dimesh/op/one_hot.hpp"
#include "dimesh/op/parts/attention_plan.hpp"
#include "dimesh/op/refusals/missing_header.hpp"
#include "dimesh/op/refusals/misuse.hpp"

namespace dimesh {

namespace detail {

template <class... A> inline constexpr bool is_included<op_header::attention, A...> = true;

/// Bytes that a kernel takes while it runs, where these operands are.
template <class T>
constexpr index_t scratch_of(const local::attention_problem& x, const attention_dims& dims,
                             const tensor_core& operand, bool back) {
  const index_t elements =
      !runs_on_host_threads(operand.facts->space)
          ? local::detail::room_of_blocks(x, dims.hides.lengths || dims.hides.flags, back)
      : back ? local::attention_transpose_scratch<T>(x)
             : local::attention_scratch<T>(x);
  return elements * static_cast<index_t>(sizeof(T));
}
/// A device's kernels take theirs as they go.
template <class T>
storage host_scratch_of(const local::attention_problem& x, const attention_dims& dims,
                        const tensor_core& operand, bool back) {
  if (!runs_on_host_threads(operand.facts->space)) return {};
  return storage::acquire(static_cast<std::size_t>(scratch_of<T>(x, dims, operand, back)));
}

/// The wanted cotangents of q, k and v in one pass over the tiles: from ybar, q, k, v, what hides
/// keys, the result and log_sum. Shapes: ybar and the result as q; log_sum as q without the head.
template <class T> struct attention_transpose_op {
  attention_options options;
  attention_dims dims;

  constexpr void cost(tally& t, results bars, operands in) const {
    const auto x = attention_plan(options, dims, in[1], in[2], in[3], in[in.count() - 1]);
    index_t products = 2;  // scores, their cotangents, and each wanted
    for (int k = 0; k < bars.count(); ++k) products += bars.has(k);
    t.compute(products * 2 * x.head * x.turns() * x.sees.pairs(x.position, x.queries),
              bytes_of(in) + bars.bytes());
    t.room(scratch_of<T>(x, dims, in[0], true));
  }
  void fill(results bars, operands in) const {
    const tensor_core &out = in[in.count() - 2], &log_sum = in[in.count() - 1];
    auto x = attention_plan(options, dims, in[1], in[2], in[3], log_sum);
    x.scale = attention_scale(options, x.head);
    hide_keys(x, dims, log_sum, in, 4);
    for (const int k : {1, 2})
      if (bars.has(k)) zero_bytes(bars[k].memory.data(), bars[k].bytes());
    const local::attention_cotangents<T> to{bars.data<T>(0), bars.data<T>(1), bars.data<T>(2)};
    const storage scratch = host_scratch_of<T>(x, dims, in[0], true);
    local::attention_transpose<T>(
        x, in[1].data<const T>(), in[2].data<const T>(), in[3].data<const T>(), out.data<const T>(),
        log_sum.data<const T>(), in[0].data<const T>(), to, static_cast<T*>(scratch.data()));
  }
};

/// Shapes: q (.., Query, Head), k and v (.., Key, Head), what hides keys -> as q; auxiliary: q
/// without Head, the logarithms of the sums of exponentials. Head is last in all. The cost is that
/// of all pairs that places let see each other: what data hide, only the run knows.
template <class T> struct attention_op {
  attention_options options;
  attention_dims dims;

  constexpr void cost(tally& t, results y, operands in) const {
    const auto x = attention_plan(options, dims, in[0], in[1], in[2], y[1]);
    t.compute(4 * x.head * x.turns() * x.sees.pairs(x.position, x.queries),
              y.bytes() + bytes_of(in));
    t.room(scratch_of<T>(x, dims, in[0], false));
  }
  void fill(results y, operands in) const {
    auto x = attention_plan(options, dims, in[0], in[1], in[2], y[1]);
    x.scale = attention_scale(options, x.head);
    hide_keys(x, dims, y[1], in, 3);
    const storage scratch = host_scratch_of<T>(x, dims, in[0], false);
    local::attention<T>(x, in[0].data<const T>(), in[1].data<const T>(), in[2].data<const T>(),
                        y[0].data<T>(), y[1].data<T>(), static_cast<T*>(scratch.data()));
  }
  static constexpr bool needs(int, unsigned wanted) { return wanted != 0; }
  constexpr void transpose(const auto& to) const {
    to.give_all(attention_transpose_op<T>{options, dims}, to.y(0), to.y(1));
  }
};

/// Whole numbers that hide keys as kernels read them: of index_t, Key last, flags as 0 and 1.
template <class Key, bool Flags, class I> constexpr auto hiding_numbers(const I& x) {
  if constexpr (Flags && !std::is_same_v<value_of<I>, bool>)
    return cast<index_t>(with_last<Key>(x) != value_of<I>(0));
  else if constexpr (index_of<Key, typename spec_of<I>::dims> >= 0)
    return cast<index_t>(with_last<Key>(x));
  else
    return cast<index_t>(x);
}
/// Which they are: their number says, and the dims of a single one.
template <class Key, class... I> struct hiding_of {
  static constexpr attention_hiding value{false, false, sizeof...(I) > 1};
};
template <class Key, class I> struct hiding_of<Key, I> {
  static constexpr bool flags = index_of<Key, typename spec_of<I>::dims> >= 0;
  static constexpr attention_hiding value{!flags, flags, false};
};
template <class Key, class I, class J, class K> struct hiding_of<Key, I, J, K> {
  static constexpr attention_hiding value{true, false, true};
};

/// What is wrong with the operands. (g++ 12 takes no pack of which some members are named.)
template <class Query, class Key, class Head, class X> struct attention_fault;
template <class Query, class Key, class Head, class... X>
struct attention_fault<Query, Key, Head, list<X...>> {
  using type = fault_of<attention_rule<Query, Key, Head>, X...>;
};

/// Head is last in all operands but `numbers`.
template <class Query, class Key, class Head, class Q, class K, class V, class... I>
constexpr auto attention_with_last(const attention_options& options, const Q& q, const K& k,
                                   const V& v, const I&... numbers) {
  constexpr attention_hiding hides = hiding_of<Key, I...>::value;
  const attention_dims dims{&facts_of_dim<Query>, &facts_of_dim<Key>, hides};
  return apply_rules<value_of<Q>, attention_rule<Query, Key, Head>,
                     attention_sums_rule<Query, Key, Head>>(
      attention_op<value_of<Q>>{options, dims}, q, k, v,
      hiding_numbers<Key, hides.flags>(numbers)...);
}

// Compiled once in dimesh::compiled.
DIMESH_INSTANCE(attention_op<float>, 0);
DIMESH_INSTANCE(attention_op<float>, 1);
DIMESH_INSTANCE(attention_op<double>, 0);
DIMESH_INSTANCE(attention_op<double>, 1);

}  // namespace detail

/// For every query, the mean of the values weighted by softmax(scale q . k) over the keys that it
/// sees; 0, without a gradient, where it sees none. Shapes: q [.., Query, Head]; k and v [.., Key,
/// Head] with some of q's other dims, shared along those that they lack; the result is as q. Dims
/// in any order, Head last at best: elsewhere it is moved, which copies the operand. `numbers`,
/// with some of q's other dims, split as they are, hide more keys, whose tiles are skipped:
///
///   lengths [..]: so many keys are seen (none below 1, all from the extent of Key on);
///   flags [.., Key]: keys with 0 are not; ids [.., Query] and [.., Key]: keys of other ids are
///   not; lengths and both ids.
///
/// What is hidden from a query reaches no result of it, be it NaN; nor do cotangents of that query
/// reach the key. On a device keys that places or ids hide must be finite.
///
/// Memory: linear in Query and Key. Local. Throws dimesh::error if an option is out of range.
template <Dim Query, Dim Key, Dim Head, Operand Q, Operand K, Operand V, Operand... I>
constexpr auto attention(const Q& q, const K& k, const V& v, const attention_options& options = {},
                         const I&... numbers) {
  using fault =
      typename detail::attention_fault<Query, Key, Head, detail::list<Q, K, V, I...>>::type;
  using first = detail::fault_of<detail::attention_rule<Query, Key, Head>, Q, K, V>;
  constexpr bool whole = (detail::holds_places<I> && ...), few = sizeof...(I) <= 3;
  static_assert(ok<only<fault, meshes_differ>>,
                "attention: the operands live on different meshes; put them on one");
  static_assert(ok<only_placed<fault>>,
                "attention: the operands live on different ranks of this axis; place<axis, k> the "
                "one that all of them hold (free), or send<axis, k> the one that lives elsewhere");
  static_assert(ok<only<fault, elements_differ>>,
                "attention: the operands have different element types; cast one of them");
  static_assert(ok<only<fault, element_not_differentiable>>,
                "attention: its operands are float or double; cast them first");
  static_assert(ok<only<first, dim_not_in_tensor>>,
                "attention: an operand lacks a dim: queries have the query dim, keys and values "
                "the key dim, all the head dim; other dims of keys are the queries', too");
  static_assert(ok<only<first, dim_already_in_tensor>>,
                "attention: the queries have the key dim, or keys or values the query dim; "
                "rename<query, key> what belongs to keys and values");
  static_assert(!few || !ok<first> || ok<only<fault, dim_not_in_tensor, dim_already_in_tensor>>,
                "attention: lengths have neither query nor key dim, flags the key's, segment ids "
                "the query's and then the key's; their other dims are the queries', without head");
  static_assert(few,
                "attention: what hides keys is lengths, flags, ids of queries and of keys, "
                "or lengths and these ids; give no more");
  static_assert(!few || !ok<fault> || whole,
                "attention: lengths, flags and segment ids are whole numbers; cast them to an "
                "integer type");
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
  if constexpr (!ok<fault> || !few || !whole || is_poison<Q> || is_poison<K> || is_poison<V> ||
                (is_poison<I> || ...)) {
    return poison{};
  } else {
    using dims = typename spec_of<Q>::dims;
    const auto& queries = detail::with_last<Head>(q);
    const auto& keys = detail::with_last<Head>(k);
    const auto& values = detail::with_last<Head>(v);
    detail::check_options(options);
    if constexpr (std::is_same_v<dims, detail::dims_with_last<Head, Q>>)
      return detail::attention_with_last<Query, Key, Head>(options, queries, keys, values,
                                                           numbers...);
    else
      return detail::permuted<dims>(detail::attention_with_last<Query, Key, Head>(
          options, queries, keys, values, numbers...));
  }
}

// ---- names and arguments of the wrong kind ------------------------------------------------------

namespace detail {
using attention_call = call_taking<names_taken<3, 3, named_kind::dim>, 3, a_tensor, a_tensor,
                                   a_tensor, attention_options, tensors_only>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::attention_call, detail::list<N...>, A...>
constexpr poison attention(const A&...) {
  static_assert(ok<detail::misuse<detail::attention_call, detail::list<N...>, A...>>,
                "attention: dims of queries, keys and heads stand in the angle brackets, such "
                "tensors in the parentheses: attention<query, key, head>(q, k, v)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison attention(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "attention: dims of queries, keys and heads stand in the angle brackets, such "
                "tensors in the parentheses: attention<query, key, head>(q, k, v)");
  return {};
}

}  // namespace dimesh
