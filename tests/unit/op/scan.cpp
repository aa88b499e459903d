// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: -O0
#include "dimesh/op/scan.hpp"

#include <doctest/doctest.h>

#include "dimesh/grad/cost.hpp"
#include "dimesh/plan/probe.hpp"

namespace dm = dimesh;

namespace {

struct moment : dm::dim<16> {};
struct state : dm::dim<8> {};
struct label : dm::dim<3> {};
struct rows : dm::axis<4> {};
struct cols : dm::axis<2> {};
struct pod : dm::mesh<rows, cols> {};
template <class... R> using L = dm::layout<pod, R...>;
template <class T, class La, class... D> using X = dm::tensor<T, dm::shaped<La>, D...>;
using std::is_same_v;

using by_time = X<float, L<dm::split<moment, rows>>, moment, state>;
using addends = X<float, L<dm::partial<cols>>, moment, state>;

static_assert(is_same_v<decltype(dm::cumsum_exscan<moment>(by_time{})), by_time>);
static_assert(is_same_v<decltype(dm::cumsum<moment>(addends{})), addends>);
static_assert(is_same_v<decltype(dm::cumprod<state>(by_time{})), by_time>);
static_assert(is_same_v<decltype(dm::cumsum<moment>(dm::poison{})), dm::poison>);
static_assert(
    is_same_v<decltype(dm::linear_recurrence<moment>(dm::poison{}, by_time{})), dm::poison>);

template <class T, class D, bool Whole>
using fault = dm::detail::fault_of<dm::detail::scan_rule<D, Whole, false>, T>;
static_assert(is_same_v<fault<by_time, moment, true>, dm::dim_is_split<moment, rows>>);
static_assert(is_same_v<fault<by_time, moment, false>, dm::no_fault>);
static_assert(is_same_v<fault<by_time, label, false>, dm::dim_not_in_tensor<label>>);
static_assert(is_same_v<fault<addends, moment, true>, dm::partial_operand<cols>>);

template <class T, class... D> auto under(const dm::layout_value<pod>& l) {
  return dm::probe_of<dm::probe<T, pod, D...>>(l, dm::mesh_sizes<pod>{});
}

}  // namespace

TEST_CASE("scans: bytes of a shape, and of a probe of its layout") {
  const auto f = [](const auto& x) { return dm::cumsum_exscan<moment>(x); };
  const auto shaped = dm::count(f, by_time{});
  const auto probed = dm::count(
      f, under<float, moment, state>(dm::layout_value<pod>(L<dm::split<moment, rows>>{})));
  CHECK(shaped.bytes<rows>() == 8 * 4);
  CHECK(shaped.calls<rows>() == 1);
  CHECK(shaped.flops() == 2 * 4 * 8);
  CHECK(shaped.counts.over == probed.counts.over);
  CHECK(shaped.moved() == probed.moved());
  const auto g = [](const auto& a) { return dm::linear_recurrence_exscan<moment>(a, a); };
  CHECK(dm::count(g, by_time{}).bytes<rows>() == 8 * 12);
  CHECK(dm::count(f, X<float, L<dm::split<state, rows>>, moment, state>{}).calls<rows>() == 0);
}

TEST_CASE("scans: what a probe is refused") {
  std::string said;
  try {
    (void)dm::cumprod<moment>(
        under<float, moment, state>(dm::layout_value<pod>(L<dm::split<moment, rows>>{})));
  } catch (const dm::error& e) {
    said = e.what();
  }
  CHECK(said.starts_with("cumprod: dim_is_split"));
}
