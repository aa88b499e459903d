// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How much slower than its hand-written twin is a typed program, on a machine where other things
// run as well? Both run in one process and take turns; every round gives each a sample, and equal
// percentiles of the two samples are compared: other people's work moves both alike.
//
//   race r(MPI_COMM_NULL);                               // or a communicator: ranks start together
//   auto [typed, twin] = r([&] { ... }, [&] { ... });    // seconds a call
//   report("gelu, forward", typed, {twin}, 0.95);        // prints times, ratios, PASS or short
//
// Of one process the fast end counts, the tenth percentile: what others do on the machine only
// adds. Of several ranks it is the median: when all of them happen to be awake is chance. Both are
// printed.
#pragma once

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

namespace bench {

/// What one contestant took, in seconds a call, sorted.
struct sample {
  std::vector<double> seconds;
  bool ranks = false;  // of several ranks
  double at(double quantile) const {
    return seconds[static_cast<std::size_t>(quantile * static_cast<double>(seconds.size() - 1))];
  }
  double fast() const { return at(0.1); }
  double counts() const { return ranks ? median() : fast(); }
  double median() const { return at(0.5); }
  /// Half the distance between the quartiles, in parts of the median.
  double spread() const { return (at(0.75) - at(0.25)) / 2 / median(); }
};

class race {
 public:
  /// Ranks of `comm` start each sample together, and the slowest counts. `budget`: seconds in all.
  explicit race(MPI_Comm comm, double budget = 1.0, int least_rounds = 25)
      : comm_(comm), budget_(budget), least_(least_rounds) {
#ifndef __OPTIMIZE__
    std::fprintf(stderr, "not optimised, as in the build of the tests: use scripts/bench.sh\n");
#endif
  }

  template <class... F> std::array<sample, sizeof...(F)> operator()(F&&... f) const {
    constexpr int n = sizeof...(F);
    (f(), ...);
    (f(), ...);
    // As many calls a sample as last about 100 microseconds, and as many rounds as the budget
    // holds.
    std::array<int, n> calls{};
    std::array<double, n> once{};
    int i = 0;
    ((once[static_cast<std::size_t>(i)] = shared(first_guess(f)), ++i), ...);
    double round = 0;
    for (int k = 0; k < n; ++k) {
      const double t = std::max(once[static_cast<std::size_t>(k)], 1e-9);
      calls[static_cast<std::size_t>(k)] = std::clamp(static_cast<int>(1e-4 / t), 1, 100000);
      round += t * calls[static_cast<std::size_t>(k)];
    }
    const int rounds = std::clamp(static_cast<int>(budget_ / round), least_, 2000);
    std::array<sample, n> out;
    for (int r = 0; r < rounds; ++r)
      for (int k = 0; k < n; ++k) {
        const int who = (r % 2 == 0 ? k : n - 1 - k);  // neither always follows the other
        int j = 0;
        ((j++ == who ? out[static_cast<std::size_t>(who)].seconds.push_back(
                           timed(f, calls[static_cast<std::size_t>(who)]))
                     : void()),
         ...);
      }
    for (sample& s : out) finish(s);
    return out;
  }

 private:
  template <class F> double timed(F& f, int calls) const {
    if (comm_ != MPI_COMM_NULL) PMPI_Barrier(comm_);
    const double start = PMPI_Wtime();
    for (int c = 0; c < calls; ++c) f();
    return (PMPI_Wtime() - start) / calls;
  }
  template <class F> double first_guess(F& f) const {
    double best = 1e30;
    for (int k = 0; k < 3; ++k) best = std::min(best, timed(f, 1));
    return best;
  }
  double shared(double t) const {
    if (comm_ != MPI_COMM_NULL) PMPI_Allreduce(MPI_IN_PLACE, &t, 1, MPI_DOUBLE, MPI_MAX, comm_);
    return t;
  }
  void finish(sample& s) const {
    if (comm_ != MPI_COMM_NULL)
      PMPI_Allreduce(MPI_IN_PLACE, s.seconds.data(), static_cast<int>(s.seconds.size()), MPI_DOUBLE,
                     MPI_MAX, comm_);
    std::sort(s.seconds.begin(), s.seconds.end());
    s.ranks = comm_ != MPI_COMM_NULL;
  }
  MPI_Comm comm_;
  double budget_;
  int least_;
};

/// The head of a table of reports.
inline void headline(const char* what) {
  std::printf("%-44s %11s %11s %7s  %7s %8s %8s  %s\n", what, "typed us", "twin us", "spread",
              "ratio", "(fast)", "(median)", "bar");
}

/// One line. Ratio: the twin's time by the typed program's (speed), against a bar from below; or
/// with `slowdown`, the other way round, against a bar from above. Returns whether the bar is met.
inline bool report(const std::string& what, const sample& typed, const std::vector<sample>& twins,
                   double bar, bool slowdown = false, bool quiet = false) {
  const auto ratio_of = [&](double (sample::*time)() const) {
    double best = 1e30;
    for (const sample& t : twins) best = std::min(best, (t.*time)());
    return slowdown ? (typed.*time)() / best : best / (typed.*time)();
  };
  const double ratio = ratio_of(&sample::counts);
  const bool met = slowdown ? ratio <= bar : ratio >= bar;
  const double twin = slowdown ? typed.counts() / ratio : typed.counts() * ratio;
  if (!quiet)
    std::printf("%-44s %11.2f %11.2f %6.1f%%  %7.3f %8.3f %8.3f  %s %.2f %s\n", what.c_str(),
                typed.counts() * 1e6, twin * 1e6, 100 * typed.spread(), ratio,
                ratio_of(&sample::fast), ratio_of(&sample::median), slowdown ? "<=" : ">=", bar,
                met ? "PASS" : "short");
  std::fflush(stdout);
  return met;
}

}  // namespace bench
