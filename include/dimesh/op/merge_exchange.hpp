// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do several dims become one, and one several, where ranks split any of them? As merge and cut
// do where only the first is split, and evenly. The caller says which axes split the new dims, all
// that split the old ones; an element travels if its place is then on another rank.
//
//   merge_exchange<split<token, cols>, batch, length>(x[batch, length/cols])  -> [token/cols]
//   cut_exchange<hidden, head, split<feature, cols>>(x[hidden/cols])  -> [head, feature/cols]
//   cut_exchange<token, row, split<uneven<col>, rows>>(x[token/rows], col{8})
#pragma once

#include "dimesh/op/merge.hpp"
#include "dimesh/op/parts/goal.hpp"
#include "dimesh/op/parts/merged_map.hpp"
#include "dimesh/op/refusals/misuse_of_merge_exchange.hpp"

namespace dimesh {

namespace detail {

/// The elements of `olds` dims from `first` on as those of dims `to`, elements T.
template <class T> struct merged_exchange_op {
  int first, olds;
  named_extents to;
  std::string_view call;
  static constexpr bool takes_complex = true;

  constexpr index_t extent_of(const dim_facts* d) const {
    for (int i = 0; i < to.count; ++i)
      if (same_dim(d, to.dim[i])) return to.n[i];
    return dynamic;
  }
  constexpr merged_map map(const tensor_core& y, const tensor_core& x) const {
    return merged_map(x, olds, y, to.count, first);
  }
  void fill(results y, operands x) const {
    const lines_at<T> there(y[0], first, to.count);
    const lines_at<const T> here[] = {lines_at<const T>(x[0], first, olds)};
    std::optional<line_moves> room;
    // The first of several new dims has the extent that is left.
    const index_t last = to.count > 1 ? y[0].extent(first + to.count - 1) : 0;
    const index_t before = to.count > 2 ? y[0].extent(first + to.count - 2) : 0;
    const auto make = [&] {
      const merged_map m = map(y[0], x[0]);
      return line_moves(m, *x[0].grid, m.talk, there.of.across());
    };
    if (to.count > 3)
      move_lines<T>(make(), here, there, std::string(call).c_str());
    else
      move_lines<T>(kept_moves<merged_map>(x[0], y[0], {first, olds, last, before}, room, make),
                    here, there, std::string(call).c_str());
  }
  constexpr void cost(tally& t, results y, operands x) const {
    const merged_map m = map(y[0], x[0]);
    const index_t each = line_block(x[0], first, olds).across() * x[0].facts->element;
    count_lines(t, m, m.talk, x[0].sizes(), m.me(), each);
    t.compute(0, 2 * y[0].bytes());
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& back) const {
    named_extents its;
    const tensor_core& x = back.x(0);
    for (int d = first; d < first + olds; ++d) its.add(x.facts->dim[d], x.extent(d));
    back.give(0, merged_exchange_op{first, to.count, its, call}, back.ybar);
  }
};

/// split<D, A...>, uneven<D> or D: the dim, and the rule of a layout that says so.
template <class D> struct new_dim {
  using type = plain_dim<D>;
  using rule = list<>;
};
template <class D, class... A> struct new_dim<split<D, A...>> {
  using type = plain_dim<D>;
  using rule = list<split<D, A...>>;
};
template <class D> using new_dim_of = typename new_dim<D>::type;
template <class M, class Rules> struct layout_of_rules;
template <class M, class... R> struct layout_of_rules<M, list<R...>> {
  using type = layout<M, R...>;
};
/// What the caller says of the new dims.
template <class M, class... New>
using layout_of_new = typename layout_of_rules<
    M, typename concat_impl<list<>, typename new_dim<New>::rule...>::type>::type;

/// x without dims olds, and `goal`, which says how the others are cut, and by the same axes.
constexpr outcome recut(const tensor_facts& x, dim_list olds, dim_list news, const table& goal,
                        dim_list out) {
  unsigned before = 0, after = 0;
  for (int i = 0; i < olds.size; ++i) before |= x.layout.axes_of(x.place_of(olds[i]));
  for (int i = 0; i < news.size; ++i) after |= goal.axes_of(out.place_of(news[i]));
  if (const unsigned lost = before & ~after; lost != 0)
    return blamed(fault_code::dim_is_split, olds[0], first_axis(lost));
  if (const unsigned more = after & ~before; more != 0)
    return blamed_axis(fault_code::axis_splits_nothing, first_axis(more));
  for (int i = 0; i < news.size; ++i)
    if (goal.ragged[out.place_of(news[i])])
      return blamed(fault_code::dim_split_differently, news[i]);
  table t = table_over_dims(x.layout, x.dims(), out);
  for (int a = 0; a < t.axes; ++a)
    if (after >> a & 1u) t.axis[a] = goal.axis[a];
  for (int i = 0; i < news.size; ++i)
    t.uneven[out.place_of(news[i])] = goal.uneven[out.place_of(news[i])];
  return formed(t, out, x);
}

/// Rule of neighbouring dims Old... as dims New..., which say over which axes of M they are cut.
template <class M, class Old, class... New> struct recut_rule;
template <class M, class First, class... Rest, class... New>
struct recut_rule<M, list<First, Rest...>, New...> {
  using goal = layout_of_new<M, New...>;
  using named = list<First, Rest..., new_dim_of<New>...>;
  using parts = list<First, Rest...>;
  using whole_dims = list<new_dim_of<New>...>;
  template <class E>
  using one =
      std::conditional_t<std::is_same_v<E, First>, whole_dims,
                         std::conditional_t<(index_of<E, list<Rest...>> >= 0), list<>, list<E>>>;
  template <class Dims> struct dims;
  template <class... D> struct dims<list<D...>> {
    using type = typename concat_impl<list<>, one<D>...>::type;
  };

  static constexpr outcome of(rule_operands x, dim_list out) {
    const tensor_facts& v = x[0];
    constexpr dim_list olds = dims_in<parts>, news = dims_in<whole_dims>;
    for (int i = 0; i < olds.size; ++i)
      if (v.place_of(olds[i]) < 0) return blamed(fault_code::dim_not_in_tensor, olds[i]);
    if (const int i = out.repeated(); i >= 0)
      return blamed(fault_code::dim_already_in_tensor, out[i]);
    for (int i = 0; i < news.size; ++i)
      if (v.place_of(news[i]) >= 0) return blamed(fault_code::dim_already_in_tensor, news[i]);
    const int begin = v.place_of(olds[0]);
    for (int i = 0; i < olds.size; ++i)
      if (begin + i >= v.rank || !same_dim(v.dim[begin + i], olds[i]))
        return blamed(fault_code::dim_not_in_order, olds[i]);
    if (const dim_facts* const h = haloed_dim(v); h != nullptr)
      return blamed(fault_code::dim_has_halo, h);
    constexpr bool is_static = (is_static_dim<First> && ... && is_static_dim<Rest>) &&
                               (is_static_dim<new_dim_of<New>> && ...);
    if constexpr (is_static)
      if ((static_extent<First> * ... * static_extent<Rest>) !=
          (static_extent<new_dim_of<New>> * ...))
        return blamed(fault_code::extents_differ, news[0], olds[0]);
    outcome o = target<goal>::of(out);
    if (!o.ok()) {
      o.is_of_goal = true;
      return o;
    }
    return recut(v, olds, news, o.layout, out);
  }
};

template <class Fault> constexpr void assert_recut() {
  static_assert(ok<only_of_rules<Fault>>,
                "merge_exchange, cut_exchange: the rules of the new dims do not agree: axes must "
                "be in the mesh and do one thing each, dims have one rule; mend them");
  static_assert(ok<only<Fault, dim_not_in_tensor>>,
                "merge_exchange, cut_exchange: the tensor lacks a dim that is to be another; name "
                "dims of its own");
  static_assert(ok<only<Fault, dim_already_in_tensor>>,
                "merge_exchange, cut_exchange: the tensor has a dim of a new name already; choose "
                "another name");
  static_assert(ok<only<Fault, dim_not_in_order>>,
                "merge_exchange: the dims do not lie side by side in this order; permute them "
                "first");
  static_assert(ok<only<Fault, dim_is_split>>,
                "merge_exchange, cut_exchange: an axis splits the dims and none of the new ones; "
                "say split<dim, axis> of one, or gather with whole<dim> first");
  static_assert(ok<only<Fault, axis_splits_nothing>>,
                "merge_exchange, cut_exchange: an axis is to split a new dim and splits none of "
                "the old ones; name those that do, and relayout afterwards");
  static_assert(ok<only<Fault, dim_split_differently>>,
                "merge_exchange, cut_exchange: a new dim is to be ragged, and nothing says where "
                "it is cut; say split<uneven<dim>, axis>");
  static_assert(ok<only<Fault, extents_differ>>,
                "merge_exchange, cut_exchange: the extents of the dims do not multiply to those "
                "of the new ones");
  static_assert(ok<only_not_divisible<Fault>>,
                "merge_exchange, cut_exchange: the axes that split a new dim do not divide its "
                "extent; say split<uneven<dim>, axis>");
  static_assert(ok<only<Fault, dim_has_halo>>,
                "merge_exchange, cut_exchange: the blocks carry halos; do it before "
                "halo_exchange");
}
template <class X> struct mesh_of_operand {
  using type = typename spec_of<X>::mesh;
};
template <class X, class Old, class... New>
using recut_rule_of = recut_rule<unless_poison<X, mesh_of_operand<X>, void>, Old, New...>;

template <class Rule, class First, class X>
constexpr auto recut_as(std::string_view call, const X& x, int olds, const named_extents& to) {
  return apply_rule<Rule, value_of<X>>(
      merged_exchange_op<value_of<X>>{index_of<First, typename spec_of<X>::dims>, olds, to, call},
      x);
}

}  // namespace detail

/// Dims First, Rest..., neighbours in storage in this order, as one dim To, which is written as a
/// layout would have it: split<To, A...>, split<uneven<To>, A...>; A... are the axes that split any
/// of First, Rest..., major first. Shapes: [.., First, Rest.., ..] -> [.., To, ..]. Throws
/// dimesh::error where a static extent of To is not their product, or axes do not divide it.
template <class To, Dim First, Dim... Rest, Operand X>
  requires Dim<detail::new_dim_of<To>>
constexpr auto merge_exchange(const X& x) {
  using rule = detail::recut_rule_of<X, detail::list<First, Rest...>, To>;
  using fault = detail::fault_of<rule, X>;
  detail::assert_recut<fault>();
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    using to = detail::new_dim_of<To>;
    const index_t n = (x.template extent<First>() * ... * x.template extent<Rest>());
    if (is_static_dim<to> && static_extent<to> != n && !detail::has_assumed_extents(x))
      (detail::words() << "merge_exchange: the dims have " << n << " elements together, and dim '"
                       << detail::name_of<to>() << "' has " << static_extent<to>)
          .raise();
    detail::named_extents extents;
    extents.add(&detail::facts_of_dim<to>, n);
    return detail::recut_as<rule, First>("merge_exchange", x, 1 + sizeof...(Rest), extents);
  }
}

/// Dim From as dims New..., row-major, of which those that are split are written split<D, A...>:
/// among them all axes that split From. Open extents are given as dims with a value, all but one.
/// Shapes: [.., From, ..] -> [.., New.., ..]. Throws dimesh::error where extents do not multiply to
/// that of From, or axes do not divide theirs.
template <Dim From, class... New, Operand X, Extents... E>
  requires(sizeof...(New) > 0 && (Dim<detail::new_dim_of<New>> && ...))
constexpr auto cut_exchange(const X& x, const E&... extents) {
  using rule = detail::recut_rule_of<X, detail::list<From>, New...>;
  using fault = detail::fault_of<rule, X>;
  detail::assert_recut<fault>();
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    const auto to = detail::cut_extents<From>(
        "cut_exchange", x, detail::list<detail::new_dim_of<New>...>{}, extents...);
    return detail::recut_as<rule, From>("cut_exchange", x, 1, to);
  }
}

}  // namespace dimesh
