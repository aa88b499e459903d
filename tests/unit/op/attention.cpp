// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/op/attention.hpp"

#include <doctest/doctest.h>

#include "dimesh/core/tracked.hpp"
#include "dimesh/op/parts/attention_plan.hpp"

namespace dm = dimesh;

namespace {

struct batch : dm::dim<8> {};
struct heads : dm::dim<4> {};
struct group : dm::dim<2> {};
struct length : dm::dim<16> {};
struct key : dm::dim<16> {};
struct head : dm::dim<6> {};
struct rows : dm::axis<2> {};
struct cols : dm::axis<2> {};
struct pod : dm::mesh<rows, cols> {};
template <class... R> using L = dm::layout<pod, R...>;
template <class La, class... D> using X = dm::tensor<float, dm::shaped<La>, D...>;
using dm::split, std::is_same_v;

template <class Q, class K, class V = K>
using result = decltype(dm::attention<length, key, head>(Q{}, K{}, V{}));
template <class Q, class K, class V = K>
using fault = dm::detail::fault_of<dm::detail::attention_rule<length, key, head>, Q, K, V>;

// The result has the queries' dims and layout, joined with what keys and values split.
using by_heads = L<split<batch, rows>, split<heads, cols>>;
using q = X<by_heads, batch, length, heads, head>;
using k = X<by_heads, batch, key, heads, head>;
static_assert(is_same_v<result<q, k>, q>);
static_assert(is_same_v<result<X<L<split<length, cols>>, batch, length, head>, X<L<>, key, head>>,
                        X<L<split<length, cols>>, batch, length, head>>);
static_assert(is_same_v<result<X<L<split<group, rows>>, group, head, length>, X<L<>, head, key>>,
                        X<L<split<group, rows>>, group, head, length>>);
static_assert(is_same_v<result<q, dm::poison, k>, dm::poison>);

// What must not be, by name.
using plain_q = X<L<>, batch, length, head>;
using plain_k = X<L<>, batch, key, head>;
static_assert(is_same_v<fault<plain_q, plain_k>, dm::no_fault>);
static_assert(is_same_v<fault<plain_q, X<L<split<key, rows>>, batch, key, head>, plain_k>,
                        dm::dim_is_split<key, rows>>);
static_assert(is_same_v<fault<X<L<split<head, cols>>, length, head>, X<L<>, key, head>>,
                        dm::dim_is_split<head, cols>>);
static_assert(
    is_same_v<fault<plain_q, X<L<>, batch, length, head>>, dm::dim_already_in_tensor<length>>);
static_assert(is_same_v<fault<X<L<>, key, head>, plain_k>, dm::dim_already_in_tensor<key>>);
static_assert(is_same_v<fault<plain_q, X<L<>, heads, key, head>>, dm::dim_not_in_tensor<heads>>);
static_assert(is_same_v<fault<plain_q, plain_k, X<L<>, batch, key>>, dm::dim_not_in_tensor<head>>);
static_assert(is_same_v<fault<plain_q, X<L<dm::partial<rows>>, batch, key, head>, plain_k>,
                        dm::partial_operand<rows>>);
static_assert(is_same_v<fault<X<L<split<batch, rows>>, batch, length, head>, plain_k>,
                        dm::dim_split_in_one_operand_only<batch, rows>>);
static_assert(is_same_v<fault<plain_q, plain_k, dm::tensor<double, dm::shaped<L<>>, key, head>>,
                        dm::elements_differ<float, float, double>>);
template <class T> using of = dm::tensor<T, dm::shaped<L<>>, length, head>;
template <class T> using of_keys = dm::tensor<T, dm::shaped<L<>>, key, head>;
static_assert(is_same_v<fault<of<int>, of_keys<int>>, dm::element_not_differentiable<int>>);

// Whole numbers that hide keys are split as the dims are that they share with q, k and v.
template <class... I>
using hidden_fault =
    typename dm::detail::attention_fault<length, key, head, dm::detail::list<q, k, k, I...>>::type;
template <class La, class... D> using N = dm::tensor<int, dm::shaped<La>, D...>;
static_assert(is_same_v<hidden_fault<N<by_heads, batch>>, dm::no_fault>);
static_assert(is_same_v<hidden_fault<N<by_heads, heads>>, dm::no_fault>);
static_assert(is_same_v<hidden_fault<N<by_heads, key, batch, heads>>, dm::no_fault>);
static_assert(is_same_v<hidden_fault<N<L<>, length>, N<L<>, key>>, dm::no_fault>);
static_assert(
    is_same_v<hidden_fault<N<L<>>, N<L<>, length>, N<by_heads, key, batch>>, dm::no_fault>);
static_assert(
    is_same_v<hidden_fault<N<L<>, batch>>, dm::dim_split_in_one_operand_only<batch, rows>>);
static_assert(is_same_v<hidden_fault<N<L<split<key, cols>>, key>>, dm::dim_is_split<key, cols>>);
static_assert(is_same_v<hidden_fault<N<L<dm::partial<rows>>, key>>, dm::partial_operand<rows>>);
static_assert(is_same_v<hidden_fault<N<L<>, length>>, dm::dim_already_in_tensor<length>>);
static_assert(is_same_v<hidden_fault<N<L<>, heads, head>>, dm::dim_already_in_tensor<head>>);
static_assert(is_same_v<hidden_fault<N<L<>, group>>, dm::dim_not_in_tensor<group>>);
static_assert(is_same_v<hidden_fault<N<L<>, key>, N<L<>, length>>, dm::dim_already_in_tensor<key>>);
static_assert(is_same_v<hidden_fault<N<L<>>, N<L<>, key>>, dm::dim_not_in_tensor<length>>);
static_assert(is_same_v<hidden_fault<N<L<>>, N<L<>, length>, N<L<>>>, dm::dim_not_in_tensor<key>>);
static_assert(
    is_same_v<decltype(dm::attention<length, key, head>(q{}, k{}, k{}, {}, N<by_heads, batch>{})),
              q>);

// The cost is that of the products that the mask leaves, 2 operations a multiplication; nothing is
// sent. On the tape: the operands, the result, and one number a query.
constexpr dm::detail::tally cost(const dm::attention_options& o) {
  dm::detail::tally counted, t;
  {
    dm::detail::tape tape;
    const auto x = q{}.counted_by(&t);
    const auto y = k{}.counted_by(&t);
    const dm::tracked_tensor<q> tracked = dm::detail::recorded_on(tape, x);
    { [[maybe_unused]] const auto z = dm::attention<length, key, head>(tracked, y, y, o); }
    counted = t;
  }
  return counted;
}
constexpr dm::index_t turns = 4 * 2;
static_assert(cost({}).flops == 4 * 6 * turns * 16 * 16);
static_assert(cost({.causal = true}).flops == 4 * 6 * turns * 16 * 17 / 2);
static_assert(cost({.causal = true, .window = 2}).flops == 4 * 6 * turns * 31);
static_assert(cost({}).over[3].calls == 0 && cost({}).over[1].calls == 0);
static_assert(cost({}).live == 4 * turns * 16 * (6 /* q */ + 6 /* k */ + 6 /* y */ + 1));

}  // namespace

TEST_CASE("attention: blocks become loops and strides") {
  using dm::detail::core_of, dm::detail::facts_of_dim;
  const X<by_heads, batch, length, heads> log_sum;
  const q queries;
  const k keys;
  const dm::detail::attention_dims dims{&facts_of_dim<length>, &facts_of_dim<key>};
  const auto x = dm::detail::attention_plan({.offset = 3}, dims, core_of(queries), core_of(keys),
                                            core_of(keys), core_of(log_sum));
  CHECK(x.queries == 16);
  CHECK(x.keys == 16);
  CHECK(x.position == 3);
  CHECK(x.q_row == 2 * 6);
  CHECK(x.log_row == 2);
  CHECK(x.outer == 2);
  CHECK(x.loops[0].extent == 4);
  CHECK(x.loops[1].extent == 2);
  CHECK(x.loops[1].q == 6);
  CHECK(x.loops[0].draw == 16 * 4);
  CHECK(x.draw_row == 4);
}
