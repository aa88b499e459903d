// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which calls are taken for ones with names of the wrong kind? None that are right, and none that
// have nothing to do with tensors.
#include "dimesh/op/refusals/wrong_kinds.hpp"
#include "dimesh/op/refusals/wrong_numbers.hpp"

#include <dimesh/dimesh.hpp>

namespace dm = dimesh;

namespace {

struct batch : dm::dim<8> {};
struct hidden : dm::dim<6> {};
struct rows : dm::axis<2> {};
struct pod : dm::mesh<rows> {};
using L = dm::layout<pod>;
using x_type = dm::tensor<float, L, batch, hidden>;

using namespace dm::detail;  // NOLINT: the test is of its parts
template <class Kinds, class Names, class... X>
inline constexpr bool wrong = are_wrong<Kinds, Names, X...>;

static_assert(!wrong<wants_dims, list<batch, hidden>, x_type>);
static_assert(!wrong<wants_dims, list<>, x_type>);
static_assert(!wrong<wants_dims, list<batch>, dm::poison>);
static_assert(wrong<wants_dims, list<batch, rows>, x_type>);
static_assert(wrong<wants_dims, list<batch>, x_type, batch>);
static_assert(!wrong<wants_dims, list<>, int, int>, "max(1, 2) is another function's business");
static_assert(!wrong<wants_result, list<double, batch>, x_type>);
static_assert(wrong<wants_dims, list<double, batch>, x_type>);
static_assert(!wrong<wants_axes, list<rows>, x_type>);
static_assert(wrong<wants_axes, list<batch>, x_type>);
static_assert(!wrong<wants_dim_axis, list<dm::uneven<batch>, rows>, x_type>);
static_assert(wrong<wants_dim_axis, list<rows, batch>, x_type>);
static_assert(!wrong<wants_dims_axis, list<batch, dm::uneven<hidden>, rows>, x_type>);
static_assert(wrong<wants_dims_axis, list<batch, rows, hidden>, x_type>);
static_assert(!wrong<wants_layout, list<L>, x_type>);
static_assert(wrong<wants_layout, list<x_type>, x_type>);

// The first culprit is named.
template <class Kinds, class Names, class... X>
using culprit = typename wrong_kind<Kinds, Names, X...>::type;
static_assert(std::is_same_v<culprit<wants_dims_axis, list<batch, rows, hidden>, x_type>,
                             dm::not_a_dim<rows>>);
static_assert(
    std::is_same_v<culprit<wants_dim_axis, list<batch, hidden>, x_type>, dm::not_an_axis<hidden>>);
static_assert(std::is_same_v<culprit<wants_dims, list<batch>, x_type, int>, dm::not_a_tensor<int>>);

}  // namespace
