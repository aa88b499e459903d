// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/op/place.hpp"

#include "dimesh/op/arithmetic.hpp"
#include "dimesh/op/broadcast.hpp"
#include "dimesh/op/relayout.hpp"
#include "dimesh/op/send.hpp"
#include "support/ops.hpp"

namespace {
using namespace test_support::ops;
using dm::use;

template <dm::index_t K> using at = dm::placed<cols, K>;
using V = X<float, L<dm::split<batch, rows>>, batch, hidden>;
template <dm::index_t K> using P = X<float, L<dm::split<batch, rows>, at<K>>, batch, hidden>;
using A = X<float, L<dm::split<batch, rows>, dm::partial<cols>>, batch, hidden>;
constexpr dm::index_t block = 4 * 12 * 4;

// ---- types ----
static_assert(is_same_v<dm::canonical<L<at<1>, dm::split<batch, rows>>, batch>,
                        L<dm::split<batch, rows>, at<1>>>);
static_assert(is_same_v<dm::canonical<L<at<3>>>, L<at<3>>>);  // also of what has no dims
static_assert(is_same_v<dm::cotangent<L<dm::split<batch, rows>, at<2>>, batch>,
                        L<dm::split<batch, rows>, at<2>, dm::partial<lone>>>);
static_assert(is_same_v<dm::layout_fault<L<at<4>>, batch>, dm::place_not_on_axis<cols>>);
static_assert(is_same_v<dm::layout_fault<L<at<-1>>, batch>, dm::place_not_on_axis<cols>>);
static_assert(is_same_v<dm::layout_fault<L<at<1>, dm::split<batch, cols>>, batch>,
                        dm::axis_used_twice<cols>>);
static_assert(is_same_v<dm::layout_fault<L<at<1>, at<2>>, batch>, dm::axis_used_twice<cols>>);
static_assert(
    is_same_v<dm::layout_fault<L<dm::placed<alien, 0>>, batch>, dm::axis_not_in_mesh<alien, pod>>);
static_assert(is_same_v<dm::layout_fault<L<dm::placed<batch, 0>>, batch>, dm::not_an_axis<batch>>);
static_assert(is_same_v<dm::canonical<L<at<1>, dm::spread<cols>>, batch>, L<at<1>>>);
static_assert(is_same_v<dm::canonical<L<at<1>, dm::split_if_free<batch, cols>>, batch>, L<at<1>>>);
static_assert(
    is_same_v<dm::layout_with<L<dm::split<batch, rows>>, at<1>>, L<dm::split<batch, rows>, at<1>>>);
static_assert(is_same_v<dm::layout_with<dm::tracked<dm::gradient<L<>>>, at<1>, dm::spread<rows>>,
                        dm::tracked<dm::gradient<L<at<1>, dm::spread<rows>>>>>);
static_assert(dm::use_of<dm::spec_of<P<1>>, cols> == use::placed);
static_assert(dm::spec_of<P<2>>::table.axis[1].at == 2);

// Codes of tables come back as they were.
constexpr dm::detail::table coded = dm::spec_of<P<3>>::table;
static_assert(dm::detail::decoded(dm::detail::encoded(coded), 3) == coded);
static_assert(!(coded == dm::spec_of<P<2>>::table) && coded.placed_alike(coded) &&
              !coded.placed_alike(dm::spec_of<P<2>>::table));
constexpr dm::index_t here[] = {1, 3, 0}, there[] = {1, 0, 0}, anywhere[] = {-1, -1, -1};
static_assert(coded.away_from(here) == 0 && coded.away_from(there) == 2u &&
              coded.away_from(anywhere) == 0);
static_assert(dm::detail::dual_of(coded).axis[1].what == use::placed);
static_assert(dm::detail::without_axes(coded, 2u) == dm::spec_of<V>::table);

// ---- what moves, and what it costs ----
constexpr auto place = [](const auto& v) { return dm::place<cols, 1>(v); };
constexpr auto send = [](const auto& v) { return dm::send<cols, 2>(v); };
constexpr auto spread = [](const auto& v) { return dm::broadcast<cols>(v); };
constexpr auto sum = [](const auto& v) { return dm::reduce<cols, 1>(v); };
static_assert(is_same_v<decltype(place(V{})), P<1>> && calls(place, V{}) == 0);
static_assert(is_same_v<decltype(send(P<1>{})), P<2>> && bytes(send, P<1>{}) == block &&
              calls(send, P<1>{}) == 1);
static_assert(is_same_v<decltype(send(P<2>{})), P<2>> && calls(send, P<2>{}) == 0);
static_assert(is_same_v<decltype(spread(P<1>{})), V> && bytes(spread, P<1>{}) == block);
static_assert(is_same_v<decltype(sum(A{})), P<1>> && bytes(sum, A{}) == block);
static_assert(is_same_v<decltype(place(dm::poison{})), dm::poison>);
static_assert(is_same_v<decltype(P<1>{} * P<1>{} + 1.0f), P<1>>);

/// The same for a rank at one place.
template <class F, class W>
constexpr dm::ledger<pod> seen_from(dm::index_t col, const F& f, const W& v) {
  dm::ledger<pod> l;
  l.counts.seat[1] = col;
  (void)f(v.counted_by(&l.counts));
  return l;
}
constexpr auto twice = [](const auto& v) { return v + v; };
static_assert(seen_from(1, twice, P<1>{}).flops() == 48 &&
              seen_from(0, twice, P<1>{}).flops() == 0);
static_assert(seen_from(0, twice, P<1>{}).peak() == 0 && seen_from(1, twice, P<1>{}).peak() > 0);
static_assert(seen_from(1, send, P<1>{}).bytes<>() == block &&
              seen_from(2, send, P<1>{}).bytes<>() == 0);
static_assert(seen_from(1, spread, P<1>{}).bytes<>() == block &&
              seen_from(2, spread, P<1>{}).bytes<>() == 0 &&
              seen_from(2, spread, P<1>{}).calls<>() == 1);

// ---- routes ----
template <class From, class... To>
using steps_to = typename dm::relayout_plan<From, L<To...>>::steps;
static_assert(is_same_v<steps_to<P<1>, at<1>>, dm::steps<dm::all_gather_step<rows>>>);
static_assert(is_same_v<steps_to<P<1>, dm::split<batch, rows>, at<0>>,
                        dm::steps<dm::send_step<at<1>, at<0>>>>);
static_assert(
    is_same_v<steps_to<P<1>, dm::split<batch, rows, cols>>,
              dm::steps<dm::broadcast_step<at<1>>, dm::slice_step<dm::split<batch, cols>>>>);
static_assert(
    is_same_v<steps_to<A, dm::split<batch, rows>, at<3>>, dm::steps<dm::reduce_step<at<3>>>>);
static_assert(
    is_same_v<steps_to<V, dm::split<batch, rows>, at<3>>, dm::steps<dm::place_step<at<3>>>>);

// ---- faults ----
template <class... W> using sum_fault = dm::detail::map_fault<dm::detail::join_kind::sum, W...>;
static_assert(is_same_v<sum_fault<P<1>, P<2>>, dm::placed_elsewhere<cols, 1, 2>>);
static_assert(is_same_v<sum_fault<P<1>, V>, dm::placed_in_one_operand_only<cols, 1>>);
static_assert(is_same_v<sum_fault<A, P<1>>, dm::placed_in_one_operand_only<cols, 1>>);
static_assert(is_same_v<sum_fault<P<1>, X<float, L<at<1>>, hidden>>, dm::no_fault>);
template <use From, class W, dm::index_t J = -1, dm::index_t K = 1>
using move_fault = dm::detail::fault_of<dm::detail::to_place_rule<cols, From, J, K>, W>;
static_assert(is_same_v<move_fault<use::replicated, A>, dm::axis_not_replicated<cols>>);
static_assert(is_same_v<move_fault<use::partial, V>, dm::axis_not_partial<cols>>);
static_assert(is_same_v<move_fault<use::placed, V>, dm::axis_not_placed<cols>>);
static_assert(is_same_v<move_fault<use::placed, P<2>, 1>, dm::axis_not_placed<cols>>);
static_assert(is_same_v<move_fault<use::placed, P<2>, 2>, dm::no_fault>);
static_assert(is_same_v<move_fault<use::placed, P<2>, 2, 4>, dm::place_not_on_axis<cols>>);
using truths = X<bool, L<dm::partial<cols>>, hidden>;
static_assert(is_same_v<move_fault<use::partial, truths>, dm::element_not_summable<bool>>);

}  // namespace
