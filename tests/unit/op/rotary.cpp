// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/op/rotary.hpp"

#include <doctest/doctest.h>

#include "dimesh/local/rotary.hpp"

namespace dm = dimesh;

namespace {

struct batch : dm::dim<8> {};
struct length : dm::dim<16> {};
struct head : dm::dim<6> {};
struct odd : dm::dim<5> {};
struct rows : dm::axis<2> {};
struct cols : dm::axis<2> {};
struct pod : dm::mesh<rows, cols> {};
template <class... R> using L = dm::layout<pod, R...>;
template <class T, class La, class... D> using X = dm::tensor<T, dm::shaped<La>, D...>;
using std::is_same_v;

using by_length = X<float, L<dm::split<length, rows>, dm::partial<cols>>, batch, length, head>;
static_assert(is_same_v<decltype(dm::rotary<length, head>(by_length{})), by_length>);
static_assert(is_same_v<decltype(dm::rotary<length, head>(dm::poison{})), dm::poison>);

template <class T, class A = length, class B = head>
using fault = dm::detail::fault_of<dm::detail::rotary_rule<A, B>, T>;
static_assert(is_same_v<fault<by_length>, dm::no_fault>);
static_assert(is_same_v<fault<by_length, head, head>, dm::dim_repeated<head>>);
static_assert(is_same_v<fault<by_length, odd>, dm::dim_not_in_tensor<odd>>);
static_assert(is_same_v<fault<X<float, L<dm::split<head, cols>>, length, head>>,
                        dm::dim_is_split<head, cols>>);
static_assert(is_same_v<fault<X<int, L<>, length, head>>, dm::element_not_differentiable<int>>);

constexpr dm::detail::tally cost() {
  dm::detail::tally t;
  [[maybe_unused]] const auto y = dm::rotary<length, head>(by_length{}.counted_by(&t));
  return t;
}
static_assert(cost().flops == 3 * 8 * 8 * 6 && cost().over[1].calls == 0);

}  // namespace

TEST_CASE("rotary: there and back") {
  // One pair: the angle is the position, whatever the base.
  dm::local::rotation what{.positions = 2, .half = 1, .row = 2};
  const double x[] = {3, 4, 1, 0};
  double y[4], z[4], scratch[8];
  REQUIRE(dm::local::rotation_scratch<double>(what) <= dm::index_t(sizeof scratch));
  dm::local::rotate(what, x, y, scratch);
  CHECK(y[0] == 3);
  CHECK(y[1] == 4);
  CHECK(y[2] == doctest::Approx(std::cos(1.0)));
  CHECK(y[3] == doctest::Approx(std::sin(1.0)));
  what.back = true;
  dm::local::rotate(what, y, z, scratch);
  CHECK(z[2] == doctest::Approx(1));
  CHECK(std::abs(z[3]) < 1e-15);
}
TEST_CASE("rotary: a dim of odd extent is refused") {
  CHECK_THROWS_AS((dm::rotary<length, odd>(X<float, L<>, length, odd>{})), dm::error);
}
