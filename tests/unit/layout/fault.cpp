// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/layout/fault.hpp"

#include <doctest/doctest.h>

namespace dm = dimesh;
namespace {

struct batch;
struct hidden;
struct rows;

using shared = dm::dims_share_mesh_axis<batch, hidden, rows>;
using uneven = dm::extent_not_divisible<batch, 10, rows, 4>;

static_assert(dm::ok<dm::no_fault>);
static_assert(!dm::ok<shared>);
static_assert(!dm::ok<uneven>);

// `only` lets one kind through and silences the others.
static_assert(std::is_same_v<dm::only<shared, dm::dims_share_mesh_axis>, shared>);
static_assert(dm::ok<dm::only<shared, dm::dim_has_two_rules>>);
static_assert(dm::ok<dm::only<dm::no_fault, dm::dims_share_mesh_axis>>);
static_assert(dm::ok<dm::only<uneven, dm::dims_share_mesh_axis>>);
static_assert(std::is_same_v<dm::only<shared, dm::dim_repeated, dm::dims_share_mesh_axis>, shared>);
static_assert(dm::ok<dm::only<shared, dm::dim_repeated, dm::dim_has_two_rules>>);
static_assert(std::is_same_v<dm::only_not_divisible<uneven>, uneven>);
static_assert(dm::ok<dm::only_not_divisible<shared>>);
static_assert(dm::ok<dm::only_not_divisible<dm::no_fault>>);

// Faults differ by culprits and their order.
static_assert(!std::is_same_v<shared, dm::dims_share_mesh_axis<hidden, batch, rows>>);

// Poison turns into whatever a faulty call should have returned, so that it stays one error.
struct anything {
  int n = 7;
};
static_assert(std::is_convertible_v<dm::poison, anything>);
static_assert(std::is_convertible_v<dm::poison, double>);
static_assert(!std::is_convertible_v<dm::poison, void*>);
static_assert(static_cast<anything>(dm::poison{}).n == 7);

static_assert(dm::is_poison<dm::poison> && !dm::is_poison<anything>);
// What one may ask of a tensor can be asked of it too.
static_assert(dm::is_poison<decltype(dm::poison{}.shape())>);
static_assert(dm::is_poison<decltype(dm::poison{}.extent<batch>())>);
static_assert(dm::poison{}.data() == nullptr);

TEST_CASE("poison initialises what a faulty call should have returned") {
  const anything x = dm::poison{};
  CHECK(x.n == 7);
}

}  // namespace
