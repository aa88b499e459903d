// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checked builds: ranks that make the same call on as many elements of another type are reported.
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
struct length : dimesh::dim<4> {};

template <class T>
using addends = dimesh::tensor<T, dimesh::layout<pod, dimesh::partial<rows>>, length>;

int main(int argc, char** argv) {
  return dimesh::run(argc, argv, [] {
    const dimesh::grid<pod> g;
    if (g.rank() == 1)
      (void)dimesh::complete(addends<int>(g));
    else
      (void)dimesh::complete(addends<float>(g));
  });
}
