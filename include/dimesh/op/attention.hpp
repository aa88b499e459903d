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
#include "dimesh/op/attention_plan.hpp"
#include "dimesh/op/wanted.hpp"

namespace dimesh {

namespace detail {

/// The wanted cotangents of q, k and v, in one pass over the tiles. Shapes: ybar, y as q; log_sum
/// as q without Head; bars as their operands.
template <class Query, class Key, class Head, bool... Wanted> struct attention_transpose_op {
  attention_options options;
  using select = selection<Wanted...>;

  template <class B, class Y, class L, class... S>
  using result = typename wanted_specs<select, S...>::type;

  template <class Bars, class B, class Y, class L, class Q, class K, class V>
  constexpr void cost(tally& t, const Bars& bars, const B& ybar, const Y& y, const L& log_sum,
                      const Q& q, const K& k, const V& v) const {
    index_t bytes = ybar.local_bytes() + y.local_bytes() + log_sum.local_bytes() + q.local_bytes() +
                    k.local_bytes() + v.local_bytes();
    with_items([&](const auto&... b) { bytes += (b.local_bytes() + ...); }, bars);
    const auto x = attention_plan<Query, Key, Head>::problem(options, q, k, v, log_sum);
    const index_t products = 2 + (int{Wanted} + ...);  // scores, their cotangents, and each wanted
    t.compute(products * 2 * x.head * x.turns() * x.sees.pairs(x.position, x.queries), bytes);
  }
  template <class Bars, class B, class Y, class L, class Q, class K, class V>
  void fill(Bars& bars, const B& ybar, const Y& y, const L& log_sum, const Q& q, const K& k,
            const V& v) const {
    using T = value_of<Q>;
    auto x = attention_plan<Query, Key, Head>::problem(options, q, k, v, log_sum);
    x.scale = attention_scale(options, x.head);
    const local::attention_cotangents<T> to{bar_data<0, T>(bars), zeroed<1, T>(bars),
                                            zeroed<2, T>(bars)};
    const auto scratch = storage::acquire(
        static_cast<std::size_t>(local::attention_transpose_scratch<T>(x)) * sizeof(T));
    local::attention_transpose<T>(x, q.data(), k.data(), v.data(), y.data(), log_sum.data(),
                                  ybar.data(), to, static_cast<T*>(scratch.data()));
  }

 private:
  template <std::size_t K, class T, class Bars> static T* bar_data(Bars& bars) {
    if constexpr (select::at[K])
      return item<select::place(K)>(bars).data();
    else
      return nullptr;
  }
  template <std::size_t K, class T, class Bars> static T* zeroed(Bars& bars) {
    if constexpr (select::at[K])
      zero_bytes(bar_data<K, T>(bars), item<select::place(K)>(bars).local_bytes());
    return bar_data<K, T>(bars);
  }
};

/// Shapes: q (.., Query, Head), k and v (.., Key, Head) -> as q; auxiliary: q without Head, the
/// logarithms of the sums of exponentials. Head is last in all.
template <class Query, class Key, class Head> struct attention_op {
  attention_options options;

  static constexpr bool auxiliary = true;
  template <class... S>
  using result = typename attention_specs<attention_rule<Query, Key, Head, S...>>::type;

  template <class Y, class Q, class K, class V>
  constexpr void cost(tally& t, const Y& y, const Q& q, const K& k, const V& v) const {
    const auto x = attention_plan<Query, Key, Head>::problem(options, q, k, v, item<1>(y));
    t.compute(4 * x.head * x.turns() * x.sees.pairs(x.position, x.queries),
              item<0>(y).local_bytes() + item<1>(y).local_bytes() + q.local_bytes() +
                  k.local_bytes() + v.local_bytes());
  }
  template <class Y, class Q, class K, class V>
  void fill(Y& y, const Q& q, const K& k, const V& v) const {
    static_assert(is_on_host<Y>, "attention: the kernel runs on the host only; use a host space");
    using T = value_of<Q>;
    auto x = attention_plan<Query, Key, Head>::problem(options, q, k, v, item<1>(y));
    x.scale = attention_scale(options, x.head);
    const auto scratch =
        storage::acquire(static_cast<std::size_t>(local::attention_scratch<T>(x)) * sizeof(T));
    local::attention<T>(x, q.data(), k.data(), v.data(), item<0>(y).data(), item<1>(y).data(),
                        static_cast<T*>(scratch.data()));
  }
  static constexpr bool needs(int, unsigned wanted) { return wanted != 0; }
  template <bool... Wanted, class B, class Y, class... X>
  constexpr auto transpose(const slots<3>& to, const B& ybar, const Y& y, const X&... x) const {
    return all_wanted<Wanted...>(attention_transpose_op<Query, Key, Head, Wanted...>{options}, to,
                                 ybar, item<0>(y), item<1>(y), x...);
  }
};

template <class Query, class Key, class Head, class... X> struct attention_fault {
  using type = typename attention_rule<Query, Key, Head, spec_of<X>...>::fault;
};
template <class Query, class Key, class Head, class... X>
  requires(is_poison<X> || ...)
struct attention_fault<Query, Key, Head, X...> {
  using type = no_fault;
};

}  // namespace detail

/// For every query, the mean of the values weighted by softmax(scale q . k) over the keys that it
/// sees; 0 where it sees none. Shapes: q [.., Query, Head]; k and v [.., Key, Head] with some of
/// q's other dims, shared along those that they lack; the result is as q. Dims in any order, Head
/// last at best: elsewhere it is moved, which copies the operand. Memory: linear in Query and Key.
/// Local. Throws dimesh::error if an option is out of range.
template <Dim Query, Dim Key, Dim Head, Operand Q, Operand K, Operand V>
constexpr auto attention(const Q& q, const K& k, const V& v,
                         const attention_options& options = {}) {
  using fault = typename detail::attention_fault<Query, Key, Head, Q, K, V>::type;
  static_assert(ok<only<fault, meshes_differ>>,
                "attention: the operands live on different meshes; put them on one");
  static_assert(ok<only<fault, elements_differ>>,
                "attention: the operands have different element types; cast one of them");
  static_assert(ok<only<fault, element_not_differentiable>>,
                "attention: its operands are float or double; cast them first");
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "attention: an operand lacks a dim: queries have the query dim, keys and values "
                "the key dim, all the head dim; other dims of keys and values are the queries', "
                "too");
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
  static_assert(ok<only<fault, dim_split_in_one_operand_only>>,
                "attention: a dim is split in one operand only; slice it in the other (free), or "
                "gather it with whole<dim>");
  static_assert(ok<only<fault, dim_split_differently, dims_share_mesh_axis>>,
                "attention: the operands are split differently; relayout one of them");
  if constexpr (!ok<fault> || (is_poison<Q> || is_poison<K> || is_poison<V>)) {
    return poison{};
  } else {
    detail::check_options(options);
    return detail::permuted<typename spec_of<Q>::dims>(
        apply(detail::attention_op<Query, Key, Head>{options}, detail::with_last<Head>(q),
              detail::with_last<Head>(k), detail::with_last<Head>(v)));
  }
}

}  // namespace dimesh
