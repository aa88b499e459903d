// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How is one of several classes drawn that ranks split among them? As categorical draws it: random
// numbers are keyed by the global index, so that the classes are those that a whole dim would give.
// Every rank tells the best of its own classes, in one small gather.
//
//   categorical_all_gather<label>(key, logits[batch, label/cols])  -> [batch] of std::int32_t, on
//     all ranks of cols
#pragma once

#include "dimesh/op/argmax_all_gather.hpp"
#include "dimesh/op/categorical.hpp"
#include "dimesh/op/stop_gradient.hpp"

namespace dimesh {

namespace detail {

/// Logits T, and a Gumbel number on each.
template <class T> struct disturb_op {
  static constexpr bool on_host = true;
  static constexpr std::string_view call = "categorical_all_gather";
  random_key key;

  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(2 * x[0].elements(), x[0].bytes() + y[0].bytes());
  }
  void fill(results y, operands x) const {
    disturb(key, block_places(x[0]), 0, x[0].elements(), x[0].data<const T>(), y[0].data<double>());
  }
};
/// As of argmax_all_gather, and no halos along other dims: their elements would be drawn twice.
template <class D> struct far_categorical_rule : far_extreme_rule<D> {
  static constexpr outcome of(rule_operands x, dim_list out) {
    return without_halos_only(x[0], far_extreme_rule<D>::of(x, out));
  }
};

}  // namespace detail

/// A class along D, over all ranks, for all places of the other dims: the one that categorical
/// draws with this key where D is whole. Shapes: x without D, int32, on all ranks along the axes
/// that split D. Keeps a double for each logit while it runs. Where D is split, one all-gather: of
/// a rank its best class, as 12 bytes, for each line along D. On the host. Throws dimesh::error
/// where D has more elements than int32 can number.
template <Dim D, Operand X> constexpr auto categorical_all_gather(random_key key, const X& x) {
  using fault = detail::fault_of<detail::far_categorical_rule<D>, X>;
  detail::assert_far_extreme<fault>();
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else if constexpr (is_storage_only<value_of<X>>) {
    return dimesh::categorical_all_gather<D>(key, cast<computed<value_of<X>>>(x));
  } else {
    constexpr std::string_view call = detail::disturb_op<value_of<X>>::call;
    detail::require_few_places<D>(call, x.template extent<D>());
    detail::check<detail::far_categorical_rule<D>>(call, x);
    if constexpr (detail::is_whole_by_type<X, D>) return categorical<D>(key, x);
    return detail::far_extreme_of<D, true>(
        call, detail::apply_rule<detail::like_rule, double>(detail::disturb_op<value_of<X>>{key},
                                                            stop_gradient(x)));
  }
}

// ---- names and arguments of the wrong kind ------------------------------------------------------

template <class... N, class... A>
  requires detail::is_misused<detail::categorical_call, detail::list<N...>, A...>
constexpr poison categorical_all_gather(const A&...) {
  static_assert(ok<detail::misuse<detail::categorical_call, detail::list<N...>, A...>>,
                "categorical_all_gather: a dim stands in the angle brackets, a key and then logits "
                "in the parentheses: categorical_all_gather<label>(key, x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison categorical_all_gather(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "categorical_all_gather: a dim stands in the angle brackets, a key and then logits "
                "in the parentheses: categorical_all_gather<label>(key, x)");
  return {};
}

}  // namespace dimesh
