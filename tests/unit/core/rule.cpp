// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: -O0
// Rules are functions: the same ones answer while compiling and when the program runs.
#include "dimesh/core/rule.hpp"

#include <doctest/doctest.h>

#include "dimesh/core/rule_types.hpp"
#include "dimesh/core/runtime_facts.hpp"
#include "dimesh/op/attention.hpp"
#include "dimesh/op/cross_entropy.hpp"
#include "dimesh/op/halo_exchange.hpp"
#include "dimesh/op/relayout.hpp"
#include "dimesh/op/take.hpp"

namespace dm = dimesh;
using dm::fault_code;
using dm::detail::outcome;
using dm::detail::tensor_facts;

namespace {

struct batch : dm::dim<8> {};
struct hidden : dm::dim<12> {};
struct label : dm::dim<10> {};
struct rows : dm::axis<2> {};
struct cols : dm::axis<2> {};
struct depth : dm::axis<2> {};
struct pod : dm::mesh<rows, cols> {};
using dm::split;
template <class... Rule> using L = dm::layout<pod, Rule...>;
template <class T, class C, class... D> using spec = dm::detail::make_spec<T, C, D...>;

/// What Rule says of specs S... now.
template <class Rule, class... S> outcome asked() {
  using dims = typename Rule::template dims<typename S::dims...>::type;
  const tensor_facts* x[] = {&dm::detail::spec_facts<S>...};
  return Rule::of({x, sizeof...(S)}, dm::detail::dims_in<dims>);
}
/// And the same while compiling; -1 where they differ.
template <class Rule, class... S> int said() {
  constexpr outcome then = dm::detail::ruling<Rule, S...>::value;
  const outcome now = asked<Rule, S...>();
  const bool same = then.found == now.found && then.layout == now.layout && then.axis == now.axis &&
                    then.dim == now.dim && then.other == now.other && then.place == now.place;
  return same ? static_cast<int>(now.found) : -1;
}
constexpr int code(fault_code f) { return static_cast<int>(f); }

using by_batch = spec<float, L<split<batch, rows>>, batch, hidden>;
using by_both = spec<float, L<split<batch, rows>, split<hidden, cols>>, batch, hidden>;
using whole = spec<float, L<>, batch, hidden>;
using addends = spec<float, L<dm::partial<rows>>, batch, hidden>;
using flags = spec<bool, L<dm::partial<rows>>, batch>;
using ids = spec<int, L<split<batch, rows>>, batch>;
template <dm::index_t Before, dm::index_t After>
using halos_of = dm::detail::halo_exchange_rule<dm::halo<batch, Before, After>>;
using one_sided =
    spec<float, L<split<dm::halo<batch, 0, 127>, rows>, split<dm::halo<hidden, 90, 0>>>, batch,
         hidden>;
using haloed = spec<float, L<split<dm::halo<batch, 1>, rows>>, batch, hidden>;

template <dm::detail::join_kind K> using join = dm::detail::elementwise_rule<K>;
using enum dm::detail::join_kind;

}  // namespace

TEST_CASE("rules: the same answer while compiling and at run time") {
  CHECK(said<join<sum>, by_batch, by_batch>() == 0);
  CHECK(said<join<sum>, by_batch, whole>() == code(fault_code::dim_split_in_one_operand_only));
  CHECK(said<join<sum>, addends, whole>() == code(fault_code::partial_meets_replicated));
  CHECK(said<join<product>, addends, addends>() == code(fault_code::both_operands_partial));
  CHECK(said<join<nonlinear>, addends>() == code(fault_code::partial_operand));
  using dm::detail::list;
  CHECK(said<dm::detail::einsum_rule<list<batch>>, by_both, by_both>() == 0);
  CHECK(said<dm::detail::einsum_rule<list<label>>, by_both, by_both>() ==
        code(fault_code::output_dim_not_in_any_input));
  CHECK(said<dm::detail::einsum_rule<list<batch>>, by_both, ids>() ==
        code(fault_code::elements_differ));
  CHECK(said<dm::detail::reduce_rule<dm::use::partial, true, hidden>, by_both>() == 0);
  CHECK(said<dm::detail::reduce_rule<dm::use::partial, true, label>, by_both>() ==
        code(fault_code::dim_not_in_tensor));
  CHECK(said<dm::detail::reduce_rule<dm::use::partial, true, batch>, haloed>() ==
        code(fault_code::dim_has_halo));
  CHECK(said<dm::detail::all_reduce_rule<rows>, addends>() == 0);
  CHECK(said<dm::detail::all_reduce_rule<rows>, by_batch>() == code(fault_code::axis_not_partial));
  CHECK(said<dm::detail::all_reduce_rule<rows>, flags>() == code(fault_code::element_not_summable));
  CHECK(said<dm::detail::all_reduce_rule<depth>, by_batch>() == code(fault_code::axis_not_in_mesh));
  using cut = dm::detail::scatter_rule<hidden, rows, dm::use::replicated>;
  CHECK(said<cut, whole>() == 0);
  CHECK(said<cut, by_batch>() == code(fault_code::axis_not_replicated));
  CHECK(said<dm::detail::goal_rule<L<split<hidden, rows>>, true>, addends>() == 0);
  CHECK(said<dm::detail::goal_rule<L<split<hidden, rows>>, false>, addends>() ==
        code(fault_code::partial_operand));
  CHECK(said<dm::detail::goal_rule<L<>, true>, flags>() == code(fault_code::element_not_summable));
  CHECK(said<dm::detail::goal_rule<L<dm::partial<rows>>, true>, flags>() == 0);
  CHECK(said<dm::detail::scatter_rule<batch, rows, dm::use::partial>, flags>() ==
        code(fault_code::element_not_summable));
  CHECK(said<dm::detail::take_rule<hidden>, by_batch, ids>() ==
        code(fault_code::dim_already_in_tensor));
  CHECK(said<halos_of<2, 2>, by_batch>() == 0);
  CHECK(asked<halos_of<2, 5>, by_batch>().layout.halo[0] == dm::detail::halo_widths(2, 5));
}

TEST_CASE("rules: a table in four numbers and back") {
  using dm::detail::decoded;
  using dm::detail::encoded;
  for (const dm::detail::table& t :
       {by_batch::table, by_both::table, addends::table, haloed::table, one_sided::table,
        spec<float, L<split<dm::uneven<label>, cols, rows>>, batch, label>::table})
    CHECK(decoded(encoded(t), 2) == t);
}

TEST_CASE("facts made at run time are one object for one layout") {
  const tensor_facts& like = dm::detail::spec_facts<whole>;
  const tensor_facts& a = dm::detail::facts_under(like, by_both::table);
  CHECK(&a == &dm::detail::facts_under(like, by_both::table));
  CHECK(&a != &dm::detail::facts_under(like, by_batch::table));
  CHECK(a.layout == by_both::table);
  CHECK(a.dual->layout == by_both::table);
  CHECK(dm::detail::facts_under(like, by_batch::table).dual->layout ==
        dm::detail::dual_of(by_batch::table));
  CHECK(a.dual->dual == &a);
  CHECK(a.dim[1] == like.dim[1]);
}

TEST_CASE("what is wrong in words") {
  outcome o = dm::detail::blamed(fault_code::dim_is_split, &dm::detail::facts_of_dim<batch>, 1);
  CHECK_THROWS_WITH_AS(dm::detail::refuse_layout("argmax", o, "cols"),
                       "argmax: dim_is_split: dim 'batch' is split over axis 'cols'", dm::error);
  o = dm::detail::blamed(fault_code::extents_differ, &dm::detail::facts_of_dim<batch>,
                         &dm::detail::facts_of_dim<hidden>);
  CHECK_THROWS_WITH_AS(dm::detail::refuse_layout("rename", o, ""),
                       "rename: extents_differ: dims 'batch' and 'hidden' have different extents",
                       dm::error);
}
