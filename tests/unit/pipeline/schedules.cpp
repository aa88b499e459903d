// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/pipeline/schedules.hpp"

#include <doctest/doctest.h>

#include <string>

#include "dimesh/pipeline/bidirectional.hpp"
#include "dimesh/pipeline/check.hpp"
#include "dimesh/pipeline/operation.hpp"
#include "dimesh/pipeline/simulate.hpp"
#include "dimesh/pipeline/slices.hpp"
#include "dimesh/pipeline/stale.hpp"
#include "dimesh/pipeline/zero_bubble.hpp"
#include "unit/pipeline/clock.hpp"

namespace dm = dimesh;
using test_clock::run_clock;
using test_clock::ticks;

namespace {

constexpr dm::schedule_facts of_4_8 = dm::check_schedule(dm::one_f_one_b{4, 8});
static_assert(of_4_8.ok() && of_4_8.makespan == 33 && of_4_8.peak == 4 && of_4_8.messages == 48);
static_assert(of_4_8.bubble == 3. / 11 && !of_4_8.safe_blocking && of_4_8.safe_paired);
static_assert(dm::check_schedule(dm::gpipe{4, 8}).safe_blocking);
static_assert(dm::one_f_one_b{4, 8}.at(3, 1) ==
              dm::stage_operation{dm::stage_work::backward, 0, 3});
// Sizes that both compilers evaluate with their usual limits.
static_assert(dm::check_schedule(dm::interleaved{8, 16, 2}).makespan == 2 * 16 * 3 + 7 * 3);
static_assert(dm::check_schedule(dm::zb_h1{8, 16}).makespan == 16 * 3 + 7);
static_assert(dm::check_schedule(dm::zb_v{4, 8}).span == 2 * 8 * 3);
static_assert(dm::check_schedule(dm::chimera{4, 8}).ok());
static_assert(dm::check_schedule(dm::dual_pipe{4, 8}).ok());
static_assert(dm::check_schedule(dm::sliced{4, 8, 4}).ok());

constexpr dm::stage_times as_double(const ticks& t) {
  return {double(t.forward), double(t.input), double(t.weight), double(t.message)};
}

constexpr ticks several[] = {{1, 1, 1, 0}, {1, 2, 1, 0}, {3, 4, 2, 0}, {2, 2, 2, 1}, {2, 3, 1, 5}};

/// The library's facts are those of the clock, for several durations; they are given back for the
/// first of them.
template <class S> dm::schedule_facts agree(const S& s) {
  for (const ticks& t : several) {
    const auto facts = dm::check_schedule(s, as_double(t));
    const auto clock = run_clock(s, t);
    CAPTURE(s.ranks);
    CAPTURE(s.micros);
    CAPTURE(t.message);
    REQUIRE(facts.ok());
    CHECK(facts.makespan == clock.makespan);
    CHECK(facts.span == clock.span);
    CHECK(facts.peak == std::max(clock.held - (s.length(0) == s.micros ? clock.held - 1 : 0), 1));
    double idle = 0;
    for (const int i : clock.idle) idle += i;
    CHECK(facts.bubble == doctest::Approx(idle / clock.makespan / s.ranks));
  }
  return dm::check_schedule(s, as_double(several[0]));
}

}  // namespace

TEST_CASE("schedules: GPipe and 1F1B take (m + p - 1)(F + B), whatever F and B") {
  for (int p = 1; p <= 6; ++p)
    for (int m = 1; m <= 6; ++m) {
      agree(dm::gpipe{p, m});
      agree(dm::one_f_one_b{p, m});
      agree(dm::forward_only{p, m});
      for (const ticks& t : {several[0], several[1], several[2]}) {
        const double both = t.forward + t.input + t.weight;
        const auto g = dm::check_schedule(dm::gpipe{p, m}, as_double(t));
        const auto o = dm::check_schedule(dm::one_f_one_b{p, m}, as_double(t));
        const auto f = dm::check_schedule(dm::forward_only{p, m}, as_double(t));
        CHECK(g.makespan == (m + p - 1) * both);
        CHECK(o.makespan == g.makespan);
        CHECK(f.makespan == (m + p - 1) * t.forward);
        for (const double bubble : {g.bubble, o.bubble, f.bubble})
          CHECK(bubble == doctest::Approx((p - 1.) / (m + p - 1)));
        CHECK(g.peak == m);
        CHECK(f.peak == 1);
        CHECK(g.messages == 2 * m * (p - 1));
        CHECK(o.messages == g.messages);
        CHECK(f.messages == m * (p - 1));
        for (int r = 0; r < p; ++r)
          CHECK(dm::peak_held(dm::one_f_one_b{p, m}, r) == std::min(m, p - r));
      }
    }
}

TEST_CASE(
    "schedules: interleaved 1F1B has one v-th of the bubble, and a long warm-up hides messages") {
  for (int p = 1; p <= 6; ++p)
    for (int m = p; m <= 12; m += p)
      for (int v = 1; v <= 3; ++v) {
        const dm::interleaved whole{p, m, v}, brief{p, m, v, true};
        const auto f = agree(whole), g = agree(brief);
        CHECK(f.makespan == v * m * 3 + (p - 1) * 3);  // a stage is one v-th of a rank's work
        CHECK(g.makespan == f.makespan);
        CHECK(f.bubble == doctest::Approx((p - 1.) / (v * m + p - 1)));
        CHECK(f.peak == std::min(v * m, 2 * (p - 1) + (v - 1) * p + 1));
        CHECK(g.peak == std::min(v * m, (p - 1) + (v - 1) * p + 1));
      }
  CHECK_FALSE(dm::check_schedule(dm::interleaved{4, 6, 2}).ok());
  // Messages of half a forward pass, backward two of them.
  const dm::stage_times late{.message = .5};
  const auto whole = dm::check_schedule(dm::interleaved{4, 8, 2}, late);
  const auto brief = dm::check_schedule(dm::interleaved{4, 8, 2, true}, late);
  CHECK(whole.makespan == 64);
  CHECK(brief.makespan == 72);
  CHECK(whole.peak == 11);
  CHECK(brief.peak == 8);
}

TEST_CASE("schedules: zero bubble") {
  for (int p = 1; p <= 6; ++p)
    for (int m = 1; m <= 14; ++m) {
      const auto one = agree(dm::zb_h1{p, m}), two = agree(dm::zb_h2{p, m});
      const auto v = agree(dm::zb_v{p, m});
      CHECK(one.peak == std::min(m, p));
      CHECK(two.peak == std::min(m, 2 * p - 1));
      CHECK(v.peak == std::min(2 * m, 2 * p));
      if (m >= p) CHECK(one.makespan == m * 3 + (p - 1));
      // Ranks begin one after the other, and none waits from there to its end.
      if (m >= 2 * p - 1) {
        CHECK(two.span == m * 3);
        CHECK(two.makespan == m * 3 + p - 1);
        CHECK(v.span == 2 * m * 3);
        CHECK(v.makespan == 2 * m * 3 + p - 1);
      }
      // Against 1F1B, which has it all in one.
      CHECK(one.makespan <= dm::check_schedule(dm::one_f_one_b{p, m}).makespan);
    }
  // (p - 1)(F + B - W) where they differ, too.
  for (int p = 2; p <= 6; ++p) {
    const dm::stage_times t{.forward = 4, .backward_input = 5, .backward_weight = 3};
    CHECK(dm::check_schedule(dm::zb_h1{p, 4 * p}, t).makespan ==
          4 * p * 12 + (p - 1) * (4 + 5 - 3));
  }
}

/// Two steps, the second of which a rank begins as soon as it is done with the first.
template <class S> struct in_a_row {
  S one;
  int ranks = one.ranks, micros = 2 * one.micros;
  constexpr int stages() const { return one.stages(); }
  constexpr int rank_of(int stage, int) const { return one.rank_of(stage, 0); }
  constexpr int length(int rank) const { return 2 * one.length(rank); }
  constexpr dm::stage_operation at(int rank, int k) const {
    dm::stage_operation o = one.at(rank, k % one.length(rank));
    o.micro += k / one.length(rank) * one.micros;
    return o;
  }
};
TEST_CASE("schedules: what ZB-H2 saves is saved by the next step") {
  for (int p = 1; p <= 6; ++p)
    for (int m = 2 * p - 1; m <= 14; ++m) {
      const auto time = [](const auto& s, const dm::stage_times& t) {
        return dm::check_schedule(s, t).makespan;
      };
      const dm::stage_times even;
      CHECK(time(dm::zb_h2{p, m}, even) == time(dm::zb_h1{p, m}, even));
      CHECK(time(in_a_row<dm::zb_h2>{{p, m}}, even) == 2 * m * 3 + (p - 1));
      CHECK(time(in_a_row<dm::zb_h1>{{p, m}}, even) == 2 * (m * 3 + (p - 1)));
      const dm::stage_times t{.forward = 4, .backward_input = 5, .backward_weight = 3};
      const dm::zb_h2 one{p, m};
      CHECK(time(in_a_row<dm::zb_h2>{one}, t) - time(one, t) == m * 12 + (p - 1) * (4 + 5 - 2 * 3));
    }
}

TEST_CASE("schedules: Chimera and DualPipe") {
  const dm::stage_times even{.forward = 2, .backward_input = 1, .backward_weight = 1};
  for (int p = 2; p <= 8; p += 2) {
    for (int m = p; m <= 3 * p; m += p) {
      agree(dm::chimera{p, m});
      const auto f = dm::check_schedule(dm::chimera{p, m}, even);
      CHECK(f.makespan == 2 * (2 * m + p - 2));
      CHECK(f.bubble == doctest::Approx((p - 2.) / (2 * m + p - 2)));
      for (int r = 0; r < p; ++r) {
        const int held = dm::peak_held(dm::chimera{p, m}, r);
        CHECK(held >= p / 2 + (p == 2 ? 0 : 1));
        CHECK(held <= p);
      }
    }
    for (int m = 2 * p; m <= 4 * p; m += 2) {
      const auto f = agree(dm::dual_pipe{p, m});
      CHECK(f.makespan == m * 3 + (p / 2 - 1) * (3 + 2 - 3));  // F&B + B - 3W
      CHECK(f.peak == p + 1);
      for (const double w : {0.25, 1., 2.}) {  // the closed form's condition: F = B - W, W <= F
        const auto bubble = [&](double forward) {
          const auto run = dm::simulate(dm::dual_pipe{p, m}, dm::stage_times{forward, 2, w});
          return run.makespan() - m * (forward + 2 + w);
        };
        CHECK(bubble(2) == doctest::Approx((p / 2 - 1) * (2 + 2 * (2 + w) - 3 * w)));
        if (p > 2) CHECK(bubble(3) > 1.01 * (p / 2 - 1) * (3 + 2 * (2 + w) - 3 * w));
      }
    }
  }
  CHECK_FALSE(dm::check_schedule(dm::chimera{3, 6}).ok());
  CHECK_FALSE(dm::check_schedule(dm::dual_pipe{4, 6}).ok());
}

TEST_CASE("schedules: PipeDream keeps a version for each micro-batch under way, 2BW two") {
  for (int p = 1; p <= 6; ++p) {
    for (int r = 0; r < p; ++r) {
      const dm::pipedream stream{p, 24};
      const auto facts = dm::weight_facts_of(stream, r);
      CHECK(facts.available);
      CHECK(facts.versions == p - r);
      CHECK(facts.staleness == p - 1 - r);
      // The newest version that is there: one update for each backward before it.
      int updates = 0;
      for (int k = 0; k < stream.length(r); ++k) {
        const auto o = stream.at(r, k);
        if (o.work == dm::stage_work::forward) CHECK(stream.version(r, o.micro) == updates);
        updates += o.work == dm::stage_work::backward;
      }
      const auto two = dm::weight_facts_of(dm::pipedream_2bw{p, 24, 6}, r);
      CHECK(two.available);
      CHECK(two.versions == 2);
      CHECK(two.staleness == 1);
    }
    agree(dm::pipedream{p, 6});
    agree(dm::pipedream_2bw{p, 6, 6});
  }
  CHECK_FALSE(dm::check_schedule(dm::pipedream_2bw{4, 8, 2}).ok());
  // Without a second version the weights would not be there: each of four batches of two needs
  // those after the one before it, while it is still under way.
  struct eager : dm::pipedream_2bw {
    constexpr int version(int, int micro) const { return micro / accumulate; }
  };
  CHECK_FALSE(dm::weight_facts_of(eager{{4, 8, 4}}, 0).available);
}

TEST_CASE("schedules: slices of a sequence follow each other, and come back in reverse") {
  for (int p = 1; p <= 5; ++p)
    for (int slices = 1; slices <= 4; ++slices)
      for (int sequences = 1; sequences <= 3; ++sequences) {
        const auto f = agree(dm::sliced{p, sequences * slices, slices});
        CHECK(f.makespan == (sequences * slices + p - 1) * 3);
      }
  CHECK_FALSE(dm::check_schedule(dm::sliced{2, 6, 4}).ok());
  // In ascending order the way back would wait for itself.
  struct ascending : dm::sliced {
    constexpr dm::stage_operation at(int rank, int k) const {
      return dm::gpipe{ranks, micros}.at(rank, k);
    }
  };
  CHECK(dm::check_schedule(ascending{{2, 4, 2}}).fault == dm::schedule_fault::waits_for_ever);
}

TEST_CASE("schedules: gradients are summed in one order at each stage, under all that run") {
  const auto ascending = [](const auto& s) {
    for (int r = 0; r < s.ranks; ++r) {
      std::vector<int> next(static_cast<std::size_t>(s.stages()), 0);
      for (int k = 0; k < s.length(r); ++k) {
        const auto o = s.at(r, k);
        if (o.work == dm::stage_work::backward || o.work == dm::stage_work::backward_weight)
          CHECK(o.micro == next[static_cast<std::size_t>(o.stage)]++);
      }
    }
  };
  ascending(dm::gpipe{4, 8});
  ascending(dm::one_f_one_b{4, 8});
  ascending(dm::interleaved{4, 8, 3});
  ascending(dm::zb_h1{4, 8});
  ascending(dm::zb_v{4, 8});
  ascending(dm::zb_v{4, 3});
}

TEST_CASE("simulate: stages and slices may take times of their own") {
  struct uneven {
    double message = 0;
    double of(const dm::stage_operation& o) const { return o.stage == 1 ? 3 : 1; }
  };
  // The slow stage does six operations of three, after one forward and before one backward.
  CHECK(dm::check_schedule(dm::gpipe{3, 3}, uneven{}).makespan == 1 + 6 * 3 + 2 + 1);
  const dm::schedule_run run = dm::simulate(dm::gpipe{2, 2});
  CHECK(run.complete());
  CHECK(run.of(1)[0].begin == 1);
  CHECK(run.of(1)[0].what == dm::stage_operation{dm::stage_work::forward, 0, 1});
  CHECK(run.makespan() == 9);
}
