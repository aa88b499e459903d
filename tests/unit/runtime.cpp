// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/runtime.hpp"

#include <doctest/doctest.h>

namespace {

// A runtime owns what it started: neither copied nor moved. How it starts and ends programs is
// tested with MPI.
static_assert(!std::is_copy_constructible_v<dimesh::runtime> &&
              !std::is_move_constructible_v<dimesh::runtime>);
static_assert(noexcept(dimesh::runtime::end_job("")));

TEST_CASE("errors are one family of exceptions") {
  CHECK_THROWS_AS(throw dimesh::error("grid: too few ranks"), std::runtime_error);
  try {
    throw dimesh::error("grid: too few ranks");
  } catch (const std::exception& e) {
    CHECK(std::string(e.what()) == "grid: too few ranks");
  }
}

}  // namespace
