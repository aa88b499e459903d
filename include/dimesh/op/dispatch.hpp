// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do rows get to the ranks that are to work on them, when only the data say which? Every row
// names a group, and groups are split over an axis: experts, bins, owners of particles. Counts are
// exchanged first; then rows travel, as often as one likes, and come back.
//
//   const auto plan = all_to_all_counts<token, expert, ranks>(chosen[token/ranks])
//   all_to_all(plan, x[token/ranks, model])       -> [token/ranks, model], ragged, group by group
//   plan.lengths()                                -> [expert/ranks]: rows of each group
//   all_to_all_back(plan, y[token/ranks, hidden]) -> [token/ranks, hidden], as they were
//
//   // experts without a capacity (grouped_einsum.hpp):
//   all_to_all_back(plan, grouped_einsum<token, expert, token, hidden>(
//                             all_to_all(plan, x), w[expert/ranks, model, hidden], plan.lengths()))
//
// Within a group rows stand by their global numbers: every number of ranks gives the same order.
#pragma once

#include "dimesh/op/cuts.hpp"
#include "dimesh/op/one_hot.hpp"
#include "dimesh/op/parts/dispatch_op.hpp"
#include "dimesh/op/parts/start.hpp"
#include "dimesh/op/to_rank.hpp"

namespace dimesh {

namespace detail {

/// Axis a alone splits dim `rows` of x: its place there, or a fault.
constexpr outcome split_by_one_rule_of(const tensor_facts& x, int a, const dim_facts* rows) {
  if (a < 0) return blamed_place(fault_code::axis_not_in_mesh, 0);
  const int d = x.place_of(rows);
  if (d < 0) return blamed(fault_code::dim_not_in_tensor, rows);
  if (const dim_facts* const h = haloed_dim(x); h != nullptr)
    return blamed(fault_code::dim_has_halo, h);
  if (x.layout.axis[a].what != use::split || x.layout.axis[a].dim != d)
    return blamed_axis(fault_code::axis_splits_nothing, a);
  for (int b = 0; b < x.layout.axes; ++b)
    if (b != a && x.layout.axis[b].what == use::split && x.layout.axis[b].dim == d)
      return blamed(fault_code::axis_not_innermost_of_dim, rows, b);
  return allowed(x.layout);
}
/// The same with blocks of another kind.
constexpr outcome split_anew(const tensor_facts& x, int a, const dim_facts* rows, bool uneven,
                             bool ragged) {
  table t = x.layout;
  const int d = x.place_of(rows);
  t.unsplit(a);
  t.uneven[d] = t.ragged[d] = false;
  return relaid(x, with_split(t, a, d, uneven, ragged));
}

/// Rule of group[Rows]: lengths[Groups], split by A alike; both may be written with uneven.
template <class Rows, class Groups, class A> struct counts_rule {
  using named = list<plain_dim<Rows>, plain_dim<Groups>>;
  using axes = list<A>;
  template <class> struct dims {
    using type = list<plain_dim<Groups>>;
  };
  static constexpr outcome of(rule_operands x, dim_list out) {
    constexpr const dim_facts* rows = &facts_of_dim<plain_dim<Rows>>;
    constexpr bool uneven = bare_dim<Rows>::uneven, ragged = bare_dim<Rows>::ragged;
    const int a = x[0].axis_of(type_number<A>);
    const outcome o = split_by_one_rule_of(x[0], a, rows);
    if (!o.ok()) return o;
    for (int d = 0; d < x[0].rank; ++d)
      if (!same_dim(x[0].dim[d], rows))
        return blamed(fault_code::dim_in_one_input_only, x[0].dim[d]);
    if (uneven && (!x[0].layout.uneven[0] || x[0].layout.ragged[0] != ragged))
      return blamed(fault_code::dim_split_differently, rows);
    if (const int p = x[0].layout.first_partial(); p >= 0)
      return blamed_axis(fault_code::partial_operand, p);
    facts_of_own_dims y = x[0];
    y.set_dim(0, out[0]);
    table t = x[0].layout;
    t.unsplit(a);
    t.uneven[0] = t.ragged[0] = false;
    y.layout = t;
    return relaid(y, with_split(t, a, 0, bare_dim<Groups>::uneven));
  }
};
/// Rule of x[.., Rows, ..], which is split as Was says (Rows, uneven<Rows>, ragged<Rows>).
template <class Was, class A, bool Back> struct dispatch_rule : keeps_dims {
  using named = list<plain_dim<Was>>;
  using axes = list<A>;
  static constexpr outcome of(rule_operands x, dim_list) {
    constexpr const dim_facts* rows = &facts_of_dim<plain_dim<Was>>;
    constexpr bool uneven = bare_dim<Was>::uneven, ragged = bare_dim<Was>::ragged;
    const int a = x[0].axis_of(type_number<A>);
    const outcome o = split_by_one_rule_of(x[0], a, rows);
    if (!o.ok()) return o;
    const int d = x[0].place_of(rows);
    if (x[0].layout.ragged[d] != (Back || ragged) || (!Back && x[0].layout.uneven[d] != uneven))
      return blamed(fault_code::dim_split_differently, rows);
    return Back ? split_anew(x[0], a, rows, uneven, ragged) : split_anew(x[0], a, rows, true, true);
  }
};

/// Groups I of rows. Fills the table, which outlives it.
template <class I> struct counts_op {
  static constexpr bool on_host = true;
  static constexpr std::string_view call = "all_to_all_counts";
  std::shared_ptr<dispatch_table> table;
  index_t extent;  // of the groups
  int axis;

  constexpr index_t extent_of(const dim_facts* d) const {
    return same_dim(d, table->groups) ? extent : dynamic;
  }
  void fill(results y, operands x) const {
    dispatch_table& t = *table;
    if (talking(1u << axis, x[0].sizes()) != 0) t.over = &x[0].grid->along(1u << axis);
    const std::vector<I> numbers = to_vector(x[0].data<const I>(), x[0].elements());
    const std::vector<index_t> group(numbers.begin(), numbers.end());
    std::vector<index_t> lengths(static_cast<std::size_t>(y[0].elements()));
    t.meet(group, x[0].own(0).offset, *blocks_of(y[0]).first(), lengths.data());
    copy_from_host(y[0].data<index_t>(), lengths.data(), y[0].bytes());
  }
  void cost(tally& t, results y, operands x) const {
    const index_t n = x[0].sizes()[axis], own = y[0].local(0), size = sizeof(index_t);
    t.compute(0, x[0].bytes() + y[0].bytes());
    if (n == 1) return;
    if (y[0].extent(0) > 0)
      t.collective(event_kind::all_to_all, 1u << axis, (y[0].extent(0) - own) * size,
                   (n - 1) * own * size);
    for (const index_t word :
         {index_t{sizeof(dispatch_table::claim)}, index_t{sizeof(dispatch_table::finding)}})
      t.collective(event_kind::all_gather, 1u << axis, word,
                   ring_bytes(event_kind::all_gather, n * word, n));
  }

 private:
  /// Where the groups are cut: a table for any kind of blocks.
  cut_list blocks_of(const tensor_core& lengths) const {
    return cut_by_ceil(table->groups, lengths.extent(0), lengths.sizes()[axis]);
  }
};

/// What D is called in a layout that splits it as the type of X does; of probes as it is written.
template <class D, class X> constexpr auto split_kind() {
  if constexpr (is_poison<X> || is_probe<X>)
    return tag<D>{};
  else if constexpr (spec_of<X>::table.ragged[0])
    return tag<ragged<plain_dim<D>>>{};
  else if constexpr (spec_of<X>::table.uneven[0])
    return tag<uneven<plain_dim<D>>>{};
  else
    return tag<D>{};
}

}  // namespace detail

/// Which rows go where: what all_to_all_counts found. Copies share it. Was: the dim of rows as the
/// layout of the groups' numbers splits it.
template <class Was, Axis A, class Lengths>
class [[nodiscard("a plan moves nothing; pass it to all_to_all")]] dispatch {
 public:
  using rows = detail::plain_dim<Was>;
  using split_as = Was;
  using axis = A;

  dispatch(std::shared_ptr<const detail::dispatch_table> t, Lengths lengths)
      : table_(std::move(t)), lengths_(std::move(lengths)) {}
  /// Rows of each group: whole numbers, the groups split as their ranks hold them.
  const Lengths& lengths() const { return lengths_; }
  /// How the rows are cut where their groups lie.
  dimesh::cuts<rows> cuts() const { return dimesh::cuts<rows>(*table_->after.first()); }
  const std::shared_ptr<const detail::dispatch_table>& table() const { return table_; }

 private:
  std::shared_ptr<const detail::dispatch_table> table_;
  Lengths lengths_;
};

/// Counts which rows go to which rank. Shapes: whole numbers where[Rows], the group of each row, or
/// -1: it goes nowhere, which takes a dim whose extent the run gives -> a plan. A alone splits the
/// rows, evenly or not; it will split the groups (which may be written uneven<Groups>). Where the
/// numbers are a runtime tensor, uneven<Rows> or ragged<Rows> makes a plan for rows of such types.
/// Groups carries its extent where the run gives it. One all-to-all of a number for each group, and
/// gathers of five and of two numbers for each rank. Throws dimesh::error on all ranks where a
/// number is no group, or where ranks disagree on how many rows or groups there are. (In checked
/// builds the comparison of calls says it first.)
template <class Rows, class Groups, Axis A, Operand X>
  requires Dim<detail::plain_dim<Rows>>
auto all_to_all_counts(const X& where, detail::plain_dim<Groups> groups = {}) {
  using G = detail::plain_dim<Groups>;
  using rule = detail::counts_rule<Rows, Groups, A>;
  using fault = detail::fault_of<rule, X>;
  static_assert(ok<only<fault, axis_not_in_mesh>>,
                "all_to_all_counts: the mesh lacks this axis; name the one that splits the rows");
  static_assert(ok<only<fault, dim_not_in_tensor, dim_in_one_input_only>>,
                "all_to_all_counts: takes the group of each row: the dim of rows and no other; "
                "merge what else numbers them into it");
  static_assert(ok<only<fault, axis_splits_nothing, axis_not_innermost_of_dim>>,
                "all_to_all_counts: this axis, and no other, splits the rows; relayout the groups' "
                "numbers");
  static_assert(ok<only<fault, dim_split_differently>>,
                "all_to_all_counts: the rows are split otherwise than the angle brackets say; name "
                "their dim alone, or relayout the groups' numbers");
  static_assert(ok<only<fault, partial_operand>>,
                "all_to_all_counts: the groups' numbers are yet to be summed; complete them first");
  static_assert(ok<only<fault, dim_has_halo>>,
                "all_to_all_counts: the blocks of rows carry halos; take them without");
  static_assert(ok<only_not_divisible<fault>>,
                "all_to_all_counts: the number of groups is not a multiple of the axis; change "
                "one, or say all_to_all_counts<rows, uneven<groups>, axis>");
  static_assert(detail::holds_places<X>,
                "all_to_all_counts: numbers of groups are whole; cast the tensor to an integer "
                "type first");
  if constexpr (!ok<fault> || is_poison<X> || !detail::holds_places<X>) {
    return poison{};
  } else {
    const detail::tensor_core& x = detail::core_of(where);
    const int axis = x.facts->axis_of(detail::type_number<A>);
    const auto table = std::make_shared<detail::dispatch_table>(
        &detail::facts_of_dim<detail::plain_dim<Rows>>, &detail::facts_of_dim<G>, x, axis);
    const detail::counts_op<value_of<X>> op{table, shape<G>(groups).template extent<G>(), axis};
    auto lengths = detail::apply_rule<rule, index_t>(op, where);
    using Was = typename decltype(detail::split_kind<Rows, X>())::type;
    return dispatch<Was, A, decltype(lengths)>(table, std::move(lengths));
  }
}

namespace detail {

/// How the rows of a probe were split is known when the program runs.
template <class Was, class A, bool Back, class X>
auto dispatched(const std::shared_ptr<const dispatch_table>& plan, const X& x) {
  const auto by = [&]<class W>(tag<W>) {
    const tensor_core& core = core_of(x);
    return apply_rule<dispatch_rule<W, A, Back>, value_of<X>>(
        dispatch_op<value_of<X>, Back>(plan, core, core.facts->axis_of(type_number<A>)), x);
  };
  if constexpr (is_probe<X>) {
    using rows = plain_dim<Was>;
    return plan->before.first() != nullptr ? by(tag<ragged<rows>>{})
           : plan->is_uneven               ? by(tag<uneven<rows>>{})
                                           : by(tag<rows>{});
  } else {
    return by(tag<Was>{});
  }
}

}  // namespace detail

/// The rows of x where their groups lie: ragged, group by group, in each by their numbers before.
/// As many as have a group. Linear; the gradient goes back the same way. Throws dimesh::error on
/// all ranks where the rows are not those whose groups were counted.
template <class Was, Axis A, class Lengths, Operand X>
auto all_to_all(const dispatch<Was, A, Lengths>& plan, const X& x) {
  using rule = detail::dispatch_rule<Was, A, false>;
  using fault = detail::fault_of<rule, X>;
  static_assert(ok<only<fault, axis_not_in_mesh, dim_not_in_tensor>>,
                "all_to_all: the tensor lacks the dim or the axis of the plan; it takes the rows "
                "whose groups were counted");
  static_assert(
      ok<only<fault, axis_splits_nothing, axis_not_innermost_of_dim, dim_split_differently>>,
      "all_to_all: rows go as they were counted, split by the axis of the plan alone; relayout "
      "the tensor");
  static_assert(ok<only<fault, dim_has_halo>>,
                "all_to_all: blocks with halos stay where they are; move them before "
                "halo_exchange");
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else
    return detail::dispatched<Was, A, false>(plan.table(), x);
}
/// Rows that lie with their groups, as all_to_all(plan, x) put them, back where they came from;
/// zeros where a row went nowhere.
template <class Was, Axis A, class Lengths, Operand X>
auto all_to_all_back(const dispatch<Was, A, Lengths>& plan, const X& x) {
  using rule = detail::dispatch_rule<Was, A, true>;
  using fault = detail::fault_of<rule, X>;
  static_assert(
      ok<only<fault, axis_not_in_mesh, dim_not_in_tensor>>,
      "all_to_all_back: the tensor lacks the dim or the axis of the plan; it takes the rows "
      "whose groups were counted");
  static_assert(
      ok<only<fault, axis_splits_nothing, axis_not_innermost_of_dim, dim_split_differently>>,
      "all_to_all_back: rows come back as they arrived, ragged over the axis of the plan alone; "
      "relayout the tensor");
  static_assert(ok<only<fault, dim_has_halo>>,
                "all_to_all_back: blocks with halos stay where they are; move them before "
                "halo_exchange");
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else
    return detail::dispatched<Was, A, true>(plan.table(), x);
}
/// Begins all_to_all(plan, x).
template <class Was, Axis A, class Lengths, class X>
auto start_all_to_all(const dispatch<Was, A, Lengths>& plan, const X& x) {
  return all_to_all(plan, detail::to_start(x));
}
/// Begins all_to_all_back(plan, x).
template <class Was, Axis A, class Lengths, class X>
auto start_all_to_all_back(const dispatch<Was, A, Lengths>& plan, const X& x) {
  return all_to_all_back(plan, detail::to_start(x));
}

}  // namespace dimesh
