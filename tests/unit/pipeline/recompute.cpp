// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: -O1
#include "dimesh/pipeline/recompute_plan.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <queue>
#include <random>
#include <unordered_map>
#include <vector>

#include "dimesh/pipeline/chain_plan.hpp"
#include "dimesh/pipeline/check_plan.hpp"
#include "dimesh/pipeline/revolve.hpp"
#include "dimesh/pipeline/two_levels.hpp"

namespace dm = dimesh;
using dm::plan_action;
using dm::plan_fault;
using dm::plan_level;
using enum dm::plan_work;

namespace {

static_assert(dm::RecomputePlan<dm::revolve> && dm::RecomputePlan<dm::chain_plan>);
static_assert(dm::RecomputePlan<dm::two_level_plan> && !dm::RecomputePlan<int>);
static_assert(dm::check_plan(dm::revolve{30, 4}).forward == 30 + dm::revolve_extra(30, 4));
static_assert(dm::check_plan(dm::cells{12, 4}).forward == 12 + 8);
static_assert(dm::plan_chain(dm::even_chain{}, 5, 12).fits());
static_assert(dm::plan_chain(dm::even_chain{}, 5, std::numeric_limits<long long>::max()).fits());
static_assert(dm::plan_two_levels(12, 2, 3, 3).extra() <= double(dm::revolve_extra(12, 2)));

/// The cheapest way back through a chain, by search over all that could be held: Dijkstra over what
/// is kept, written, taped, in hand and gone back. `keeps` forbids to let a kept state go before
/// the gradient is there. Memory as docs of check_plan.hpp say, written anew.
class search {
 public:
  search(const dm::chain& c, int steps, long long memory, int slots, bool disk, bool keeps)
      : c_(c), n_(steps), memory_(memory), slots_(slots), disk_(disk), keeps_(keeps) {}

  double run() {
    reach({0, 0, 0, 0, n_}, 0, 0);
    while (!queue_.empty()) {
      const auto [time, s] = queue_.top();
      queue_.pop();
      if (time > best_.at(s)) continue;
      if (s.next == 0) return time;
      from(s, time);
    }
    return -1;
  }

 private:
  struct state {
    int hand, kept, written, taped, next;
    auto operator<=>(const state&) const = default;
    struct hash {
      std::size_t operator()(const state& s) const {
        const auto all = static_cast<std::size_t>(s.hand + 1) | std::size_t(s.next) << 4 |
                         std::size_t(s.kept) << 8 | std::size_t(s.written) << 20 |
                         std::size_t(s.taped) << 32;
        return all * std::size_t{0x9e3779b97f4a7c15} >> 20;
      }
    };
  };
  bool bit(int set, int i) const { return i >= 0 && (set >> i & 1); }
  long long held(const state& s) const {
    long long sum = c_.state(s.next);
    for (int i = 0; i <= n_; ++i) {
      const bool here = bit(s.kept, i) || s.hand == i || bit(s.taped, i);
      if (here && !bit(s.taped, i - 1)) sum += c_.state(i);
      if (bit(s.taped, i)) sum += c_.tape(i);
    }
    return sum;
  }
  void reach(const state& s, double time, long long more) {
    if (held(s) + more > memory_) return;
    int kept = 0;
    for (int i = 0; i <= n_; ++i) kept += bit(s.kept, i);
    if (kept > slots_) return;
    const auto found = best_.find(s);
    if (found != best_.end() && found->second <= time) return;
    best_[s] = time;
    queue_.push({time, s});
  }
  void from(const state& s, double time) {
    const int i = s.hand;
    if (i >= 0 && i < s.next) {
      state t = s;
      t.hand = i + 1;
      // Both states at once, while it runs.
      state both = s;
      const bool apart = !bit(s.kept, i + 1) && !bit(s.taped, i + 1) && !bit(s.taped, i);
      if (held(both) + (apart ? c_.state(i + 1) : 0) <= memory_) reach(t, time + c_.forward(i), 0);
      if (!bit(s.taped, i)) {
        t.taped |= 1 << i;
        reach(t, time + c_.forward(i), 0);
      }
    }
    if (i >= 0 && !bit(s.kept, i)) {
      state t = s;
      t.kept |= 1 << i;
      reach(t, time, 0);
    }
    if (disk_ && i >= 0 && !bit(s.written, i)) {
      state t = s;
      t.written |= 1 << i;
      reach(t, time + c_.write, 0);
    }
    for (int j = 0; j <= n_; ++j) {
      state t = s;
      t.hand = j;
      if (bit(s.kept, j) || bit(s.taped, j) || bit(s.taped, j - 1)) reach(t, time, 0);
      if (bit(s.written, j)) reach(t, time + c_.read, 0);
      t = s;
      t.kept &= ~(1 << j);
      if (bit(s.kept, j) && (!keeps_ || s.next <= j)) reach(t, time, 0);
    }
    const int last = s.next - 1;
    if (bit(s.taped, last)) {
      state before = s, t = s;
      before.hand = t.hand = -1;
      t.taped &= ~(1 << last);
      t.next = last;
      if (held(before) + c_.state(last) <= memory_) reach(t, time + c_.backward(last), 0);
    }
  }

  const dm::chain& c_;
  int n_;
  long long memory_;
  int slots_;
  bool disk_, keeps_;
  std::unordered_map<state, double, state::hash> best_;
  using entry = std::pair<double, state>;
  std::priority_queue<entry, std::vector<entry>, std::greater<entry>> queue_;
};

/// A plan given as a list.
struct listed {
  int steps = 0;
  std::vector<plan_action> list = {};
  template <class Sink> void each(Sink&& sink) const {
    for (const plan_action& a : list) sink(a);
  }
};

int below(std::mt19937& draw, unsigned n) { return static_cast<int>(draw() % n); }

dm::chain random_chain(std::mt19937& draw, int steps) {
  dm::chain c;
  for (int i = 0; i < steps; ++i)
    c.all.push_back({double(below(draw, 4) + 1), double(below(draw, 4) + 1), 1 + below(draw, 3),
                     1 + below(draw, 4)});
  c.last_state = 1 + below(draw, 3);
  return c;
}

}  // namespace

TEST_CASE("recompute_plan: cells") {
  CHECK(dm::actions_of(dm::cells{6, 3}) == std::vector<plan_action>{{keep, 0, 0},
                                                                    {advance, 0, 3},
                                                                    {keep, 3, 3},
                                                                    {tape, 3, 6},
                                                                    {reverse, 3, 6},
                                                                    {drop, 3, 3},
                                                                    {load, 0, 0},
                                                                    {tape, 0, 3},
                                                                    {reverse, 0, 3},
                                                                    {drop, 0, 0}});
  for (int n = 1; n <= 40; ++n) {
    CHECK(dm::check_plan(dm::tape_all{n}).forward == n);
    CHECK(dm::check_plan(dm::tape_all{n}).memory == 1 + n + 1 + 1);
    // GPipe's stage: everything is run twice, and only the first state waits for the gradient.
    const auto stage = dm::check_plan(dm::cells{n, n, true});
    CHECK(stage.ok());
    CHECK(stage.forward == 2 * n);
    CHECK(stage.kept == 1);
    CHECK(stage.time == 2 * n + 2 * n);
    for (int length = 1; length <= n; ++length) {
      const auto f = dm::check_plan(dm::cells{n, length});
      const int count = (n + length - 1) / length, last = n - (count - 1) * length;
      CHECK(f.ok());
      CHECK(f.forward == 2 * n - last);
      CHECK(f.kept == count);
      CHECK(f.memory <= count + length + 2);
    }
    const auto root = dm::check_plan(dm::sqrt_cells(n));
    CHECK(root.forward < 2 * n);
    CHECK((root.kept - 1) * (root.kept - 1) < n);
    CHECK((root.memory - 4) * (root.memory - 4) <= 4 * n + 4);  // two roots, and what is in hand
  }
}

TEST_CASE("plans of nothing, or with room for nothing, are refused") {
  const auto all = [](const auto& plan) { (void)dm::actions_of(plan); };
  const auto said = [](const char* words) { return doctest::Contains(words); };
  CHECK_THROWS_WITH_AS(all(dm::sqrt_cells(0)), said("cells: 0 steps; a plan has 1 at least"),
                       dm::error);
  CHECK_THROWS_WITH_AS(all(dm::cells{6, 0}), said("cells: 0 steps a cell; a plan has 1 at least"),
                       dm::error);
  CHECK_THROWS_WITH_AS(all(dm::cells{6, -2}), said("cells: -2 steps a cell"), dm::error);
  CHECK_THROWS_WITH_AS(all(dm::revolve{0, 2}), said("revolve: 0 steps"), dm::error);
  CHECK_THROWS_WITH_AS(all(dm::revolve{5, 0}), said("revolve: 0 slots"), dm::error);
  CHECK_THROWS_WITH_AS((void)dm::revolve_extra(5, 0), said("revolve: 0 slots"), dm::error);
  CHECK_THROWS_WITH_AS((void)dm::plan_two_levels(0, 1, 1, 1), said("plan_two_levels: 0 steps"),
                       dm::error);
  CHECK_THROWS_WITH_AS((void)dm::plan_two_levels(4, -1, 1, 1), said("plan_two_levels: -1 slots"),
                       dm::error);
  CHECK_THROWS_WITH_AS((void)dm::plan_chain(dm::even_chain{}, 0, 12), said("plan_chain: 0 steps"),
                       dm::error);
  CHECK_THROWS_WITH_AS((void)dm::plan_chain(dm::even_chain{}, 3, 12, 0),
                       said("plan_chain: 0 units; a plan has 1 at least"), dm::error);
}

TEST_CASE("revolve: the closed form is the dynamic programme, and the plan has its cost") {
  const int most = 120, slots = 8;
  // extra[s][l]: the least over where the next state is kept.
  std::vector<std::vector<long long>> extra(slots + 1, std::vector<long long>(most + 1, 0));
  for (int s = 1; s <= slots; ++s)
    for (int l = 2; l <= most; ++l) {
      long long best = -1;
      for (int k = 1; k < l; ++k) {
        if (s == 1 && l - k > 1) continue;  // no state can be kept for the rest
        const auto here = k + extra[size_t(s - 1)][size_t(l - k)] + extra[size_t(s)][size_t(k)];
        if (best < 0 || here < best) best = here;
      }
      extra[size_t(s)][size_t(l)] = best;
    }
  for (int s = 1; s <= slots; ++s)
    for (int l = 1; l <= most; ++l) {
      CAPTURE(s);
      CAPTURE(l);
      CHECK(dm::revolve_extra(l, s) == extra[size_t(s)][size_t(l)]);
      const auto f = dm::check_plan(dm::revolve{l, s});
      REQUIRE(f.ok());
      CHECK(f.forward == l + extra[size_t(s)][size_t(l)]);
      CHECK(f.kept <= s);
    }
  CHECK(dm::revolve_extra(1, 1) == 0);
  CHECK(dm::revolve_extra(10, 1) == 45);
  CHECK(dm::revolve_reach(10, 3) == 286);
  CHECK(dm::revolve_reach(100, 100) == 1LL << 61);
  const auto long_one = dm::check_plan(dm::revolve{1000, 10});
  CHECK(long_one.kept == 10);
  CHECK(long_one.forward == 1000 + dm::revolve_extra(1000, 10));
  CHECK(long_one.memory == 10 + 4);  // a state in hand, a taped step, the cotangents of two states
}

TEST_CASE("plan_chain: as fast as anything that keeps states until the gradient is there") {
  std::mt19937 draw(7);
  int fits = 0, none = 0, again = 0;
  for (int round = 0; round < 26; ++round) {
    const int n = round < 21 ? 1 + round % 4 : round < 24 ? 5 : round - 18;  // 6 and 7 at last
    const dm::chain c = random_chain(draw, n);
    for (long long memory = n <= 5 ? 3 : 9; memory <= 21; memory += n <= 5 ? 2 : 4) {
      const auto plan = dm::plan_chain(c, n, memory);
      const double found = search(c, n, memory, 99, false, true).run();
      CAPTURE(n);
      CAPTURE(memory);
      CHECK(plan.time() == found);
      if (!plan.fits()) {
        ++none;
        continue;
      }
      const auto f = dm::check_plan(plan, c);
      REQUIRE(f.ok());
      CHECK(f.time == plan.time());
      CHECK(f.memory <= memory);
      ++fits;
      again += f.forward > n;
    }
  }
  CHECK(fits > 100);
  CHECK(none > 20);
  CHECK(again > 15);
}

TEST_CASE("plan_chain: coarse units stay within the memory, and cost little") {
  std::mt19937 draw(3);
  dm::chain c;
  for (int i = 0; i < 24; ++i)
    c.all.push_back({1. + below(draw, 9), 2. + below(draw, 9), 1000 + below(draw, 5000),
                     3000 + below(draw, 9000)});
  c.last_state = 2000;
  double before = -1;
  for (const int units : {64, 256, 1024}) {
    const auto plan = dm::plan_chain(c, 24, 70000, units);
    REQUIRE(plan.fits());
    const auto f = dm::check_plan(plan, c);
    CHECK(f.ok());
    CHECK(f.memory <= 70000);
    CHECK(f.time == plan.time());
    if (before > 0) CHECK(plan.time() <= before);
    before = plan.time();
  }
  CHECK_FALSE(dm::plan_chain(c, 24, 9000).fits());
  CHECK(dm::plan_chain(c, 24, 9000).time() == -1);
}

// Sizes of which an int does not hold as many units.
static_assert(!dm::plan_chain(dm::even_chain{.tape_size = 3LL << 30}, 2, 8).fits());
static_assert(!dm::plan_chain(dm::even_chain{.state_size = 1LL << 32}, 1, 8).fits());
static_assert(!dm::plan_chain(dm::even_chain{.tape_size = 1LL << 62}, 2, 1LL << 31).fits());
static_assert(dm::plan_chain(dm::even_chain{.tape_size = 3LL << 30}, 2, 1LL << 33).time() == 6);

TEST_CASE("two_level_plan: as fast as any search finds") {
  for (const int n : {1, 2, 3, 4, 5})
    for (const int slots : {0, 1, 2})
      for (const auto& [write, read] :
           std::vector<std::pair<double, double>>{{0.5, 0.5}, {1, 0}, {0, 1}, {2, 1}, {100, 100}}) {
        dm::chain c;
        for (int i = 0; i < n; ++i) c.all.push_back({1, 0, 1, 1});
        c.last_state = 1, c.write = write, c.read = read;
        const auto plan = dm::plan_two_levels(n, slots, write, read);
        const auto f = dm::check_plan(plan, c);
        CAPTURE(n);
        CAPTURE(slots);
        CAPTURE(write);
        CAPTURE(read);
        REQUIRE(f.ok());
        CHECK(f.kept <= slots);
        CHECK(f.time == n + plan.extra());
        // States cost nothing but their slot, and there is room for one taped step.
        dm::chain one = c;
        for (auto& step : one.all) step.state = 0;
        one.last_state = 0;
        CHECK(f.time == search(one, n, 1, slots, true, false).run());
        if (slots > 0 && write == 100) CHECK(plan.extra() == dm::revolve_extra(n, slots));
      }
}

TEST_CASE("two_level_plan: a disk for nothing is as good as room for all; a dear one is not used") {
  const auto free = dm::plan_two_levels(200, 2, 0, 0);
  CHECK(free.extra() == 199);  // up to the last state once; each step is then run from its own
  const auto dear = dm::plan_two_levels(200, 4, 1e6, 1e6);
  CHECK(dear.extra() == dm::revolve_extra(200, 4));
  CHECK(dm::check_plan(dear).writes == 0);
  const auto some = dm::check_plan(dm::plan_two_levels(1000, 5, 10, 10));
  CHECK(some.ok());
  CHECK(some.writes > 0);
  CHECK(some.kept == 5);
  CHECK(dm::plan_two_levels(1000, 5, 10, 10).extra() < double(dm::revolve_extra(1000, 5)));
}

TEST_CASE("check_plan: planted faults are found where they are") {
  const auto fault = [](std::vector<plan_action> list) {
    return dm::check_plan(listed{2, std::move(list)});
  };
  CHECK(fault({{tape, 0, 2}, {reverse, 0, 2}}).ok());
  CHECK(fault({{tape, 0, 3}}).fault == plan_fault::out_of_range);
  CHECK(fault({{tape, 1, 1}}).fault == plan_fault::out_of_range);
  CHECK(fault({{advance, 1, 2}}).fault == plan_fault::state_not_in_hand);
  CHECK(fault({{advance, 0, 1}, {keep, 0, 0}}).fault == plan_fault::state_not_in_hand);
  CHECK(fault({{advance, 0, 1}, {load, 0, 0}}).fault == plan_fault::state_not_kept);
  CHECK(fault({{keep, 0, 0}, {load, 0, 0, plan_level::disk}}).fault == plan_fault::state_not_kept);
  CHECK(fault({{drop, 0, 0}}).fault == plan_fault::state_not_kept);
  CHECK(fault({{keep, 0, 0}, {keep, 0, 0}}).fault == plan_fault::kept_twice);
  CHECK(fault({{advance, 0, 2}, {reverse, 1, 2}}).fault == plan_fault::step_not_taped);
  CHECK(fault({{tape, 0, 2}, {load, 0, 0}, {tape, 0, 1}}).fault == plan_fault::step_taped_already);
  CHECK(fault({{tape, 0, 2}, {reverse, 0, 1}}).fault == plan_fault::not_next);
  CHECK(fault({{tape, 0, 2}, {reverse, 1, 2}}).fault == plan_fault::steps_left);
  const auto f = fault({{keep, 0, 0}, {tape, 0, 2}, {reverse, 0, 2}});
  CHECK(f.fault == plan_fault::left_behind);
  CHECK(fault({{tape, 0, 1}, {tape, 1, 2}, {reverse, 0, 1}}).action == 2);
}
