// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a typed move compare with the same MPI call on a raw buffer? In time, and in the bytes
// that the profiling interface counts.
//
//   contest c(g.along<line>(), 0.1);
//   c.compare("all_reduce", 1024, [&] { ... }, [&] { MPI_Allreduce(...); });   // prints a line
//   c.print_score();
#pragma once

#include <census.hpp>

#include "race.hpp"

namespace bench {

/// Races between the ranks of a communicator, and how many bars were met.
class contest {
 public:
  /// Budget: seconds a race.
  contest(MPI_Comm comm, double budget) : comm_(comm), budget_(budget) {
    PMPI_Comm_rank(comm, &rank_);
  }

  /// A move of so many bytes; from 1 KiB on there is a bar to its time, and to its bytes always.
  template <class F, class Twin>
  void compare(const char* what, long bytes, F&& f, Twin&& twin, double bar = 1.02) {
    auto [typed, raw] = race(comm_, budget_)(f, twin);
    const auto mine = bytes_of(f), theirs = bytes_of(twin);
    char text[96];
    const char* unit = bytes >= 1 << 20 ? "MiB" : bytes >= 1 << 10 ? "KiB" : "B";
    std::snprintf(text, sizeof text, "%-26s %4ld %-3s %s", what,
                  bytes >= 1 << 20   ? bytes >> 20
                  : bytes >= 1 << 10 ? bytes >> 10
                                     : bytes,
                  unit,
                  mine == theirs  ? "= bytes"
                  : mine < theirs ? "< bytes"
                                  : "MORE BYTES");
    const bool good = report(text, typed, {raw}, bar, true, rank_ != 0) && mine <= theirs;
    ++(bytes >= 1 << 10 ? bars_ : below_);
    (bytes >= 1 << 10 ? met_ : met_below_) += good;
  }
  void print_score() const {
    if (rank_ == 0)
      std::printf("%d of %d bars met; %d of %d below 1 KiB, where there are none\n", met_, bars_,
                  met_below_, below_);
  }

 private:
  template <class F> static std::int64_t bytes_of(F&& f) {
    const auto before = census::snapshot();
    f();
    return (census::snapshot() - before).bytes();
  }
  MPI_Comm comm_;
  double budget_;
  int rank_ = 0, bars_ = 0, met_ = 0, below_ = 0, met_below_ = 0;
};

}  // namespace bench
