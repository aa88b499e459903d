// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/op/one_hot.hpp"

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

using classes = X<std::int32_t, L<dm::split<batch, rows>>, batch>;

static_assert(is_same_v<decltype(dm::one_hot<label>(classes{})),
                        X<float, L<dm::split<batch, rows>>, batch, label>>);
static_assert(is_same_v<decltype(dm::one_hot<label, double>(classes{})),
                        X<double, L<dm::split<batch, rows>>, batch, label>>);
static_assert(is_same_v<decltype(dm::one_hot<label>(dm::poison{})), dm::poison>);

template <class T, class D> using fault = dm::detail::fault_of<dm::detail::one_hot_rule<D>, T>;
static_assert(is_same_v<fault<classes, batch>, dm::dim_already_in_tensor<batch>>);
static_assert(
    is_same_v<fault<X<int, L<dm::partial<rows>>, batch>, label>, dm::partial_operand<rows>>);

}  // namespace

TEST_CASE("one_hot: a run-time number of classes comes with the dim") {
  const auto hot = dm::one_hot<length>(classes{}, length{5});
  CHECK(hot.extent<length>() == 5);
  CHECK(hot.local_size() == 4 * 5);
}
