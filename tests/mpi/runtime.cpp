// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MPI and Kokkos started by the user before the library: it uses them, and leaves them running.
// ranks: 1 2 3
// main: own
#include "dimesh/runtime.hpp"

#include "dimesh/tensor.hpp"
#include "support/host.hpp"

struct rows : dimesh::axis<> {};
struct pod : dimesh::mesh<rows> {};
struct length : dimesh::dim<12> {};

namespace {

int failures = 0;
void check(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "runtime.cpp: wrong: %s\n", what);
  ++failures;
}
bool mpi_runs() {
  int started = 0, ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  return started && !ended;
}

/// What a program does: a grid, a tensor, a collective.
int program() {
  const dimesh::grid<pod> g;
  dimesh::tensor<double, dimesh::layout<pod>, length> x(g);
  Kokkos::deep_copy(x.view(), 1.0);
  double sum = 0, mine = test_support::on_host(x)[11];
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, g.along<rows>());
  return sum == g.ranks() ? 7 : -1;
}

}  // namespace

int main(int argc, char** argv) {
  check(!mpi_runs(), "MPI runs before anybody started it");
  MPI_Init(&argc, &argv);
  check(dimesh::detail::world_rank() >= 0, "no rank");
  Kokkos::initialize(argc, argv);

  check(dimesh::run(argc, argv, program) == 7, "the value of the program is not what run returns");
  check(mpi_runs() && Kokkos::is_initialized(), "run ended what the user started");
  check(dimesh::run(argc, argv, [] {}) == 0, "a program without a value");
  {
    const dimesh::runtime outer(argc, argv);
    int threads = -1;
    MPI_Query_thread(&threads);
    check(outer.thread_level() == threads, "another thread level than MPI's");
    check(dimesh::run(argc, argv, program) == 7, "a run within another");
    check(mpi_runs() && Kokkos::is_initialized(), "the inner run ended what the outer one needs");
  }
  check(mpi_runs() && Kokkos::is_initialized(), "a runtime ended what the user started");

  Kokkos::finalize();
  check(mpi_runs(), "MPI has ended with Kokkos");
  MPI_Finalize();
  return failures;
}
