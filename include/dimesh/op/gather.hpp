// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which element along a dim does each place want, and where does each element go? A number for
// every result, where `take` has one for a whole row. Local, the transposes of each other: where
// the dim that is numbered is split, each rank picks what it holds, and zeros for the rest.
//
//   gather<token, slot>(x[batch/rows, token], ids[batch/rows, slot])       -> [batch/rows, slot]
//     y[b, s] = x[b, ids[b, s]]
//   gather<token, slot>(x[batch, token/cols], ids[batch, slot])            -> [batch, slot],
//                                                                             partial over cols
//   scatter_add<slot, token>(y[batch, slot/cols], ids[batch, slot/cols])   -> [batch, token],
//     x[b, ids[b, s]] += y[b, s]                                              partial over cols
//   bincount<sample, bin>(ids[sample/rows])   -> [bin] of index_t, partial over rows
#pragma once

#include "dimesh/local/gather.hpp"
#include "dimesh/local/rounded_sums.hpp"
#include "dimesh/op/map.hpp"
#include "dimesh/op/one_hot.hpp"
#include "dimesh/op/parts/picked_rule.hpp"
#include "dimesh/op/parts/strided.hpp"
#include "dimesh/op/permute.hpp"
#include "dimesh/op/refusals/missing_header.hpp"
#include "dimesh/op/refusals/misuse_of_gather.hpp"
#include "dimesh/op/rename.hpp"

namespace dimesh {

namespace detail {

template <class... A> inline constexpr bool is_included<op_header::gather, A...> = true;

/// Of a tensor with `from` elements along dim d here and `to` there.
inline local::picked_lines lines_along(const tensor_core& x, int d, index_t from, index_t to) {
  local::picked_lines l{1, from, to, 1};
  for (int i = 0; i < d; ++i) l.outer *= x.local(i);
  for (int i = d + 1; i < x.rank(); ++i) l.inner *= x.local(i);
  return l;
}

/// By numbers that count from the first element of all ranks.
inline local::picked_lines picked_along(const tensor_core& x, int d, index_t to) {
  local::picked_lines l = lines_along(x, d, x.local(d), to);
  l.first = x.own(d).offset;
  return l;
}

template <class T, class I> struct scatter_add_op;

/// Elements T of dim d by the numbers I.
template <class T, class I> struct gather_op {
  int d;
  std::string_view call = "gather";
  static constexpr bool takes_complex = true;

  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(0, 2 * y[0].bytes() + x[1].bytes());
  }
  void fill(results y, operands x) const {
#ifdef DIMESH_CHECKED
    require_places<I>(call, x[1], *x[0].facts->dim[d], x[0].extent(d));
#endif
    local::gather_along(picked_along(x[0], d, x[1].local(d)), x[0].data<const T>(),
                        x[1].data<const I>(), y[0].data<T>());
  }
  static constexpr bool needs(int k, unsigned) { return k == 1; }
  constexpr void transpose(const auto& to) const {
    to.give(0, scatter_add_op<T, I>{d, nullptr, dynamic, call}, to.ybar, to.x(1));
  }
};

/// Elements T, added up along dim d, where the result has `dim` of so many elements.
template <class T, class I> struct scatter_add_op {
  int d;
  const dim_facts* dim;  // null: where the result says it
  index_t extent;
  std::string_view call = "scatter_add";
  static constexpr bool takes_complex = true;

  constexpr index_t extent_of(const dim_facts* e) const {
    return dim != nullptr && same_dim(e, dim) ? extent : dynamic;
  }
  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(x[0].elements(), 3 * x[0].bytes() + x[1].bytes() + y[0].bytes());
  }
  void fill(results y, operands x) const {
#ifdef DIMESH_CHECKED
    require_places<I>(call, x[1], *y[0].facts->dim[d], y[0].extent(d));
#endif
    const rounded_sums<T> sums(y[0].data<T>(), y[0].elements());
    local::scatter_along(picked_along(y[0], d, x[0].local(d)), x[0].data<const T>(),
                         x[1].data<const I>(), sums.data());
    sums.finish();
  }
  static constexpr bool needs(int k, unsigned) { return k == 1; }
  constexpr void transpose(const auto& to) const {
    to.give(0, gather_op<T, I>{d, call}, to.ybar, to.x(1));
  }
};

/// How often each place of dim d stands among numbers I; the second operand is the first one.
template <class I> struct count_op {
  int d;
  const dim_facts* dim;
  index_t extent;
  static constexpr std::string_view call = "bincount";

  constexpr index_t extent_of(const dim_facts* e) const {
    return same_dim(e, dim) ? extent : dynamic;
  }
  constexpr void cost(tally& t, results y, operands ids) const {
    t.compute(ids[0].elements(), ids[0].bytes() + y[0].bytes());
  }
  void fill(results y, operands ids) const {
#ifdef DIMESH_CHECKED
    require_places<I>(call, ids[0], *y[0].facts->dim[d], y[0].extent(d));
#endif
    local::count_along(picked_along(y[0], d, ids[0].local(d)), ids[0].data<const I>(),
                       y[0].data<index_t>());
  }
};

template <class Fault> constexpr void assert_picked() {
  using apart =
      only<Fault, partial_meets_split, dim_split_in_one_operand_only, dim_split_differently>;
  static_assert(ok<only<Fault, meshes_differ>>,
                "gather, scatter_add: elements and numbers live on different meshes; put them on "
                "one");
  static_assert(ok<only<Fault, dim_not_in_tensor>>,
                "gather, scatter_add: an operand lacks this dim; the numbers have the dims of the "
                "elements, but for the one that they number");
  static_assert(ok<only<Fault, dim_already_in_tensor>>,
                "gather, scatter_add: the elements have the new dim already; rename it in one of "
                "the operands");
  static_assert(ok<only<Fault, dims_share_mesh_axis>>,
                "gather, scatter_add: one mesh axis splits a dim of the elements and one of the "
                "numbers; gather one of them with whole<dim>");
  static_assert(ok<only<Fault, dim_has_halo>>,
                "gather, scatter_add: blocks of this dim carry halos; do it before halo_exchange");
  static_assert(ok<only<Fault, partial_operand>>,
                "gather, scatter_add: the numbers are a sum yet to be made (or the elements an "
                "extreme); complete them first");
  static_assert(ok<apart>,
                "gather, scatter_add: elements and numbers are split differently; relayout one of "
                "them");
  static_assert(ok<only_placed<Fault>>,
                "gather, scatter_add: the operands live on different ranks of this axis; place or "
                "send one");
}
template <class I> constexpr void assert_numbers() {
  static_assert(holds_places<I>,
                "gather, scatter_add, bincount: places are whole numbers; cast the tensor to an "
                "integer type first");
}

/// The order of dims of a tensor First with E in the place of D.
template <class First, class D, class E>
using dims_beside = typename replaced_dims<D, E, typename spec_of<First>::dims>::type;

/// Dim D of operands beside which there is a tensor with another extent of it: operands of one
/// operation, here or on the way back, have one extent.
template <class D> struct former : dim<> {};
/// Errors and pictures call it D.
template <class D>
inline constexpr dim_facts facts_of_dim<former<D>>{name_of<D>(), dynamic, type_number<former<D>>};
template <class From, class To>
inline constexpr bool may_change_extent = std::is_same_v<From, To> && !is_static_dim<To>;

template <class From, class X, class I, class D>
constexpr auto scattered(std::string_view call, const X& rows, const I& ids, D d) {
  if constexpr (may_change_extent<From, D>) {
    if (index_t& n = number_in(d); n == dynamic) n = rows.template extent<D>();
    return scattered<former<D>>(call, dimesh::rename<D, former<D>>(rows),
                                dimesh::rename<D, former<D>>(ids), d);
  } else {
    return apply_rule<added_rule<From, D>, value_of<X>>(
        scatter_add_op<value_of<X>, value_of<I>>{index_of<From, typename spec_of<X>::dims>,
                                                 &facts_of_dim<D>, shape<D>(d).template extent<D>(),
                                                 call},
        rows, permuted<typename spec_of<X>::dims>(ids));
  }
}

template <class From, class I, class D> constexpr auto counted_places(const I& ids, D d) {
  if constexpr (may_change_extent<From, D>) {
    if (index_t& n = number_in(d); n == dynamic) n = ids.template extent<D>();
    return counted_places<former<D>>(dimesh::rename<D, former<D>>(ids), d);
  } else {
    return apply_rule<added_rule<From, D>, index_t>(
        count_op<value_of<I>>{index_of<From, typename spec_of<I>::dims>, &facts_of_dim<D>,
                              shape<D>(d).template extent<D>()},
        ids, ids);
  }
}

}  // namespace detail

/// y[.., t, ..] = x[.., ids[.., t, ..], ..], 0 where the number is no place of D. Shapes: x[.., D,
/// ..] and whole numbers ids[.., To, ..] with the same other dims -> [.., To, ..]; To may be D,
/// and then have another extent in the numbers.
/// Local; partial along the axes that split D, along which the numbers are replicated. In checked
/// builds numbers other than -1 that are no place of D throw dimesh::error, which names the index.
template <Dim D, Dim To, Operand X, Operand I> constexpr auto gather(const X& x, const I& ids) {
  using rule = detail::picked_rule<D, To>;
  using fault = detail::fault_of<rule, X, I>;
  detail::assert_picked<fault>();
  detail::assert_numbers<I>();
  if constexpr (!ok<fault> || is_poison<X> || is_poison<I> || !detail::holds_places<I>)
    return poison{};
  else if constexpr (detail::may_change_extent<D, To>)
    return dimesh::gather<detail::former<D>, To>(dimesh::rename<D, detail::former<D>>(x), ids);
  else
    return detail::apply_rule<rule, value_of<X>>(
        detail::gather_op<value_of<X>, value_of<I>>{detail::index_of<D, typename spec_of<X>::dims>},
        x, detail::permuted<detail::dims_beside<X, D, To>>(ids));
}

/// y[.., ids[.., f, ..], ..] += rows[.., f, ..], from zeros, in the order of f: the same bits on
/// every run. Shapes: rows[.., From, ..] and whole numbers with the same dims -> [.., D, ..]; D
/// carries its extent where that is given at run time. Local; partial along the axes that split
/// From. Numbers outside D as in gather.
template <Dim From, Dim D, Operand X, Operand I>
constexpr auto scatter_add(const X& rows, const I& ids, D d = {}) {
  using rule = detail::added_rule<From, D>;
  using fault = detail::fault_of<rule, X, I>;
  detail::assert_picked<fault>();
  detail::assert_numbers<I>();
  if constexpr (!ok<fault> || is_poison<X> || is_poison<I> || !detail::holds_places<I>)
    return poison{};
  else
    return detail::scattered<From>("scatter_add", rows, ids, d);
}

/// How often each place of D stands among the numbers along From. Shapes: whole numbers [.., From,
/// ..] -> index_t [.., D, ..]. Local; partial along the axes that split From. Numbers outside D as
/// in gather.
template <Dim From, Dim D, Operand I> constexpr auto bincount(const I& ids, D d = {}) {
  detail::assert_numbers<I>();
  if constexpr (is_poison<I> || !detail::holds_places<I>) {
    return poison{};
  } else {
    using fault = detail::fault_of<detail::added_rule<From, D>, I, I>;
    detail::assert_picked<fault>();
    if constexpr (!ok<fault>)
      return poison{};
    else
      return detail::counted_places<From>(ids, d);
  }
}

}  // namespace dimesh
