// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/op/softmax.hpp"

#include <doctest/doctest.h>

#include <cmath>

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
using by_label = X<float, L<dm::split<label, cols>>, batch, label>;

// The same type, whether the dim is split or not.
static_assert(is_same_v<decltype(dm::softmax<label>(by_batch{})), by_batch>);
static_assert(is_same_v<decltype(dm::softmax<label>(by_label{})), by_label>);
static_assert(is_same_v<decltype(dm::log_softmax<batch, label>(by_label{})), by_label>);
static_assert(is_same_v<decltype(dm::log_sum_exp<label>(by_batch{})),
                        X<float, L<dm::split<batch, rows>>, batch>>);
static_assert(is_same_v<decltype(dm::log_sum_exp<label>(by_label{})), X<float, L<>, batch>>);
static_assert(is_same_v<decltype(dm::softmax<label>(dm::poison{})), dm::poison>);

// It communicates where the dim is split, and only there: a maximum and a sum over its axes.
template <class T> constexpr dm::traffic over(unsigned axes) {
  dm::detail::tally t;
  [[maybe_unused]] const auto y = dm::softmax<label>(T{}.counted_by(&t));
  return t.over[axes];
}
static_assert(over<by_batch>(1).calls == 0 && over<by_batch>(2).calls == 0 &&
              over<by_batch>(3).calls == 0);
static_assert(over<by_label>(2).calls == 2 && over<by_label>(2).bytes == 2 * 8 * 4);
static_assert(over<by_label>(1).calls == 0 && over<by_label>(3).calls == 0);

}  // namespace

TEST_CASE("softmax: the shift is a finite maximum, or none") {
  CHECK(dm::detail::shift_of(3.5f) == 3.5f);
  CHECK(dm::detail::shift_of(-HUGE_VALF) == 0);
  CHECK(dm::detail::shift_of(HUGE_VAL) == 0);
}
