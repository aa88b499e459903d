// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which are the greatest few elements along a dim that ranks split, and which is the n-th? Every
// rank finds its own few, and one small gather finds those of all; the n-th is found by cutting the
// order of all there (op/parts/sorted_lines.hpp), so that n may be half of them.
//
//   top_k_all_gather<token, best>(x[batch, token/rows])    best : dim<4>
//     -> {values, places} [batch, best], on all ranks; places among all, int32
//   nth_largest_all_gather<token>(x[batch, token/rows], 0)  -> the greatest, [batch]
//
// Of equals the first counts as greater; NaN is greater than any number. Bits are those of the
// elements.
#pragma once

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/op/complete.hpp"
#include "dimesh/op/parts/among.hpp"
#include "dimesh/op/parts/told_elements.hpp"
#include "dimesh/op/refusals/misuse.hpp"
#include "dimesh/op/sort_all_to_all.hpp"

namespace dimesh {

namespace detail {

/// The elements of x at places along D, on all ranks.
template <class D, class To, class X, class I>
constexpr auto picked_among(std::string_view call, const X& x, const I& places) {
  if constexpr (may_change_extent<D, To>)
    return picked_among<former<D>, To>(call, dimesh::rename<D, former<D>>(x), places);
  else
    return dimesh::complete(apply_rule<told_rule<D, To>, value_of<X>>(
        pick_among_op<value_of<X>>{index_of<D, typename spec_of<X>::dims>, call}, x, places));
}

// ---- the greatest few ---------------------------------------------------------------------------

/// Places of the n greatest elements T along dim d, which is called `to` in the result.
template <class T> struct top_places_op {
  static constexpr bool on_host = true;
  int d;
  const dim_facts* to;
  index_t n;
  static constexpr std::string_view call = "top_k_all_gather";

  constexpr index_t extent_of(const dim_facts* e) const { return same_dim(e, to) ? n : dynamic; }
  constexpr index_t told(index_t length) const { return n < length ? n : length; }

  constexpr void cost(tally& t, results y, operands x) const {
    count_sorting(t, x[0], d, y[0].bytes());
    told_elements<T>::cost(t, x[0], d, [this](index_t length) { return told(length); });
  }
  void fill(results y, operands in) const {
    const tensor_core& x = in[0];
    told_elements<T> few(x, d, [this](index_t length) { return told(length); });
    tell(x, few);
    few.exchange(x);
    choose(few, x.stride(d), y[0].data<std::int32_t>());
  }

 private:
  /// Own greatest.
  void tell(const tensor_core& x, told_elements<T>& few) const {
    const writes_memory kernel;
    const local::picked_lines l = lines_along(x, d, x.local(d), few.own());
    const index_t elements = l.outer * few.own() * l.inner;
    std::vector<std::int32_t> at(static_cast<std::size_t>(elements));
    local::order_along(l, x.data<const T>(), true, at.data());
    for (index_t i = 0; i < elements; ++i) {
      const index_t o = i / (few.own() * l.inner), k = i / l.inner % few.own(), j = i % l.inner;
      const std::int32_t local_place = at[static_cast<std::size_t>(i)];
      few.tell(o * l.inner + j, k,
               {x.data<const T>()[(o * l.from + local_place) * l.inner + j],
                static_cast<std::int32_t>(x.own(d).offset + local_place)});
    }
  }
  void choose(const told_elements<T>& few, index_t inner, std::int32_t* y) const {
    const writes_memory kernel;
    std::vector<typename told_elements<T>::element> line;
    for (index_t l = 0; l < few.lines(); ++l) {
      line.clear();
      few.for_each(l, [&line](const auto& e) { line.push_back(e); });
      std::partial_sort(line.begin(), line.begin() + n, line.end(), before<true>{});
      for (index_t k = 0; k < n; ++k)
        y[(l / inner * n + k) * inner + l % inner] = line[static_cast<std::size_t>(k)].at;
    }
  }
};

// ---- the n-th -----------------------------------------------------------------------------------

/// The place of the n-th greatest element T along dim d, an addend of the rank that has it.
template <class T> struct nth_place_op {
  static constexpr bool on_host = true;
  int d;
  index_t n;
  static constexpr std::string_view call = "nth_largest_all_gather";

  constexpr void cost(tally& t, results y, operands x) const {
    count_sorting(t, x[0], d, y[0].bytes());
    count_cuts(t, dim_in_order(x[0], d), lines_of(x[0], d), 2, sizeof(T));
  }
  void fill(results y, operands in) const {
    const writes_memory kernel;
    sorted_lines<T, before<true>> lines(in[0], d);
    lines.find({n, n + 1});
    std::int32_t* const to = y[0].data<std::int32_t>();
    for (index_t l = 0; l < lines.lines(); ++l) {
      const index_t at = lines.cut(l, 0, lines.part());
      to[l] = lines.cut(l, 1, lines.part()) > at
                  ? static_cast<std::int32_t>(lines.first() + lines.line(l)[at].at)
                  : 0;
    }
  }
};

}  // namespace detail

/// The K greatest elements along D over all ranks, greatest first, and their places. Shapes: [..,
/// D, ..] -> .values [.., K, ..] and .places, int32, on all ranks along the axes that split D; K
/// carries its extent where that is given at run time. The cotangent of a value goes to where it
/// stood. Where D is split, one all-gather: of a rank its K greatest elements and their places, for
/// each line along D; and the values are summed (all-reduce of the result) from those who have
/// them, so that their gradients find the way back. Throws dimesh::error where D has fewer
/// elements.
template <Dim D, Dim K, Operand X> constexpr auto top_k_all_gather(const X& x, K k = {}) {
  using rule = detail::of_real_elements<detail::known_rule<D, K>>;
  using fault = detail::fault_of<rule, X>;
  detail::assert_ordered_across<fault, X>();
  if constexpr (!detail::can_be_sorted<fault, X>) {
    return top_elements<poison, poison>{};
  } else if constexpr (!std::is_same_v<value_of<X>, detail::sorted_value<value_of<X>>>) {
    const auto wide = dimesh::top_k_all_gather<D, K>(cast<detail::sorted_value<value_of<X>>>(x), k);
    const auto values = cast<value_of<X>>(wide.values);
    return top_elements<std::remove_const_t<decltype(values)>, decltype(wide.places)>{values,
                                                                                      wide.places};
  } else {
    const index_t n = shape<K>(k).template extent<K>(), all = x.template extent<D>();
    if (n > all)
      (detail::words() << "top_k_all_gather: " << n << " greatest of dim '" << detail::name_of<D>()
                       << "', which has " << all << " elements")
          .raise();
    detail::require_few_places<D>("top_k_all_gather", all);
    const detail::top_places_op<value_of<X>> op{detail::index_of<D, typename spec_of<X>::dims>,
                                                &detail::facts_of_dim<K>, n};
    const auto places = detail::apply_rule<rule, std::int32_t>(op, stop_gradient(x));
    auto values = detail::picked_among<D, K>("top_k_all_gather", x, places);
    return top_elements<decltype(values), std::remove_const_t<decltype(places)>>{values, places};
  }
}

/// The element along D, over all ranks, that n others come before, counting from the greatest: 0 is
/// the greatest, half of the extent the median. Shapes: x without D, on all ranks along the axes
/// that split D. The cotangent goes to where it stood. Where D is split, one or two gathers of
/// about the square root of a block's elements, for each line along D, and two all-reduces of the
/// result, its place and its value. Throws dimesh::error where D has no such element.
template <Dim D, Operand X> constexpr auto nth_largest_all_gather(const X& x, index_t n) {
  using place = detail::nth_place;
  using rule = detail::of_real_elements<detail::told_rule<D, place>>;
  using fault = detail::fault_of<rule, X>;
  detail::assert_ordered_across<fault, X>();
  if constexpr (!detail::can_be_sorted<fault, X>) {
    return poison{};
  } else if constexpr (!std::is_same_v<value_of<X>, detail::sorted_value<value_of<X>>>) {
    return cast<value_of<X>>(
        dimesh::nth_largest_all_gather<D>(cast<detail::sorted_value<value_of<X>>>(x), n));
  } else {
    const index_t all = x.template extent<D>();
    detail::require_nth<D>("nth_largest_all_gather", n, all);
    detail::require_few_places<D>("nth_largest_all_gather", all);
    const detail::nth_place_op<value_of<X>> op{detail::index_of<D, typename spec_of<X>::dims>, n};
    const auto at = dimesh::complete(detail::apply_rule<rule, std::int32_t>(op, stop_gradient(x)));
    return dimesh::pick<place>(detail::picked_among<D, place>("nth_largest_all_gather", x, at), 0);
  }
}

// ---- names and arguments of the wrong kind ------------------------------------------------------

namespace detail {
using top_k_all_gather_call = call_taking<two_dims, 1, a_tensor, no_tensor>;
using nth_largest_all_gather_call = call_taking<one_dim, 2, a_tensor, index_t>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::top_k_all_gather_call, detail::list<N...>, A...>
constexpr poison top_k_all_gather(const A&...) {
  static_assert(ok<detail::misuse<detail::top_k_all_gather_call, detail::list<N...>, A...>>,
                "top_k_all_gather: a dim and a new one stand in the angle brackets, a tensor in "
                "the parentheses: top_k_all_gather<token, best>(x), best a dim<3>");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison top_k_all_gather(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "top_k_all_gather: a dim and a new one stand in the angle brackets, a tensor in "
                "the parentheses: top_k_all_gather<token, best>(x), best a dim<3>");
  return {};
}
template <class, index_t K, class... A>
  requires detail::has_operand<A...>
constexpr poison top_k_all_gather(const A&...) {
  static_assert(ok<detail::dim_by_number<K>>,
                "top_k_all_gather: a dim and a new one stand in the angle brackets, a tensor in "
                "the parentheses: top_k_all_gather<token, best>(x), best a dim<3>");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::nth_largest_all_gather_call, detail::list<N...>, A...>
constexpr poison nth_largest_all_gather(const A&...) {
  static_assert(ok<detail::misuse<detail::nth_largest_all_gather_call, detail::list<N...>, A...>>,
                "nth_largest_all_gather: a dim stands in the angle brackets, the tensor and how "
                "many are greater in the parentheses: nth_largest_all_gather<token>(x, 0)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison nth_largest_all_gather(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "nth_largest_all_gather: a dim stands in the angle brackets, the tensor and how "
                "many are greater in the parentheses: nth_largest_all_gather<token>(x, 0)");
  return {};
}

}  // namespace dimesh
