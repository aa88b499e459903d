// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Does a kernel rely on running in one piece, from first to last? It must not: these stand in for
// the spaces of a threaded Kokkos, which the tests are seldom built with.
//
//   map<reversed>(n, f, y, x);   // in up to three pieces, the last one first
//   map<threaded>(n, f, y, x);   // each piece on a thread of its own
//
// Included before all else (-include support/shuffled.hpp), it makes `reversed` the space of every
// kernel that is not told its space.
#pragma once

#ifdef DIMESH_TEST_REVERSED
#define DIMESH_TEST_SPACE ::dimesh_test::reversed
#endif

namespace dimesh_test {
struct reversed {};
struct threaded {};
}  // namespace dimesh_test

#include "dimesh/local/pieces.hpp"

#include <thread>
#include <vector>

namespace dimesh::local::detail {

template <> inline constexpr bool runs_on_host<dimesh_test::reversed> = true;
template <> inline constexpr bool runs_on_host<dimesh_test::threaded> = true;

template <> struct pieces<dimesh_test::reversed> {
  static constexpr index_t most() { return 3; }
  static constexpr index_t at_once() { return 3; }
  static void run(index_t count, const work_in_pieces& work) {
    for (index_t p = count; p-- > 0;) work(p);
  }
};

template <> struct pieces<dimesh_test::threaded> {
  static constexpr index_t most() { return 3; }
  static constexpr index_t at_once() { return 3; }
  static void run(index_t count, const work_in_pieces& work) {
    std::vector<std::thread> threads;
    for (index_t p = 0; p < count; ++p) threads.emplace_back([&work, p] { work(p); });
    for (std::thread& t : threads) t.join();
  }
};

}  // namespace dimesh::local::detail
