// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checked builds: a rank that goes another way through the program is reported, where it would
// otherwise sum other numbers than its peers, or hang.
// ranks: 2 3
// main: own
// library: headers
// timeout: 60
// fails: (?s)(?=.*rank 0: [^\n]*make different calls)(?=.*rank 1: [^\n]*make different calls)
#ifndef DIMESH_CHECKED
#define DIMESH_CHECKED
#endif
#include "dimesh/op/complete.hpp"
#include "dimesh/runtime.hpp"

struct rows : dimesh::axis<> {};
struct pod : dimesh::mesh<rows> {};
struct length : dimesh::dim<> {};

int main(int argc, char** argv) {
  return dimesh::run(argc, argv, [] {
    const dimesh::grid<pod> g;
    using addends = dimesh::tensor<double, dimesh::layout<pod, dimesh::partial<rows>>, length>;
    const addends same(g, length{4});
    (void)dimesh::complete(same);  // all agree
    const addends other(g, length{g.rank() == 1 ? 5 : 4});
    (void)dimesh::complete(other);
  });
}
