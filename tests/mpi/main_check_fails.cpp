// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 3
// fails: FAILED on one rank or more
// Does a check that fails on the last rank alone fail the test?
#include <doctest/doctest.h>
#include <dimesh/detail/mpi.hpp>

TEST_CASE("main: a check fails on one rank") {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(rank != size - 1);
}
