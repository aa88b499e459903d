// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A grid before MPI has begun, and one after it has ended: our words, not MPI's.
// ranks: 1 2
// main: own
#include <dimesh/grid.hpp>
#include <dimesh/runtime.hpp>
#include <string>

struct rows : dimesh::axis<> {};
struct pod : dimesh::mesh<rows> {};

std::string complaint() {
  try {
    const dimesh::grid<pod> g;
  } catch (const dimesh::error& e) {
    return e.what();
  }
  return "";
}

int main(int argc, char** argv) {
  const bool before = complaint().starts_with("grid: MPI has not begun");
  const int during = dimesh::run(argc, argv, [] { return complaint().empty() ? 0 : 1; });
  const bool after = complaint().starts_with("grid: MPI has ended");
  return before && during == 0 && after ? 0 : 1;
}
