// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do numbers become vectors? Each number takes a row of a table: an embedding. Local: where the
// table is split along the dim that numbers index, each rank looks up what it holds, and the rows
// it lacks are zeros of a sum yet to be made. The gradient of the table adds rows up again.
//
//   take<vocab>(table[vocab, model], ids[batch/rows])       -> [batch/rows, model]
//   take<vocab>(table[vocab/cols, model], ids[batch/rows])  -> the same, partial over cols
#pragma once

#include "dimesh/local/take.hpp"
#include "dimesh/op/einsum_op.hpp"
#include "dimesh/op/one_hot.hpp"
#include "dimesh/op/permute.hpp"
#include "dimesh/op/reduce.hpp"

namespace dimesh {

namespace detail {

template <class S, class D>
using dims_without = typename remaining<typename S::dims, list<D>>::type;

/// The product's rule fits: ids and table never share a dim, and what splits D leaves addends.
template <class D, class Table, class Ids> struct take_rule {
  using dims = united<typename Table::dims, typename Ids::dims>;
  using out = typename concat_impl<typename Ids::dims, dims_without<Table, D>>::type;
  using joining = join<join_kind::product, dims, Table, Ids>;
  /// The first dim of the table that the ids have, too.
  static constexpr int shared = [] {
    for (int d = 0; d < Table::rank; ++d)
      if (places<typename Table::dims, typename Ids::dims>::at[d] >= 0) return d;
    return -1;
  }();
  static constexpr auto find() {
    using meshes = typename mesh_fault<Table, Ids>::type;
    if constexpr (!ok<meshes>)
      return tag<meshes>{};
    else if constexpr (index_of<D, typename Table::dims> < 0)
      return tag<dim_not_in_tensor<D>>{};
    else if constexpr (shared >= 0)
      return tag<dim_already_in_tensor<type_at<shared, typename Table::dims>>>{};
    else if constexpr (partial_axis<Ids, false>() >= 0)
      return tag<partial_operand<type_at<partial_axis<Ids, false>(), typename Ids::mesh::axes>>>{};
    else
      return tag<fault_of_join<joining, typename Table::mesh, dims>>{};
  }
  using fault = typename decltype(find())::type;
  using result = spec_of_table<typename Table::value_type, typename Table::mesh, out,
                               einsum_table<joining, dims, out>>;
};

/// tablebar[D, ...] from ybar[ids..., ...] and ids.
template <class D, class Table> struct take_transpose_op {
  D dim;
  template <class, class> using result = cotangent_spec<Table>;
  constexpr auto new_dims() const { return shape<D>(dim); }
  template <class Y, class B, class I>
  constexpr void cost(tally& t, const Y& y, const B& ybar, const I& ids) const {
    t.compute(ybar.local_size(), y.local_bytes() + 3 * ybar.local_bytes() + ids.local_bytes());
  }
  template <class Y, class B, class I> void fill(Y& y, const B& ybar, const I& ids) const {
    const index_t held = y.local(0), width = held == 0 ? 0 : y.local_size() / held;
    const rounded_sums<value_of<Y>> sums(y.data(), y.local_size());
    local::add_rows(ids.local_size(), width, ids.data(), y.block(0).offset, held, ybar.data(),
                    sums.data());
    sums.finish();
  }
};

/// table[D, ...], ids[...].
template <class D> struct take_op {
  template <class S, class I> using result = typename take_rule<D, S, I>::result;
  template <class Y, class S, class I>
  constexpr void cost(tally& t, const Y& y, const S&, const I& ids) const {
    t.compute(0, 2 * y.local_bytes() + ids.local_bytes());
  }
  static constexpr bool needs(int k, unsigned) { return k == 1; }
  template <class Y, class S, class I> void fill(Y& y, const S& table, const I& ids) const {
    static_assert(is_on_host<Y>, "take: the kernel runs on the host only; use a host space");
    const index_t count = ids.local_size(), width = count == 0 ? 0 : y.local_size() / count;
    local::take_rows(count, width, ids.data(), table.block(0).offset, table.local(0), table.data(),
                     y.data());
  }
  template <bool, bool, class B, class Y, class S, class I>
  constexpr auto transpose(const slots<2>& to, const B& ybar, const Y&, const S& table,
                           const I& ids) const {
    D dim{};
    if constexpr (!is_static_dim<D>) dim.n = table.template extent<D>();
    return bundle(
        apply_into(take_transpose_op<D, spec_of<S>>{dim}, slots<1>{{to.at[0]}}, ybar, ids), none{});
  }
};

template <class D, class X, class I> struct take_fault {
  using type = typename take_rule<D, spec_of<X>, spec_of<I>>::fault;
};
template <class D, class X, class I>
  requires(is_poison<X> || is_poison<I>)
struct take_fault<D, X, I> {
  using type = no_fault;
};

}  // namespace detail

/// The rows of `table` along D that `ids` name; zeros where a number is no place of D. Shapes:
/// [.., D, ..] and whole numbers [I...] -> [I..., the other dims of the table]. Local; where D is
/// split, the result is partial along its axes.
template <Dim D, Operand X, Operand I> constexpr auto take(const X& table, const I& ids) {
  using fault = typename detail::take_fault<D, X, I>::type;
  static_assert(ok<only<fault, meshes_differ>>,
                "take: table and places live on different meshes; put them on one");
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "take: the table lacks the dim whose places are taken; name one of its dims");
  static_assert(ok<only<fault, dim_already_in_tensor>>,
                "take: table and places share a dim; rename it in one of them");
  static_assert(ok<only<fault, partial_operand>>,
                "take: the places are a sum yet to be made; complete them first");
  static_assert(ok<only<fault, dims_share_mesh_axis>>,
                "take: one mesh axis splits a dim of the table and one of the places; gather one "
                "of them with whole<dim>");
  static_assert(ok<only<fault, partial_meets_split>>,
                "take: the table is a sum yet to be made along an axis that splits the places; "
                "complete it first");
  static_assert(detail::holds_places<I>,
                "take: places are whole numbers; cast the tensor to an integer type first");
  if constexpr (!ok<fault> || is_poison<X> || is_poison<I>)
    return poison{};
  else if constexpr (!detail::holds_places<I>)
    return poison{};
  else
    return apply(detail::take_op<D>{},
                 detail::permuted<typename detail::concat_impl<
                     detail::list<D>, detail::dims_without<spec_of<X>, D>>::type>(table),
                 ids);
}

}  // namespace dimesh
