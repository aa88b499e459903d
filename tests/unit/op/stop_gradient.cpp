// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/op/stop_gradient.hpp"

#include <doctest/doctest.h>

#include "dimesh/core/tracked.hpp"

namespace dm = dimesh;

namespace {

struct batch : dm::dim<8> {};
struct hidden : dm::dim<6> {};
struct label : dm::dim<10> {};
struct length : dm::dim<> {};
struct rows : dm::axis<2> {};
struct cols : dm::axis<2> {};
struct pod : dm::mesh<rows, cols> {};
template <class... R> using L = dm::layout<pod, R...>;
template <class T, class La, class... D> using X = dm::tensor<T, dm::shaped<La>, D...>;
using std::is_same_v;

using value = X<float, L<dm::split<batch, rows>>, batch>;

static_assert(is_same_v<decltype(dm::stop_gradient(value{})), value>);
static_assert(is_same_v<decltype(dm::stop_gradient(dm::tracked_tensor<value>{})), value>);
static_assert(
    is_same_v<decltype(dm::stop_gradient(dm::tracked_tensor<dm::tracked_tensor<value>>{})), value>);
static_assert(is_same_v<decltype(dm::stop_gradient(dm::poison{})), dm::poison>);

}  // namespace

TEST_CASE("stop_gradient: the same extents, without a record") {
  const X<float, L<>, length> x(dm::mesh_sizes<pod>{}, length{5});
  CHECK(dm::stop_gradient(dm::tracked_tensor<X<float, L<>, length>>(dm::detail::core_of(x)))
            .extent<length>() == 5);
}
