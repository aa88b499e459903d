// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Is there a shorter schedule, or one as short that holds less? All orders of operations are tried
// for few ranks and micro-batches, operations of one tick each: what the schedules' headers claim
// to be least is.
//
// options: -O1
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "dimesh/pipeline/check.hpp"
#include "dimesh/pipeline/schedules.hpp"
#include "dimesh/pipeline/zero_bubble.hpp"

namespace dm = dimesh;

namespace {

/// Stages s, on rank s % ranks, whose micro-batches come in order; `parts` is 2 (forward, backward)
/// or 3 (forward, input, weight). A rank holds at most caps[rank] activations of a stage.
struct problem {
  int ranks, micros, parts, chunks = 1;
  std::vector<int> caps = {};
  int stages() const { return ranks * chunks; }
};

/// How many micro-batches each part of each stage is through with.
class done_so_far {
 public:
  int at(int part, int stage) const {
    return static_cast<int>(bits_ >> (3 * (18 * part + stage)) & 7u);
  }
  void add(int part, int stage) { bits_ += key{1} << (3 * (18 * part + stage)); }
  bool operator==(const done_so_far&) const = default;
  struct hash {
    std::size_t operator()(const done_so_far& d) const {
      const auto mixed =
          static_cast<std::uint64_t>(d.bits_ ^ (d.bits_ >> 61)) * std::uint64_t{0x9e3779b97f4a7c15};
      return static_cast<std::size_t>(mixed ^ (mixed >> 29));
    }
  };

 private:
  __extension__ using key = unsigned __int128;  // 18 stages of two parts, or six of three
  key bits_ = 0;
};

bool can(const problem& p, const done_so_far& d, int part, int stage) {
  const int n = d.at(part, stage);
  if (n == p.micros) return false;
  if (part == 2) return d.at(1, stage) > n;
  if (part == 1) return d.at(0, stage) > n && (stage + 1 == p.stages() || d.at(1, stage + 1) > n);
  if (stage > 0 && d.at(0, stage - 1) <= n) return false;
  int held = 0;
  for (int s = stage % p.ranks; s < p.stages(); s += p.ranks)
    held += d.at(0, s) - d.at(p.parts - 1, s);
  return p.caps.empty() || held < p.caps[static_cast<std::size_t>(stage % p.ranks)];
}

/// As many ticks it takes at least: a rank's operations one after the other. Of two parts, its last
/// is a backward one, of a stage r or later, which r earlier stages follow.
int least_left(const problem& p, const done_so_far& d) {
  int least = 0;
  for (int r = 0; r < p.ranks; ++r) {
    int left = 0;
    for (int s = r; s < p.stages(); s += p.ranks)
      for (int part = 0; part < p.parts; ++part) left += p.micros - d.at(part, s);
    if (left > 0 && p.parts == 2) left += r;
    least = std::max(least, left);
  }
  return least;
}

class search {
 public:
  explicit search(const problem& p) : p_(p) {}
  /// The ticks of the shortest schedule, if there is one within a limit; else limit + 1.
  int shortest(int limit) {
    std::vector<done_so_far> level{done_so_far{}};
    for (int tick = 0; tick <= limit; ++tick) {
      next_.clear(), seen_.clear();
      for (const done_so_far& d : level) {
        const int left = least_left(p_, d);
        if (left == 0) return tick;
        if (tick + left <= limit) step(d, d, 0);
      }
      level = next_;
    }
    return limit + 1;
  }

 private:
  /// Ranks from r on do one of the operations that they could when the tick began, or none.
  void step(const done_so_far& before, const done_so_far& now, int r) {
    if (r == p_.ranks) {
      if (seen_.insert(now).second) next_.push_back(now);
      return;
    }
    step(before, now, r + 1);
    for (int s = r; s < p_.stages(); s += p_.ranks)
      for (int part = 0; part < p_.parts; ++part) {
        if (!can(p_, before, part, s)) continue;
        done_so_far after = now;
        after.add(part, s);
        step(before, after, r + 1);
      }
  }
  problem p_;
  std::vector<done_so_far> next_;
  std::unordered_set<done_so_far, done_so_far::hash> seen_;
};
int shortest(const problem& p, int limit) { return search(p).shortest(limit); }

/// In ticks, where backward takes as long as forward; or each of its parts does.
constexpr dm::stage_times whole{.forward = 1, .backward_input = .5, .backward_weight = .5};

}  // namespace

TEST_CASE("no schedule is shorter than 1F1B, and none as short holds less on any rank") {
  for (int p = 1; p <= 6; ++p)
    for (int m = 1; m <= 6; ++m) {
      CAPTURE(p);
      CAPTURE(m);
      const dm::one_f_one_b s{p, m};
      const int time = static_cast<int>(dm::check_schedule(s, whole).makespan);
      problem all{p, m, 2};
      CHECK(shortest(all, time) == time);
      for (int r = 0; r < p; ++r) all.caps.push_back(dm::peak_held(s, r));
      CHECK(shortest(all, time) == time);
      for (int r = 0; r < p; ++r) {
        problem less = all;
        less.caps.assign(static_cast<std::size_t>(p), m);
        if (--(less.caps[static_cast<std::size_t>(r)] = dm::peak_held(s, r)) > 0)
          CHECK(shortest(less, time) == time + 1);
      }
    }
}

TEST_CASE("no schedule of several stages a rank is shorter than the interleaved one") {
  for (int v = 2; v <= 3; ++v)
    for (int p = 1; p <= 6; ++p)
      for (int m = p; m <= 6; m += p) {
        CAPTURE(p);
        CAPTURE(m);
        CAPTURE(v);
        const dm::interleaved s{p, m, v};
        const int time = static_cast<int>(dm::check_schedule(s, whole).makespan);
        CHECK(shortest({p, m, 2, v}, time - 1) == time);
        if (p * v <= 10) CHECK(shortest({p, m, 2, v}, time) == time);
      }
  // And for any number: the last rank begins after p - 1 operations forward; whatever it does last
  // goes back through a stage p - 1 or later, and p - 1 follow it.
  for (int p = 1; p <= 6; ++p)
    for (int m = p; m <= 12; m += p)
      for (int v = 1; v <= 3; ++v)
        CHECK(dm::check_schedule(dm::interleaved{p, m, v}, whole).makespan ==
              (p - 1) + 2 * v * m + (p - 1));
}

TEST_CASE("no schedule that holds p micro-batches a rank is shorter than ZB-H1") {
  for (int p = 1; p <= 6; ++p)
    for (int m = 1; m <= 6; ++m) {
      CAPTURE(p);
      CAPTURE(m);
      const dm::zb_h1 s{p, m};
      const int time = static_cast<int>(dm::check_schedule(s).makespan);
      const problem all{p, m, 3, 1, std::vector<int>(static_cast<std::size_t>(p), p)};
      CHECK(shortest(all, time) == time);
    }
}
