// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/op/cast.hpp"

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

using by_batch = X<float, L<dm::split<batch, rows>>, batch>;
using addends = X<float, L<dm::partial<rows>>, batch>;

static_assert(
    is_same_v<decltype(dm::cast<double>(by_batch{})), X<double, L<dm::split<batch, rows>>, batch>>);
static_assert(is_same_v<decltype(dm::cast<float>(by_batch{})), by_batch>);
static_assert(
    is_same_v<decltype(dm::cast<double>(addends{})), X<double, L<dm::partial<rows>>, batch>>);
static_assert(is_same_v<decltype(dm::cast<int>(dm::poison{})), dm::poison>);

// Addends stay addends where rounding is relative; cut to whole numbers they are none.
template <class T, class To> using fault = dm::detail::fault_of<dm::detail::cast_rule<To>, T>;
static_assert(is_same_v<fault<addends, int>, dm::partial_operand<rows>>);
static_assert(is_same_v<fault<by_batch, int>, dm::no_fault>);
static_assert(is_same_v<fault<X<int, L<dm::partial<rows>>, batch>, dm::index_t>, dm::no_fault>);
static_assert(
    is_same_v<fault<X<float, L<dm::partial_max<cols>>, batch>, double>, dm::partial_operand<cols>>);

}  // namespace

TEST_CASE("cast: to its own type it is free") {
  dm::detail::tally t;
  const auto x = by_batch{}.counted_by(&t);
  const auto moved = t.moved;
  [[maybe_unused]] const auto y = dm::cast<float>(x);
  CHECK(t.moved == moved);
  [[maybe_unused]] const auto z = dm::cast<double>(x);
  CHECK(t.moved == moved + 4 * (4 + 8));
}
