// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/layout.hpp"

#include <doctest/doctest.h>

namespace dm = dimesh;
namespace {

struct batch : dm::dim<8> {};
struct rows : dm::axis<2> {};
struct cols : dm::axis<> {};
struct pod : dm::mesh<rows, cols> {};

using plain = dm::layout<pod>;
using hybrid = dm::layout<pod, dm::split<batch, rows, cols>, dm::partial<cols>, dm::spread<rows>>;

static_assert(dm::Layout<plain> && dm::Layout<hybrid>);
static_assert(!dm::Layout<pod> && !dm::Layout<batch> && !dm::Layout<int>);
static_assert(std::is_same_v<hybrid::mesh, pod>);

// Rules are names only: no data, no cost.
static_assert(std::is_empty_v<hybrid> && std::is_empty_v<dm::split<batch, rows>>);
static_assert(!std::is_same_v<dm::split<batch, rows, cols>, dm::split<batch, cols, rows>>);

TEST_CASE("layouts are values, too") {
  const hybrid all{};
  (void)all;
  CHECK(dm::Layout<std::remove_const_t<decltype(all)>>);
}

}  // namespace
