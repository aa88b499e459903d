// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who takes part in a collective? The ranks along some axes of the mesh: an MPI communicator that
// knows these axes, turns MPI's error codes into exceptions and, in checked builds, compares what
// its ranks are about to do.
//
//   check(MPI_Barrier(c.handle()), "barrier")   -> throws dimesh::error with MPI's text
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "dimesh/detail/compiled.hpp"
#include "dimesh/detail/config.hpp"
#include "dimesh/detail/mpi.hpp"
#include "dimesh/detail/words.hpp"

namespace dimesh::detail {

/// The rank in MPI_COMM_WORLD, for messages; 0 before MPI runs.
inline int world_rank() {
  int running = 0, rank = 0;
  MPI_Initialized(&running);
  if (running) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

DIMESH_OUTLINE [[noreturn]] inline void raise_mpi(int code, const char* call) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  words w;
  w << call << ": MPI reports '" << text << "' on rank " << world_rank();
  w.raise();
}

/// Throws what an MPI call reports.
inline void check(int code, const char* call) {
  if (code != MPI_SUCCESS) raise_mpi(code, call);
}

/// The attribute under which a communicator carries the set of its axes (bit a = axis a of the
/// mesh): what a profiler needs to tell the traffic of one axis from another's.
inline int axes_keyval() {
  static const int key = [] {
    int k = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &k, nullptr);
    return k;
  }();
  return key;
}

/// Owns a communicator of the ranks along a set of axes.
class communicator {
 public:
  communicator() = default;
  /// Takes over `comm`, whose ranks differ along `axes` only.
  communicator(MPI_Comm comm, unsigned axes, std::uint64_t mesh = 0)
      : comm_(comm), axes_(axes), mesh_(mesh) {
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_set_attr(comm_, axes_keyval(), reinterpret_cast<void*>(std::uintptr_t{axes}));
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
  }
  communicator(const communicator&) = delete;
  communicator& operator=(const communicator&) = delete;
  ~communicator() {
    int over = 0;
    MPI_Finalized(&over);
    if (!over && comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  }

  MPI_Comm handle() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  unsigned axes() const { return axes_; }
  /// The number of the mesh whose axes they are.
  std::uint64_t mesh() const { return mesh_; }

  /// A tag for messages that only the same call on another rank may match: calls that are under way
  /// at the same time get different ones. Ranks ask for tags in one order; 0 is never among them.
  int next_tag() const {
    constexpr unsigned tags = 32766;  // what MPI grants at least
    return 1 + static_cast<int>(tag_.fetch_add(1, std::memory_order_relaxed) % tags);
  }

  /// In checked builds: do all ranks of this communicator make the same call, with the same
  /// history? A program whose ranks diverge is reported here rather than left hanging.
  /// `elements` stands for the type of what travels.
  void agree(const char* call, index_t count, unsigned elements) const {
#ifdef DIMESH_CHECKED
    for (const char* c = call; *c != 0; ++c) mix(static_cast<unsigned char>(*c));
    mix(static_cast<std::uint64_t>(count));
    mix(elements);
    std::int64_t low = static_cast<std::int64_t>(hash_ >> 2);
    std::int64_t both[2] = {low, -low};
    check(PMPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_INT64_T, MPI_MIN, comm_), call);
    if (both[0] != -both[1])
      throw error(
          std::string(call) + ": the ranks of this communicator make different calls (rank " +
          std::to_string(world_rank()) + " is about to do '" + call + "' with " +
          std::to_string(count) + " elements); all ranks along an axis must run one program");
#else
    (void)call;
    (void)count;
    (void)elements;
#endif
  }

 private:
  // There in every build: files of one program that differ in DIMESH_CHECKED share this type.
  void mix(std::uint64_t v) const { hash_ = (hash_ ^ v) * 1099511628211ull; }
  mutable std::uint64_t hash_ = 14695981039346656037ull;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  unsigned axes_ = 0;
  std::uint64_t mesh_ = 0;
  mutable std::atomic<unsigned> tag_{0};
};

}  // namespace dimesh::detail
