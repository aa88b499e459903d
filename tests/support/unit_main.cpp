// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do tests without MPI run? With Kokkos initialised and a watchdog, as a plain program.
//
//   ./unit/layout --test-case="*spread*"   -> the usual doctest options
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <Kokkos_Core.hpp>

#include <dimesh/memory/pool.hpp>

#include "session.hpp"

int main(int argc, char** argv) {
  test_support::start_watchdog();
  Kokkos::ScopeGuard kokkos(argc, argv);
  dimesh::detail::pool::instance().spoil_fresh(true);  // what no kernel writes shall be seen
  doctest::Context context(argc, argv);
  context.setOption("no-colors", true);
  return context.run();
}
