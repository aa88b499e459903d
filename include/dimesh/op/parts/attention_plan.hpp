// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which attention does a rank compute? The rule of attention on specs, and the kernel's description
// of it from blocks: named dims become loops and strides, offsets of blocks become places among the
// keys and in the stream of random numbers.
//
//   attention_specs<attention_rule<length, key, head, spec_q, spec_k, spec_v>>::type
//     -> list<spec_q's dims and layout, the same without head>
#pragma once

#include <cmath>

#include "dimesh/local/attention_tile.hpp"
#include "dimesh/op/argmax.hpp"
#include "dimesh/op/parts/transition.hpp"
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

/// The joined table over all dims, cut down to Dims.
template <class J, class All, class Dims> struct joined_part {
  static constexpr table result = renumber(J::value.t, places<All, Dims>::at);
};

template <class Query, class Key, class Head, class Q, class K, class V> struct attention_rule {
  using head = Head;
  using dims = typename Q::dims;
  using all = united<typename Q::dims, typename K::dims, typename V::dims>;
  using mesh = typename Q::mesh;
  using value = typename Q::value_type;
  using joining = join<join_kind::nonlinear, all, Q, K, V>;

  /// The first dim that one of the specs lacks, or void.
  template <class... Found> struct first_of {
    using type = void;
  };
  template <class First, class... Rest> struct first_of<First, Rest...> {
    using type =
        typename std::conditional_t<std::is_void_v<First>, first_of<Rest...>, tag<First>>::type;
  };
  template <class S, class Dims> struct lacking;
  template <class S, class... D> struct lacking<S, list<D...>> {
    using type = typename first_of<
        std::conditional_t<(index_of<D, typename S::dims> < 0), D, void>...>::type;
  };
  using missing = typename first_of<
      typename lacking<Q, list<Query, Head>>::type, typename lacking<K, list<Key, Head>>::type,
      typename lacking<V, list<Key, Head>>::type,
      typename lacking<Q, typename without_dim<Key, typename K::dims>::type>::type,
      typename lacking<Q, typename without_dim<Key, typename V::dims>::type>::type>::type;
  using misplaced = std::conditional_t<index_of<Key, dims> >= 0, Key,
                                       std::conditional_t<(index_of<Query, typename K::dims> >= 0 ||
                                                           index_of<Query, typename V::dims> >= 0),
                                                          Query, void>>;

  template <class D, class S> static constexpr int split_axis() {
    if constexpr (index_of<D, typename S::dims> < 0)
      return -1;
    else
      return splitting_axis<S, D>();
  }
  template <class D> static constexpr int any_split_axis() {
    return std::max({split_axis<D, Q>(), split_axis<D, K>(), split_axis<D, V>()});
  }
  template <int A> using axis_at = type_at<A, typename mesh::axes>;

  static constexpr auto find() {
    using meshes = typename mesh_fault<Q, K, V>::type;
    using halo = typename first_fault<any_halo_fault<Q>,
                                      first_fault<any_halo_fault<K>, any_halo_fault<V>>>::type;
    if constexpr (!ok<meshes>)
      return tag<meshes>{};
    else if constexpr (!std::is_same_v<value, typename K::value_type> ||
                       !std::is_same_v<value, typename V::value_type>)
      return tag<elements_differ<value, typename K::value_type, typename V::value_type>>{};
    else if constexpr (!element_traits<value>::is_native_real)
      return tag<element_not_differentiable<value>>{};
    else if constexpr (!std::is_void_v<misplaced>)
      return tag<dim_already_in_tensor<misplaced>>{};
    else if constexpr (!std::is_void_v<missing>)
      return tag<dim_not_in_tensor<missing>>{};
    else if constexpr (!ok<halo>)
      return tag<halo>{};
    else if constexpr (any_split_axis<Key>() >= 0)
      return tag<dim_is_split<Key, axis_at<any_split_axis<Key>()>>>{};
    else if constexpr (any_split_axis<Head>() >= 0)
      return tag<dim_is_split<Head, axis_at<any_split_axis<Head>()>>>{};
    else
      return tag<fault_of_join<joining, mesh, all>>{};
  }
  using fault = typename decltype(find())::type;
};

/// The specs of the result and of its auxiliary, where the rule has found no fault.
template <class Rule> struct attention_specs {
  using log_dims = typename without_dim<typename Rule::head, typename Rule::dims>::type;
  template <class Dims>
  using part = spec_of_table<typename Rule::value, typename Rule::mesh, Dims,
                             joined_part<typename Rule::joining, typename Rule::all, Dims>>;
  using type = list<part<typename Rule::dims>, part<log_dims>>;
};

/// The dims of queries and keys.
struct attention_dims {
  const dim_facts* query;
  const dim_facts* key;
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

}  // namespace detail
}  // namespace dimesh
