// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/grid.hpp"

#include <doctest/doctest.h>

using namespace dimesh;
namespace {

struct rows : axis<2> {};
struct cols : axis<> {};
struct pod : mesh<rows, cols> {};

// A grid is a place in memory that its tensors point to: neither copied nor moved.
static_assert(!std::is_copy_constructible_v<grid<pod>> && !std::is_move_constructible_v<grid<pod>>);
static_assert(!std::is_copy_assignable_v<grid<pod>>);
static_assert(std::is_constructible_v<grid<pod>> && std::is_constructible_v<grid<pod>, cols>);
static_assert(std::is_constructible_v<grid<pod>, MPI_Comm, cols, rows>);
static_assert(std::is_same_v<grid<pod>::mesh, pod>);

TEST_CASE("before MPI runs, messages name rank 0") { CHECK(detail::world_rank() == 0); }

}  // namespace
