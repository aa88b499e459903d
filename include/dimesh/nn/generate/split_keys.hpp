// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do few queries look at keys that several ranks hold? Each rank has the scores of its own
// keys; the softmax and the sum of values are completed over the ranks: three all-reduces of the
// queries' size, and no key moves.
//
//   attention_all_reduce<next, key, head>(q[batch, next, heads, head], k[batch, key/cols, heads,
//                                         head], v, {.causal = true, .offset = at})  -> as q
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>

#include "dimesh/core/replicas.hpp"
#include "dimesh/create.hpp"
#include "dimesh/nn/project.hpp"
#include "dimesh/op/attention.hpp"
#include "dimesh/op/expand.hpp"
#include "dimesh/op/permute.hpp"
#include "dimesh/op/softmax.hpp"

namespace dimesh::nn::detail {

/// The number of a place: a whole one, since elements may have too few digits for it.
using place_number = std::int32_t;

/// A score, by how far the query stands behind the key: minus infinity where it does not see it.
template <class T> struct score_seen {
  T scale;
  place_number offset, window;
  template <class S>
  KOKKOS_INLINE_FUNCTION S operator()(const S& s, place_number q, place_number k) const {
    constexpr T hidden = -std::numeric_limits<T>::infinity();
    const place_number behind = q + offset - k;
    return dimesh::select(behind >= 0 && behind < window, s * scale, S(hidden));
  }
};

struct place_as_number {
  KOKKOS_INLINE_FUNCTION place_number operator()(index_t i) const {
    return static_cast<place_number>(i);
  }
};
/// The places along D, split as x is.
template <class D, class X> auto places_along(const X& x) {
  using L = typename dimesh::detail::canonical_over<typename spec_of<X>::layout, list<D>>::type;
  return dimesh::generate<tensor<place_number, L, D>>(x.grid(), place_as_number{},
                                                      D{x.template extent<D>()});
}

/// A share of a value; where it is 0, of whatever.
struct share_of_value {
  template <class S, class V>
  KOKKOS_INLINE_FUNCTION S operator()(const S& share, const V& value) const {
    return dimesh::select(share == 0, S(0), share * value);
  }
};
/// Are the elements of this rank's block finite? Local.
template <class Y> bool is_finite_here(const Y& y) {
  using T = value_of<Y>;
  const auto zeros = dimesh::sum(y * 0);
  const dimesh::detail::tensor_core& core = dimesh::detail::core_of(zeros);
  if (core.is_shape || core.away != 0) return true;
  T sum;
  std::memcpy(&sum, dimesh::detail::bytes_on_host(core).data(), sizeof(T));
  return static_cast<computed<T>>(sum) == 0;
}
template <class... D, class X> auto in_order(list<D...>, const X& x) { return permute<D...>(x); }

/// The addends that this rank's keys make of the values. A value that is no number is one with a
/// share of 0, too, in a product: then sums are made of those that are seen, pair by pair.
template <class Key, class Head, class S, class V, class Dims>
auto values_seen(Dims dims, const S& shares, const V& v) {
  using T = value_of<S>;
  const auto all = product<void>(dims, shares, v);
  if (is_finite_here(all)) return all;
  const auto pairs = dimesh::map<computed<T>>(
      share_of_value{}, expand<Head>(shares, Head{v.template extent<Head>()}), v);
  return in_order(dims, cast<T>(dimesh::sum<Key>(pairs)));
}

/// What attention gives, causal, where the keys' dim is split: what is hidden from a query reaches
/// no result of it, be it NaN. Stores the scores. Shapes: q [..,
/// Query, .., Head] whole along Query, k and v [.., Key, .., Head] -> as q.
template <class Query, class Key, class Head, class Q, class K, class V>
auto attention_all_reduce(const Q& q, const K& k, const V& v, const attention_options& o) {
  using T = value_of<Q>;
  using dims = typename spec_of<Q>::dims;
  using scored = typename concat_impl<typename remaining<dims, list<Head>>::type, list<Key>>::type;
  const double scale = dimesh::detail::attention_scale(o, q.template extent<Head>());
  constexpr place_number far = std::numeric_limits<place_number>::max();
  const score_seen<computed<T>> seen{static_cast<computed<T>>(scale),
                                     static_cast<place_number>(o.offset),
                                     o.window > 0 ? static_cast<place_number>(o.window) : far};
  const auto shares = softmax<Key>(dimesh::map(seen, product<void>(scored{}, q, k),
                                               places_along<Query>(q), places_along<Key>(k)));
  return complete(values_seen<Key, Head>(dims{}, shares, v));
}

}  // namespace dimesh::nn::detail
