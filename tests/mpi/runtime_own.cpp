// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nothing started before: `run` starts MPI and Kokkos, ends both, and returns the program's value.
// Tensors that outlive Kokkos do no harm.
// ranks: 1 2
// main: own
#include "dimesh/runtime.hpp"

#include <memory>

#include "dimesh/tensor.hpp"

struct rows : dimesh::axis<> {};
struct pod : dimesh::mesh<rows> {};
struct length : dimesh::dim<12> {};

int main(int argc, char** argv) {
  using vector = dimesh::tensor<double, dimesh::layout<pod>, length>;
  std::unique_ptr<vector> survivor;  // its memory goes with Kokkos
  const int value = dimesh::run(argc, argv, [&] {
    const dimesh::grid<pod> g;
    int threads = MPI_THREAD_SINGLE;
    MPI_Query_thread(&threads);
    if (threads < MPI_THREAD_FUNNELED) return 0;
    survivor = std::make_unique<vector>(g);
    const vector lost(g);
    return Kokkos::is_initialized() && survivor->local_size() == 12 ? 3 : 0;
  });
  int ended = 0;
  MPI_Finalized(&ended);
  survivor.reset();
  return value == 3 && ended && !Kokkos::is_initialized() ? 0 : 1;
}
