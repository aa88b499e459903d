// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// alone: its cases are made for its program
// ranks: 1 2
// checks: 52 86
// options: -O2
// library: headers
// What differential.cpp does, with every kernel cut into pieces that run last to first: none may
// rely on being one. That stands in for the spaces of a threaded Kokkos.
#define DIMESH_TEST_REVERSED
#include "support/shuffled.hpp"

#include "mpi/differential.cpp"
