// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do several tensors become one? Side by side along a dim that is whole in each, or each as an
// element of a new dim. Local copies, under equal layouts of the other dims.
//
//   concat<length>(x, y, z)              [.., length, ..], length : dim<> -> the extents added up
//   concat<both, left, right>(x, y)      [.., left, ..], [.., right, ..]  -> [.., both, ..]
//   stack<layer>(x, y)                   [a, b], [a, b]                   -> [layer, a, b]
#pragma once

#include "dimesh/op/parts/join_rule.hpp"
#include "dimesh/op/parts/strided.hpp"
#include "dimesh/op/refusals/missing_header.hpp"
#include "dimesh/op/refusals/misuse_of_concat.hpp"
#include "dimesh/op/rename.hpp"

namespace dimesh {

namespace detail {

template <class... A> inline constexpr bool is_included<op_header::concat, A...> = true;

/// The dim of operand K that is laid end to end: operands may call theirs alike, and differ in
/// extent.
template <std::size_t K> struct nth_dim : dim<> {};
template <class Sequence> struct nth_dims;
template <std::size_t... K> struct nth_dims<std::index_sequence<K...>> {
  static constexpr const dim_facts* at[] = {&facts_of_dim<nth_dim<K>>...};
};
inline constexpr auto& nth = nth_dims<std::make_index_sequence<max_operands>>::at;

/// Rule of operands that become one along To; where Stacked each lacks it, otherwise operand k has
/// nth_dim<k> in its place.
template <class To, bool Stacked> struct concat_rule {
  using named = list<To>;
  template <class First, class...> struct dims {
    using type = typename std::conditional_t<Stacked, concat_impl<list<To>, First>,
                                             replaced_dims<nth_dim<0>, To, First>>::type;
  };
  static constexpr outcome of(rule_operands x, dim_list out) {
    if (const int k = foreign_operand(x); k >= 0) return blamed_place(fault_code::meshes_differ, k);
    constexpr const dim_facts* to = &facts_of_dim<To>;
    facts_of_own_dims seen[max_operands];
    const tensor_facts* at[max_operands]{};
    for (int k = 0; k < x.count; ++k) {
      if (x[k].place_of(to) >= 0) return blamed(fault_code::dim_already_in_tensor, to);
      at[k] = &(seen[k] = x[k]);
      if constexpr (!Stacked) {
        const int d = x[k].place_of(nth[k]);
        if (const int a = x[k].layout.axis_at(d, 0); a >= 0)
          return blamed(fault_code::dim_is_split, to, a);
        if (x[k].layout.halo[d].any()) return blamed(fault_code::dim_has_halo, to);
        seen[k].set_dim(d, to);
      }
      for (int d = 0; d < seen[k].rank; ++d)
        if (seen[0].place_of(seen[k].dim[d]) < 0)
          return blamed(fault_code::dim_not_in_tensor, seen[k].dim[d]);
      for (int d = 0; d < seen[0].rank; ++d)
        if (seen[k].place_of(seen[0].dim[d]) < 0)
          return blamed(fault_code::dim_not_in_tensor, seen[0].dim[d]);
    }
    return join_operands(join_kind::sum, {at, x.count}, out);
  }
};

/// Operands of elements T along `to`, which has `extent` elements.
template <class T, bool Stacked> struct concat_op {
  const dim_facts* to;
  index_t extent;
  std::string_view call;
  static constexpr bool takes_complex = true;

  constexpr index_t extent_of(const dim_facts* d) const {
    return same_dim(d, to) ? extent : dynamic;
  }
  void fill(results y, operands x) const {
    index_t at = 0;
    for (int k = 0; k < x.count(); ++k) {
      const strided part{0, 1, at, 1, length(x[k], k)};
      copy_strided<T>(part, Stacked ? nullptr : nth[k], to, x[k], y[0]);
      at += part.count;
    }
  }
  constexpr void cost(tally& t, results y, operands) const { t.compute(0, 2 * y[0].bytes()); }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& back) const {
    index_t at = 0;
    for (int k = 0; k < back.count(); ++k) {
      const index_t n = length(back.x(k), k);
      if (back.wants(k))
        back.give(k, strided_op<T>{{at, 1, 0, 1, n}, to, Stacked ? nullptr : nth[k], n, T{}, call},
                  back.ybar);
      at += n;
    }
  }

 private:
  static constexpr index_t length(const tensor_core& x, int k) {
    if constexpr (Stacked)
      return 1;
    else
      return x.extent(x.facts->place_of(nth[k]));
  }
};

/// The first operand that lacks its dim.
template <class From, class X>
using lacks_dim = std::conditional_t<(index_of<From, typename spec_of<X>::dims> < 0),
                                     dim_not_in_tensor<From>, no_fault>;

template <class Fault> constexpr void assert_joined() {
  using apart = only<Fault, partial_meets_split, dim_split_in_one_operand_only,
                     dim_split_differently, dims_share_mesh_axis>;
  static_assert(
      ok<only<Fault, extent_is_static>>,
      "concat: the dim's extent is part of its type; name the dims of result and operands: "
      "concat<both, left, right>(x, y)");
  static_assert(ok<only<Fault, elements_differ>>,
                "concat, stack: the operands have elements of several types; cast some");
  static_assert(
      ok<only<Fault, dim_not_in_tensor>>,
      "concat, stack: an operand lacks a dim that another has; all have the same dims but "
      "for the one that is joined");
  static_assert(ok<only<Fault, dim_already_in_tensor>>,
                "concat, stack: an operand has the new dim already; choose another name");
  static_assert(ok<only<Fault, dim_is_split>>,
                "concat: needs the joined dims whole, and one is split; whole<dim> it first");
  static_assert(ok<only<Fault, dim_has_halo>>,
                "concat: the blocks of a joined dim carry halos; join before halo_exchange");
  static_assert(ok<only<Fault, partial_meets_replicated>>,
                "concat, stack: one operand is a sum yet to be made, another is not; complete it");
  static_assert(ok<apart>,
                "concat, stack: the operands are split differently; relayout one of them");
  static_assert(ok<only_placed<Fault>>,
                "concat, stack: the operands live on different ranks of this axis; place<axis, k> "
                "what all ranks hold, or send<axis, k> what lives elsewhere");
  static_assert(ok<only<Fault, partial_operand>>,
                "concat, stack: an operand holds maxima (or minima) yet to be found; complete it");
  static_assert(ok<only<Fault, meshes_differ>>,
                "concat, stack: the operands live on different meshes; put them on one");
}

template <class... X>
using elements_fault =
    std::conditional_t<(std::is_same_v<value_of<X>, value_of<type_at<0, list<X...>>>> && ...),
                       no_fault, elements_differ<value_of<X>...>>;

template <class To> constexpr index_t joined_extent(std::string_view call, index_t sum) {
  if (is_static_dim<To> && static_extent<To> != sum)
    (words() << call << ": the operands have " << sum << " elements together, and dim '"
             << name_of<To>() << "' has " << static_extent<To>)
        .raise();
  return sum;
}

/// What is wrong with operands, From... of which lie side by side along To: as nth_dim<k>.
template <class To, class From, class Places, class... X> struct joined_fault;
template <class To, class... From, std::size_t... K, class... X>
struct joined_fault<To, list<From...>, std::index_sequence<K...>, X...> {
  static constexpr auto find() {
    using fault = typename first_of<lacks_dim<From, X>..., elements_fault<X...>>::type;
    if constexpr (!ok<fault>)
      return tag<fault>{};
    else
      return tag<fault_of<concat_rule<To, false>, decltype(dimesh::rename<From, nth_dim<K>>(
                                                      std::declval<const X&>()))...>>{};
  }
  using type = typename decltype(find())::type;
};
template <class To, class... From, std::size_t... K, class... X>
constexpr auto concat_dims(list<From...>, std::index_sequence<K...>, const X&... x) {
  using T = value_of<type_at<0, list<X...>>>;
  const index_t extent =
      joined_extent<To>("concat", (index_t{0} + ... + x.template extent<From>()));
  return apply_rule<concat_rule<To, false>, T>(
      concat_op<T, false>{&facts_of_dim<To>, extent, "concat"},
      dimesh::rename<From, nth_dim<K>>(x)...);
}

}  // namespace detail

/// x..., up to 16, side by side along a dim To, which is From... in each. Shapes: the dims of the
/// first, To in the place of its From. Local. Throws dimesh::error where a static extent is not
/// their sum.
template <Dim To, Dim... From, Operand... X>
  requires(sizeof...(From) > 0 && sizeof...(From) == sizeof...(X) &&
           sizeof...(X) <= static_cast<std::size_t>(detail::max_operands))
constexpr auto concat(const X&... x) {
  if constexpr ((is_poison<X> || ...)) {
    return poison{};
  } else {
    using from = detail::list<From...>;
    using places = std::index_sequence_for<X...>;
    using fault = typename detail::joined_fault<To, from, places, X...>::type;
    detail::assert_joined<fault>();
    if constexpr (!ok<fault>)
      return poison{};
    else
      return detail::concat_dims<To>(from{}, places{}, x...);
  }
}
/// x... side by side along a dim of all of them, whose extent is given at run time. Local.
template <Dim D, Operand... X>
  requires(sizeof...(X) > 0 && sizeof...(X) <= static_cast<std::size_t>(detail::max_operands))
constexpr auto concat(const X&... x) {
  if constexpr ((is_poison<X> || ...)) {
    return poison{};
  } else {
    using open = std::conditional_t<is_static_dim<D>, extent_is_static<D>, no_fault>;
    using from = detail::list<std::conditional_t<(sizeof(X) > 0), D, void>...>;
    using places = std::index_sequence_for<X...>;
    using joined = typename detail::joined_fault<D, from, places, X...>::type;
    using fault = typename detail::first_of<open, joined>::type;
    detail::assert_joined<fault>();
    if constexpr (!ok<fault>)
      return poison{};
    else
      return detail::concat_dims<D>(from{}, places{}, x...);
  }
}

/// x... as the elements of a new dim, the first in storage. Shapes: [..] each -> [New, ..]. Local.
/// Throws dimesh::error where a static extent is not their number.
template <Dim New, Operand... X>
  requires(sizeof...(X) > 0 && sizeof...(X) <= static_cast<std::size_t>(detail::max_operands))
constexpr auto stack(const X&... x) {
  if constexpr ((is_poison<X> || ...)) {
    return poison{};
  } else {
    using rule = detail::concat_rule<New, true>;
    using fault =
        typename detail::first_of<detail::elements_fault<X...>, detail::fault_of<rule, X...>>::type;
    detail::assert_joined<fault>();
    if constexpr (!ok<fault>) {
      return poison{};
    } else {
      using T = value_of<detail::type_at<0, detail::list<X...>>>;
      const index_t n = detail::joined_extent<New>("stack", sizeof...(X));
      return detail::apply_rule<rule, T>(
          detail::concat_op<T, true>{&detail::facts_of_dim<New>, n, "stack"}, x...);
    }
  }
}

}  // namespace dimesh
