// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 2
// fails: \[rank 1\].*left it early
// Does an exception on one rank end the job, while the others wait in a collective for it?
#include <doctest/doctest.h>
#include <dimesh/detail/mpi.hpp>

#include <stdexcept>

TEST_CASE("main: a rank leaves early") {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) throw std::runtime_error("boo");
  MPI_Barrier(MPI_COMM_WORLD);
}
