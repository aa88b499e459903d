// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do few queries look at keys that several ranks hold? Each rank has the scores of its own
// keys; the softmax and the sum of values are completed over the ranks: three all-reduces of the
// queries' size, and no key moves.
//
//   attention_all_reduce<next, key, head>(q[batch, next, heads, head], k[batch, key/cols, heads,
//                                         head], v, {.causal = true, .offset = at})  -> as q
#pragma once

#include <limits>

#include "dimesh/create.hpp"
#include "dimesh/nn/project.hpp"
#include "dimesh/op/attention.hpp"
#include "dimesh/op/softmax.hpp"

namespace dimesh::nn::detail {

/// A score, by how far the query stands behind the key: minus infinity where it does not see it.
template <class T> struct score_seen {
  T scale, offset, window;
  template <class S>
  KOKKOS_INLINE_FUNCTION auto operator()(const S& s, const S& q, const S& k) const {
    constexpr T hidden = -std::numeric_limits<T>::infinity();
    const auto behind = q + offset - k;
    const auto near = dimesh::select(behind < window, s * scale, S(hidden));
    return dimesh::select(behind < T(0), S(hidden), near);
  }
};

/// The number of a place, as an element.
template <class T> struct place_as {
  KOKKOS_INLINE_FUNCTION T operator()(index_t i) const { return static_cast<T>(i); }
};
/// The places along D, split as x is.
template <class D, class X> auto places_along(const X& x) {
  using T = value_of<X>;
  using L = typename dimesh::detail::canonical_over<typename spec_of<X>::layout, list<D>>::type;
  return dimesh::generate<tensor<T, L, D>>(x.grid(), place_as<T>{}, D{x.template extent<D>()});
}

/// What attention gives, causal, where the keys' dim is split. Stores the scores. Shapes: q [..,
/// Query, .., Head] whole along Query, k and v [.., Key, .., Head] -> as q.
template <class Query, class Key, class Head, class Q, class K, class V>
auto attention_all_reduce(const Q& q, const K& k, const V& v, const attention_options& o) {
  using T = value_of<Q>;
  using dims = typename spec_of<Q>::dims;
  using scored = typename concat_impl<typename remaining<dims, list<Head>>::type, list<Key>>::type;
  const double scale = dimesh::detail::attention_scale(o, q.template extent<Head>());
  constexpr T far = std::numeric_limits<T>::infinity();
  const score_seen<T> seen{static_cast<T>(scale), static_cast<T>(o.offset),
                           o.window > 0 ? static_cast<T>(o.window) : far};
  const auto shares = softmax<Key>(dimesh::map(seen, product<void>(scored{}, q, k),
                                               places_along<Query>(q), places_along<Key>(k)));
  return complete(product<void>(dims{}, shares, v));
}

}  // namespace dimesh::nn::detail
