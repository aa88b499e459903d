// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/op/argmax.hpp"

#include <doctest/doctest.h>

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

using by_batch = X<float, L<dm::split<batch, rows>>, batch, label>;
using addends = X<float, L<dm::partial<cols>>, batch, label>;

static_assert(is_same_v<decltype(dm::argmax<label>(by_batch{})),
                        X<std::int32_t, L<dm::split<batch, rows>>, batch>>);
static_assert(
    is_same_v<decltype(dm::argmin<label>(by_batch{})), decltype(dm::argmax<label>(by_batch{}))>);
static_assert(is_same_v<decltype(dm::argmax<label>(dm::poison{})), dm::poison>);

template <class T, class D> using fault = dm::detail::fault_of<dm::detail::argmax_rule<D>, T>;
static_assert(is_same_v<fault<by_batch, batch>, dm::dim_is_split<batch, rows>>);
static_assert(is_same_v<fault<by_batch, hidden>, dm::dim_not_in_tensor<hidden>>);
static_assert(is_same_v<fault<addends, label>, dm::partial_operand<cols>>);

}  // namespace

TEST_CASE("argmax: a run-time dim that is empty still has a type and a size") {
  const X<float, L<>, batch, length> x(dm::mesh_sizes<pod>{}, length{0});
  CHECK(dm::argmax<length>(x).local_size() == 8);
}
