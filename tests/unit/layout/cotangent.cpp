// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/layout/cotangent.hpp"

#include <doctest/doctest.h>

#include "support/layouts.hpp"

using namespace dimesh;
namespace {

struct batch : dim<8> {};
struct hidden : dim<12> {};
struct rows : axis<2> {};
struct cols : axis<> {};
struct pod : mesh<rows, cols> {};

template <class A, class B> constexpr bool same = std::is_same_v<A, B>;

static_assert(same<cotangent<layout<pod>, batch>, layout<pod, partial<rows>, partial<cols>>>);
static_assert(same<cotangent<layout<pod, split<batch, rows>>, batch>,
                   layout<pod, split<batch, rows>, partial<cols>>>);
static_assert(same<cotangent<layout<pod, split<batch, cols, rows>>, batch>,
                   layout<pod, split<batch, cols, rows>>>);
static_assert(same<cotangent<layout<pod, partial<cols>>, batch>, layout<pod, partial<rows>>>);
static_assert(same<cotangent<layout<pod, split<uneven<hidden>, cols>>, hidden>,
                   layout<pod, partial<rows>, split<uneven<hidden>, cols>>>);

// A program's list: each tensor's gradient follows from what concerns the tensor. A parameter under
// data parallelism has partial gradients: the all-reduce is no feature but a consequence.
using program = layout<pod, split<batch, rows>>;
static_assert(same<cotangent<program, hidden>, layout<pod, partial<rows>, partial<cols>>>);
static_assert(same<cotangent<layout<pod, spread<rows>>, hidden>,
                   layout<pod, split<hidden, rows>, partial<cols>>>);

template <class L, class... D>
constexpr bool involution = same<cotangent<cotangent<L, D...>, D...>, canonical<L, D...>>;

TEST_CASE("an involution on every layout") {
  int tried = 0;
  test_support::for_each_layout<pod, detail::list<batch, hidden>, test_support::with_partial>(
      [&](auto t) {
        using L = typename decltype(t)::type;
        static_assert(involution<L, batch, hidden>);
        static_assert(ok<layout_fault<cotangent<L, batch, hidden>, batch, hidden>>);
        ++tried;
      });
  CHECK(tried == 18);  // 16 pairs of uses; a dim split over both axes has two orders
}

}  // namespace
