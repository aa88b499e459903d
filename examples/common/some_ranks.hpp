// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a program try several layouts, each on ranks of its own number, one after the other?
//
//   on_mesh<square>("hybrid", [&](const dm::grid<square>& g) { ... });
//   on_first_ranks(4, [&](MPI_Comm four) { ... });
#pragma once

#include <algorithm>
#include <chrono>
#include <dimesh/grid.hpp>
#include <iostream>
#include <string>
#include <thread>

/// f(communicator) on the first n ranks of MPI_COMM_WORLD. The others wait without taking their
/// processors: they sleep.
template <class F> void on_first_ranks(int n, const F& f) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm some = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank < n ? 0 : MPI_UNDEFINED, rank, &some);
  if (some != MPI_COMM_NULL) {
    f(some);
    MPI_Comm_free(&some);
  }
  MPI_Request all = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &all);
  for (int done = 0; MPI_Test(&all, &done, MPI_STATUS_IGNORE), done == 0;)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

/// Does the program say how many ranks the axes have, and not the mesh?
template <dimesh::Mesh M>
constexpr bool is_open = std::find(M::static_sizes.begin(), M::static_sizes.end(),
                                   dimesh::dynamic) != M::static_sizes.end();

/// A mesh on all ranks of a communicator. Of two open axes the second one has two ranks where their
/// number is even.
template <dimesh::Mesh M> dimesh::grid<M> even_grid(MPI_Comm comm) {
  if constexpr (M::rank == 2 && is_open<M>) {
    int size = 1;
    MPI_Comm_size(comm, &size);
    return [&]<class A, class B>(const dimesh::mesh<A, B>&) {
      const int second = size % 2 == 0 ? 2 : 1;
      return dimesh::grid<M>(comm, A{size / second}, B{second});
    }(M{});
  } else {
    return dimesh::grid<M>(comm);
  }
}

/// f(grid) on as many ranks as the mesh has, or on all where it is open. Where there are fewer,
/// what goes by this name is left out, and that is said.
template <dimesh::Mesh M, class F> void on_mesh(const std::string& name, const F& f) {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int ranks = is_open<M> ? size : 1;
  if constexpr (!is_open<M>)
    for (const dimesh::index_t n : M::static_sizes) ranks *= static_cast<int>(n);
  if (ranks <= size)
    on_first_ranks(ranks, [&](MPI_Comm some) { f(even_grid<M>(some)); });
  else if (rank == 0)
    std::cout << "left out: " << name << " needs " << ranks << " ranks, there are " << size << "\n";
}
