// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/op/relayout.hpp"

#include "support/ops.hpp"

namespace {
using namespace test_support::ops;

using V = X<float, L<dm::split<batch, rows>, dm::split<hidden, cols>>, batch, hidden>;
struct few : dm::dim<1> {};
template <class La, class W = V> using plan = dm::relayout_plan<W, La>;
template <class La, class... S>
constexpr bool takes = is_same_v<typename plan<La>::steps, dm::steps<S...>>;

static_assert(takes<L<dm::split<batch, rows>, dm::split<hidden, cols>>>);
static_assert(takes<L<dm::split<batch, rows>>, dm::all_gather_step<cols>>);
static_assert(takes<L<>, dm::all_gather_step<rows, cols>>);
static_assert(takes<L<dm::split<batch, rows, cols>>, dm::all_to_all_step<hidden, batch, cols>>);
// Axes that do not nest: one exchange.
using turned = L<dm::split<hidden, rows>, dm::split<batch, cols>>;
static_assert(takes<turned, dm::exchange_step<turned>>);
using major = L<dm::split<batch, cols, rows>>;
static_assert(takes<major, dm::exchange_step<major>>);

// Cuts, then sums, then gathers.
using addends = X<float, L<dm::partial<rows>, dm::split<hidden, cols>>, batch, hidden>;
static_assert(is_same_v<plan<L<dm::split<batch, rows>>, addends>::steps,
                        dm::steps<dm::reduce_scatter_step<dm::split<batch, rows>>,
                                  dm::all_gather_step<cols>>>);
static_assert(is_same_v<plan<L<dm::split<batch, lone>>, addends>::steps,
                        dm::steps<dm::slice_step<dm::split<batch, lone>>, dm::all_reduce_step<rows>,
                                  dm::all_gather_step<cols>>>);
using sums = X<float, L<dm::partial<rows>, dm::partial<cols>>, batch, hidden>;
static_assert(is_same_v<plan<L<>, sums>::steps, dm::steps<dm::all_reduce_step<rows, cols>>>);
static_assert(
    is_same_v<plan<L<dm::split<batch, cols, rows>>, sums>::steps,
              dm::steps<dm::reduce_scatter_step<dm::split<batch, rows>, dm::split<batch, cols>>>>);
static_assert(is_same_v<plan<L<dm::split<batch, cols>>, sums>::steps,
                        dm::steps<dm::reduce_scatter_step<dm::split<batch, cols>>,
                                  dm::all_reduce_step<rows>>>);

// What moves after a sum is scattered by it, and addends that several ranks hold are shared out,
// where that moves less. Not on a tape, which would sum the parts of a whole cotangent again; and
// only over axes whose ranks types count, and of dims that have an element for each of them.
using rows_of = X<float, L<dm::partial<cols>, dm::split<batch, rows>>, batch, hidden>;
using columns = L<dm::split<hidden, rows>>;
static_assert(is_same_v<plan<columns, rows_of>::steps,
                        dm::steps<dm::reduce_scatter_step<dm::split<batch, cols>>,
                                  dm::exchange_step<columns>>>);
using copies = X<float, L<dm::partial<cols>>, batch, hidden>;
using shared = dm::steps<dm::slice_step<dm::split<batch, rows>>, dm::all_reduce_step<cols>,
                         dm::all_gather_step<rows>>;
using plain = dm::steps<dm::all_reduce_step<cols>>;
static_assert(is_same_v<plan<L<>, copies>::steps, shared>);
static_assert(is_same_v<plan<L<>, dm::tracked_tensor<copies>>::steps, plain>);
static_assert(plan<L<>, copies>::ring_bytes() == (2 * 3 * 48 / 4 + 48) * 4);
struct some : dm::axis<> {};
struct open : dm::mesh<cols, some> {};
using open_copies = X<float, dm::layout<open, dm::partial<cols>>, batch, hidden>;
static_assert(is_same_v<plan<dm::layout<open>, open_copies>::steps, plain>);
static_assert(is_same_v<plan<L<>, X<float, L<dm::partial<cols>>, few>>::steps, plain>);

// Bytes: what the rank lacks, and the sums.
static_assert(plan<L<>>::ring_bytes() == (8 * 12 - 4 * 3) * 4);
static_assert(plan<L<dm::split<batch, rows>>>::bytes() == 4 * 3 * 4);
static_assert(plan<L<dm::split<batch, rows, cols>>>::ring_bytes() == (12 - 3) * 4);
static_assert(plan<L<dm::split<batch, rows>, dm::split<hidden, cols>>>::bytes() == 0);
static_assert(plan<L<>, sums>::ring_bytes() == 2 * 7 * 8 * 12 * 4 / 8);

static_assert(is_same_v<decltype(dm::relayout<L<dm::split<label, cols>, dm::split<hidden, cols>>>(
                            dm::poison{})),
                        dm::poison>);
template <class La, class W> using fault = dm::detail::fault_of<dm::detail::goal_rule<La, true>, W>;
static_assert(is_same_v<fault<L<dm::partial<cols>>, V>, dm::axis_not_partial<cols>>);
static_assert(
    is_same_v<fault<L<>, X<float, L<dm::partial_max<cols>>, batch>>, dm::partial_operand<cols>>);
static_assert(is_same_v<fault<L<dm::split<batch, rows>, dm::split<hidden, rows>>, V>,
                        dm::dims_share_mesh_axis<batch, hidden, rows>>);
static_assert(is_same_v<fault<L<>, X<float, L<dm::split<dm::halo<batch, 1>, rows>>, batch>>,
                        dm::dim_has_halo<batch>>);

}  // namespace
