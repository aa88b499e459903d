// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One rank throws while the others wait for it in a collective: the job ends at once, with the rank
// and the text of the exception.
// ranks: 2 4
// main: own
// timeout: 60
// fails: dimesh: rank 1: tensor: dim 'length' has -1000 elements
#include "dimesh/runtime.hpp"
#include "dimesh/tensor.hpp"

struct rows : dimesh::axis<> {};
struct pod : dimesh::mesh<rows> {};
struct length : dimesh::dim<> {};

int main(int argc, char** argv) {
  return dimesh::run(argc, argv, [] {
    const dimesh::grid<pod> g;
    using vector = dimesh::tensor<float, dimesh::layout<pod>, length>;
    const vector kept(g, length{10});  // unwinding gives it back
    const vector x(g, length{g.rank() == 1 ? -1000 : 5});
    MPI_Barrier(g.along<rows>());  // the others wait here
  });
}
