// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/op/einsum.hpp"

#include <doctest/doctest.h>

#include "dimesh/op/parts/einsum_op.hpp"
#include "dimesh/op/parts/repair.hpp"

namespace dm = dimesh;

namespace {

struct b : dm::dim<8> {};
struct t : dm::dim<4> {};
struct s : dm::dim<4> {};
struct d : dm::dim<16> {};
struct f : dm::dim<12> {};
struct rows : dm::axis<2> {};
struct cols : dm::axis<2> {};
struct pod : dm::mesh<rows, cols> {};
template <class... R> using L = dm::layout<pod, R...>;
template <class La, class... D> using X = dm::tensor<float, dm::shaped<La>, D...>;
using std::is_same_v;

using hybrid = L<dm::split<b, rows>, dm::split<f, cols>>;
static_assert(
    is_same_v<decltype(dm::einsum<b, f>(X<hybrid, b, d>{}, X<hybrid, d, f>{})), X<hybrid, b, f>>);
static_assert(
    is_same_v<decltype(dm::einsum<f, b>(X<hybrid, b, d>{}, X<hybrid, d, f>{})), X<hybrid, f, b>>);

// A summed dim that is split leaves addends; over two axes, along both.
using inner = L<dm::split<d, rows>>;
static_assert(is_same_v<decltype(dm::einsum<b, f>(X<inner, b, d>{}, X<inner, d, f>{})),
                        X<L<dm::partial<rows>>, b, f>>);
using inner2 = L<dm::split<d, cols, rows>>;
static_assert(is_same_v<decltype(dm::einsum<b, f>(X<inner2, b, d>{}, X<inner2, d, f>{})),
                        X<L<dm::partial<rows>, dm::partial<cols>>, b, f>>);
// Addends times replicated are addends.
static_assert(is_same_v<decltype(dm::einsum<b, f>(X<L<dm::partial<rows>>, b, d>{}, X<L<>, d, f>{})),
                        X<L<dm::partial<rows>>, b, f>>);
// A dim of both operands and the result.
static_assert(is_same_v<decltype(dm::einsum<b, t, s>(X<hybrid, b, t, d>{}, X<hybrid, b, s, d>{})),
                        X<L<dm::split<b, rows>>, b, t, s>>);
// One operand: the order of its dims. Three: pairwise.
static_assert(
    is_same_v<decltype(dm::einsum<d, b>(X<hybrid, b, d>{})), X<L<dm::split<b, rows>>, d, b>>);
static_assert(
    is_same_v<decltype(dm::einsum<b, f>(X<hybrid, b, t>{}, X<hybrid, t, d>{}, X<hybrid, d, f>{})),
              X<hybrid, b, f>>);
static_assert(is_same_v<decltype(dm::einsum<>(X<hybrid, b, d>{}, X<hybrid, b, d>{})),
                        X<L<dm::partial<rows>>>>);

template <class Out, class... A>
using fault = dm::detail::spec_fault<dm::detail::einsum_rule<Out>, dm::spec_of<A>...>;
template <class... D> using out = dm::detail::list<D...>;
static_assert(
    is_same_v<fault<out<b, s>, X<L<>, b, d>, X<L<>, d, f>>, dm::output_dim_not_in_any_input<s>>);
static_assert(is_same_v<fault<out<b, b>, X<L<>, b, d>, X<L<>, d, b>>, dm::dim_repeated<b>>);
static_assert(is_same_v<fault<out<b>, X<L<>, b, d>, X<L<>, d, f>>, dm::dim_in_one_input_only<f>>);
static_assert(is_same_v<fault<out<b, f>, X<inner, b, d>, X<L<>, d, f>>,
                        dm::dim_split_in_one_operand_only<d, rows>>);
static_assert(
    is_same_v<fault<out<b, f>, X<L<dm::split<b, rows>>, b, d>, X<L<dm::split<f, rows>>, d, f>>,
              dm::dims_share_mesh_axis<b, f, rows>>);
static_assert(
    is_same_v<fault<out<b, f>, X<L<dm::partial<rows>>, b, d>, X<L<dm::partial<rows>>, d, f>>,
              dm::both_operands_partial<rows>>);
static_assert(
    is_same_v<fault<out<b, f>, X<L<dm::partial<rows>>, b, d>, X<L<dm::split<f, rows>>, d, f>>,
              dm::partial_meets_split<rows, f>>);
static_assert(is_same_v<fault<out<b, f>, X<inner2, b, d>, X<L<dm::split<d, rows, cols>>, d, f>>,
                        dm::dim_split_differently<d>>);
static_assert(is_same_v<fault<out<b, f>, X<L<>, b, d>, dm::tensor<double, dm::shaped<L<>>, d, f>>,
                        dm::elements_differ<float, double>>);

}  // namespace

TEST_CASE("einsum: the cheapest pair first") {
  // [b t] . [t d] . [d f]: first t d f or b t d? 4*16*12 against 8*4*16.
  constexpr auto pair = dm::detail::cheapest_pair<dm::detail::list<b, t>, dm::detail::list<t, d>,
                                                  dm::detail::list<d, f>>();
  static_assert(pair.first == 0 && pair.second == 1);
  CHECK(pair.second == 1);
  // Where two ranks share f out, a rank has less to do for t d f.
  using shared = L<dm::split<f, rows>>;
  constexpr auto here = dm::detail::cheapest_pair<dm::detail::list<b, t>, dm::detail::list<t, d>,
                                                  dm::detail::list<d, f>>(
      dm::detail::facts_list<dm::spec_of<X<shared, b, t>>, dm::spec_of<X<shared, t, d>>,
                             dm::spec_of<X<shared, d, f>>>::at);
  static_assert(here.first == 1 && here.second == 2);
  CHECK(here.second == 2);
}

TEST_CASE("einsum: flops and bytes") {
  constexpr auto counted = [] {
    dm::detail::tally tally;
    const auto y = dm::einsum<b, f>(X<hybrid, b, d>{}.counted_by(&tally),
                                    X<hybrid, d, f>{}.counted_by(&tally));
    (void)y;
    return tally;
  }();
  static_assert(counted.flops == 2 * 4 * 16 * 6);
  static_assert(counted.moved == 4 * (4 * 16 + 16 * 6 + 4 * 6));
  CHECK(counted.flops == 768);
}
