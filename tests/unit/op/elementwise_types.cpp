// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rows of the rule table that concern elementwise operations, as types.
#include "dimesh/op/map.hpp"

#include <doctest/doctest.h>

#include "dimesh/op/functions.hpp"
#include "dimesh/op/outer.hpp"
#include "dimesh/op/parts/apply.hpp"

namespace dm = dimesh;

namespace {

struct batch : dm::dim<8> {};
struct hidden : dm::dim<6> {};
struct rows : dm::axis<2> {};
struct cols : dm::axis<2> {};
struct pod : dm::mesh<rows, cols> {};
template <class... R> using L = dm::layout<pod, R...>;
template <class La, class... D> using X = dm::tensor<float, dm::shaped<La>, D...>;
using std::is_same_v;

using replicated = X<L<>, batch, hidden>;
using by_batch = X<L<dm::split<batch, rows>>, batch, hidden>;
using both = X<L<dm::split<batch, rows>, dm::split<hidden, cols>>, batch, hidden>;
using bias = X<L<dm::split<hidden, cols>>, hidden>;
using addends = X<L<dm::partial<rows>>, batch, hidden>;
using scalar_bias = X<L<>, hidden>;

constexpr auto twice = [](auto a) { return a * 2; };
constexpr auto sum_of = [](auto a, auto b) { return a + b; };

// Split stays split; an operand that lacks the dim is broadcast into it.
static_assert(is_same_v<decltype(dm::map(twice, by_batch{})), by_batch>);
static_assert(is_same_v<decltype(dm::map(sum_of, both{}, bias{})), both>);
static_assert(is_same_v<decltype(both{} + bias{}), both>);
static_assert(is_same_v<decltype(bias{} + both{}), both>,
              "the operand with all dims sets their order");
static_assert(is_same_v<decltype(by_batch{} * scalar_bias{}), by_batch>);
static_assert(is_same_v<decltype(replicated{} + replicated{}), replicated>);
// Different dims on different axes join.
static_assert(is_same_v<decltype(dm::outer(X<L<dm::split<batch, rows>>, batch>{}, bias{})), both>);

// Addends: linear operations keep them.
static_assert(is_same_v<decltype(addends{} + addends{}), addends>);
static_assert(is_same_v<decltype(addends{} - addends{}), addends>);
static_assert(is_same_v<decltype(-addends{}), addends>);
static_assert(is_same_v<decltype(2 * addends{}), addends>);
static_assert(is_same_v<decltype(addends{} / 3), addends>);
static_assert(is_same_v<decltype(addends{} * scalar_bias{}), addends>);
static_assert(is_same_v<decltype(scalar_bias{} * addends{}), addends>);
static_assert(is_same_v<decltype(addends{} / scalar_bias{}), addends>);
// An axis that splits one operand and leaves addends in another on a different axis: both are kept.
static_assert(is_same_v<decltype(dm::outer(X<L<dm::partial<rows>>, batch>{}, bias{})),
                        X<L<dm::partial<rows>, dm::split<hidden, cols>>, batch, hidden>>);

// What is not legal, as faults.
template <dm::detail::join_kind K, class... A>
using fault = typename dm::detail::map_rule<K, dm::spec_of<A>...>::fault;
using enum dm::detail::join_kind;
static_assert(is_same_v<fault<nonlinear, addends>, dm::partial_operand<rows>>);
static_assert(is_same_v<fault<sum, addends, replicated>, dm::partial_meets_replicated<rows>>);
static_assert(is_same_v<fault<product, addends, addends>, dm::both_operands_partial<rows>>);
static_assert(is_same_v<fault<product, addends, by_batch>, dm::partial_meets_split<rows, batch>>);
static_assert(is_same_v<fault<quotient, replicated, addends>, dm::partial_operand<rows>>);
static_assert(
    is_same_v<fault<sum, by_batch, replicated>, dm::dim_split_in_one_operand_only<batch, rows>>);
static_assert(is_same_v<fault<sum, by_batch, X<L<dm::split<hidden, rows>>, batch, hidden>>,
                        dm::dims_share_mesh_axis<batch, hidden, rows>>);
static_assert(is_same_v<fault<sum, X<L<dm::split<batch, rows, cols>>, batch>,
                              X<L<dm::split<batch, cols, rows>>, batch>>,
                        dm::dim_split_differently<batch>>);
static_assert(
    is_same_v<fault<nonlinear, X<L<dm::partial_max<rows>>, batch>>, dm::partial_operand<rows>>);

// Element types.
static_assert(is_same_v<dm::value_of<decltype(by_batch{} > 0)>, bool>);
static_assert(is_same_v<dm::value_of<decltype(by_batch{} * 0.5)>, float>,
              "a number takes the tensor's type");
static_assert(
    is_same_v<dm::value_of<decltype(dm::tensor<int, dm::shaped<L<>>, batch>{} * 0.5)>, double>);
static_assert(
    is_same_v<decltype(dm::select(by_batch{} > by_batch{}, by_batch{}, by_batch{})), by_batch>);

}  // namespace

TEST_CASE("elementwise: costs count elements and bytes of one rank") {
  constexpr auto counted = [] {
    dm::detail::tally t;
    const auto x = both{}.counted_by(&t);
    const auto b = bias{}.counted_by(&t);
    { const auto y = dm::map(sum_of, x, b); }
    return t;
  }();
  static_assert(counted.flops == 4 * 3);
  static_assert(counted.moved == 4 * (12 + 12 + 3));
  static_assert(counted.peak == 4 * (12 + 12 + 3));
  static_assert(counted.live == 4 * (12 + 3));
  CHECK(counted.flops == 12);
  constexpr auto given_up = [] {
    dm::detail::tally t;
    { const auto y = dm::map(sum_of, both{}.counted_by(&t), bias{}.counted_by(&t)); }
    return t;
  }();
  static_assert(given_up.moved == counted.moved);
  static_assert(given_up.peak == 4 * (12 + 3));
  static_assert(given_up.live == 0);
}

TEST_CASE("apply: operands that disagree on a run-time extent are refused") {
  struct length : dm::dim<> {};
  using Y = dm::tensor<float, dm::shaped<L<>>, length>;
  const Y a(dm::mesh_sizes<pod>{}, length{3}), b(dm::mesh_sizes<pod>{}, length{4});
  CHECK_THROWS_WITH_AS(a + b, doctest::Contains("length"), dm::error);
  CHECK_NOTHROW(a + a);
}
