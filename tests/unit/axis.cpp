// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/axis.hpp"

#include <doctest/doctest.h>

#include "dimesh/dim.hpp"

namespace dm = dimesh;
namespace {

struct rows : dm::axis<2> {};
struct one : dm::axis<1> {};
struct cols : dm::axis<> {};
struct batch : dm::dim<2> {};

static_assert(dm::Axis<rows> && dm::Axis<one> && dm::Axis<cols>);
static_assert(!dm::Axis<batch> && !dm::Axis<int> && !dm::Axis<rows&> &&
              !dm::Axis<dm::detail::axis_base>);
static_assert(rows::size == 2 && one::size == 1 && cols::size == dm::dynamic);
static_assert(cols{4}.n == 4 && rows{2}.n == 2 && rows{}.n == 2);

TEST_CASE("a dynamic axis takes its size at run time") {
  const int ranks = 3;
  CHECK(cols{ranks}.n == 3);
}

}  // namespace
