// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is thrown need not be an exception of the library, nor leave through `run`: a `runtime`
// alone also takes the job down, here from a function that must not throw.
// ranks: 2
// main: own
// timeout: 60
// fails: dimesh: rank 0: an exception of unknown type
#include "dimesh/runtime.hpp"

static void fail() { throw 42; }
static void must_not_throw() noexcept { fail(); }  // NOLINT: on purpose

int main(int argc, char** argv) {
  const dimesh::runtime started(argc, argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) must_not_throw();
  MPI_Barrier(MPI_COMM_WORLD);
}
