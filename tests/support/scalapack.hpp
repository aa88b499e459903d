// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where does ScaLAPACK say that an entry of an array is? By the arithmetic of its Users' Guide, for
// tests that ask without it; and what they need of the BLACS where the build has it.
//
//   place_of(i, block, processes, first)   -> which process has entry i (from 0), and where
//   const context with(g);                 // of a process grid: with.handle() is a descriptor's
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "dimesh/interop/scalapack.hpp"

#ifdef DIMESH_TEST_SCALAPACK
extern "C" {
int Csys2blacs_handle(MPI_Comm);
void Cfree_blacs_system_handle(int);
void Cblacs_gridmap(int*, const int*, int, int, int);
void Cblacs_gridinfo(int, int*, int*, int*, int*);
void Cblacs_gridexit(int);
}
#endif

namespace test_support {

/// Users' Guide, section 4.3.2: which process has entry i (from 0), and where.
struct entry {
  dimesh::index_t process, local;
};
inline entry place_of(dimesh::index_t i, dimesh::index_t block, dimesh::index_t processes,
                      dimesh::index_t first = 0) {
  return {(first + i / block) % processes, i / block / processes * block + i % block};
}

/// This process's row and column in a process grid; -1, -1 where it has none.
inline entry seat_in(const dimesh::process_grid& g) {
  int me = 0;
  MPI_Comm_rank(g.comm, &me);
  const auto found = std::find(g.at.begin(), g.at.end(), me);
  if (found == g.at.end()) return {-1, -1};
  return {(found - g.at.begin()) % g.rows, (found - g.at.begin()) / g.rows};
}

#ifdef DIMESH_TEST_SCALAPACK
/// A BLACS context over a process grid.
class context {
 public:
  explicit context(const dimesh::process_grid& g) {
    system_ = Csys2blacs_handle(g.comm);
    ++users()[system_];
    handle_ = system_;
    Cblacs_gridmap(&handle_, g.at.data(), g.rows, g.rows, g.columns);
    const entry me = seat_in(g);
    if (me.process < 0) return;
    int rows = 0, columns = 0, row = 0, column = 0;
    Cblacs_gridinfo(handle_, &rows, &columns, &row, &column);
    CHECK(rows == g.rows);
    CHECK(columns == g.columns);
    CHECK(row == me.process);
    CHECK(column == me.local);
  }
  context(const context&) = delete;
  ~context() {
    if (handle_ >= 0) Cblacs_gridexit(handle_);
    if (--users()[system_] == 0) Cfree_blacs_system_handle(system_);
  }
  /// Negative where this process has no part.
  int handle() const { return handle_; }

 private:
  /// Of each system handle: of one communicator the BLACS give the same again.
  static std::map<int, int>& users() {
    static std::map<int, int> all;
    return all;
  }
  int system_ = 0, handle_ = 0;
};
#endif

}  // namespace test_support
