// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nothing started before: `run` starts MPI and Kokkos, ends both, and returns the program's value.
// Tensors that outlive Kokkos do no harm. Kokkos takes its own arguments, and no others.
// ranks: 1 2
// main: own
#include "dimesh/runtime.hpp"

#include <memory>

#include "dimesh/tensor.hpp"

struct rows : dimesh::axis<> {};
struct pod : dimesh::mesh<rows> {};
struct length : dimesh::dim<12> {};

int main(int, char** argv) {
  using vector = dimesh::tensor<double, dimesh::layout<pod>, length>;
  std::unique_ptr<vector> survivor;  // its memory goes with Kokkos
  char help[] = "--help", for_kokkos[] = "--kokkos-disable-warnings", steps[] = "7";
  char* given[] = {argv[0], help, for_kokkos, steps, nullptr};
  int count = 4;
  const int value = dimesh::run(count, given, [&] {
    if (count != 3 || given[1] != help || given[2] != steps || given[3] != nullptr) return 0;
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
