// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A mesh that does not fit the number of ranks: every rank says so, and the job ends.
// ranks: 3
// main: own
// timeout: 60
// fails: (?s)(?=.*rank 0: grid: mesh 'pod' \(rows=2 x cols=2\))(?=.*rank 1: grid)(?=.*rank 2: grid)
#include "dimesh/grid.hpp"
#include "dimesh/runtime.hpp"

struct rows : dimesh::axis<2> {};
struct cols : dimesh::axis<2> {};
struct pod : dimesh::mesh<rows, cols> {};

int main(int argc, char** argv) {
  return dimesh::run(argc, argv, [] { const dimesh::grid<pod> g; });
}
