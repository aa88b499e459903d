// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do benchmarks of input pipelines measure? The best time of what a stage does and of the loop
// that one would write for it, and records in millions a second.
#pragma once

#include <dimesh/io/data/stage.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>

namespace bench {
namespace in = dimesh::input;
using dimesh::index_t;

inline double budget = 0.5;  // s for each number
inline bool talks = true;    // rank 0
inline std::size_t used = 0;

inline double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
/// The best time of f() among those that the budget allows.
template <class F> double best(const F& f) {
  double least = 1e30;
  for (const double end = seconds() + budget; seconds() < end;) {
    const double since = seconds();
    f();
    least = std::min(least, seconds() - since);
  }
  return least;
}
/// Records in millions a second, by the stage and by the loop.
template <class F, class Loop>
void compare(const char* what, index_t records, const F& f, const Loop& loop) {
  const double stage = best(f), plain = best(loop), n = static_cast<double>(records) / 1e6;
  if (talks)
    std::printf("%-34s %9.2f M records/s   plain loop %9.2f   ratio %.2f\n", what, n / stage,
                n / plain, plain / stage);
}
/// Needed one by one: no compiler adds them up beforehand.
inline void keep(index_t value) { asm volatile("" : : "r"(value)); }
template <class S> void read_all(const S& stage) {
  const auto pass = stage.epoch(0);
  for (index_t i = 0; i < pass.size(); ++i) keep(pass(i));
}
template <class R> std::size_t first_of(const R& r) {
  return std::size(r) == 0 ? 0 : static_cast<unsigned char>(*std::begin(r));
}
template <class S> void touch_all(const S& stage) {
  const auto pass = stage.epoch(0);
  for (index_t i = 0; i < pass.size(); ++i) used += first_of(pass(i));
}

}  // namespace bench
