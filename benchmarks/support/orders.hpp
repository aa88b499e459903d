// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What benchmarks of orders share: numbers that stand in no order, a twin's first few of them, and
// one line for each operation beside its twin.
//
//   comparison compare;
//   compare("sort", rows, columns, [&] { ... }, [&] { ... });   compare.say();
#pragma once

#include <dimesh/error.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "race.hpp"

namespace bench {

inline std::size_t at(dimesh::index_t i) { return static_cast<std::size_t>(i); }

/// Numbers in [0, 1), by a linear congruence.
inline void mix(float* x, dimesh::index_t n, unsigned state) {
  for (dimesh::index_t i = 0; i < n; ++i) {
    state = state * 1664525u + 1013904223u;
    x[i] = static_cast<float>(state >> 8) * 0x1p-24f;
  }
}
/// The first 8 of all places, in order of their elements, the greatest first.
inline void first_eight(const float* x, std::vector<std::int32_t>& places) {
  std::iota(places.begin(), places.end(), 0);
  std::partial_sort(
      places.begin(), places.begin() + 8, places.end(),
      [x](std::int32_t a, std::int32_t b) { return x[a] > x[b] || (x[a] == x[b] && a < b); });
}

/// Races an operation with its twin. Bar: 1.1 of the twin's time.
struct comparison {
  MPI_Comm comm = MPI_COMM_NULL;  // ranks that start together, if there are several
  bool tells = true;
  double budget = 1.0;
  int bars = 0, met = 0;

  template <class F, class Twin>
  void operator()(const std::string& what, dimesh::index_t rows, dimesh::index_t columns, F&& f,
                  Twin&& twin) {
    auto [typed, hand] = race(comm, budget)(f, twin);
    ++bars;
    met += report(what + ", " + std::to_string(rows) + "x" + std::to_string(columns), typed, {hand},
                  1.1, true, !tells);
  }
  void say() const {
    if (tells) std::printf("%d of %d bars met\n", met, bars);
  }
};

}  // namespace bench
