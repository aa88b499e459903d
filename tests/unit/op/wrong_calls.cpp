// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which calls are taken for ones with arguments in another order? None that are right.
#include "dimesh/op/refusals/wrong_calls.hpp"

#include <array>
#include <dimesh/dimesh.hpp>
#include <vector>

namespace dm = dimesh;

namespace {

struct batch : dm::dim<8> {};
struct rows : dm::axis<2> {};
struct pod : dm::mesh<rows> {};
using row = dm::tensor<float, dm::layout<pod>, batch>;

static_assert(dm::detail::shifts<row, int>);
static_assert(dm::detail::shifts<dm::poison, long, dm::boundary>);
static_assert(!dm::detail::shifts<int, row>);
static_assert(dm::detail::exchanges<row> && dm::detail::exchanges<row, dm::boundary>);
static_assert(!dm::detail::exchanges<row, int>);
static_assert(dm::detail::drops<double, dm::random_key, row>);
static_assert(!dm::detail::drops<row, double, dm::random_key>);
static_assert(dm::detail::TensorMeetsNumbers<row, std::vector<float>>);
static_assert(dm::detail::TensorMeetsNumbers<std::array<float, 8>, row>);
static_assert(!dm::detail::TensorMeetsNumbers<row, row>);
static_assert(!dm::detail::TensorMeetsNumbers<row, float>);
static_assert(!dm::detail::TensorMeetsNumbers<row, dm::poison>);

}  // namespace
