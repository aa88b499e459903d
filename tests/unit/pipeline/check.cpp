// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/pipeline/check.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "dimesh/pipeline/check_messages.hpp"
#include "dimesh/pipeline/checked_schedule.hpp"
#include "dimesh/pipeline/schedules.hpp"
#include "dimesh/pipeline/slices.hpp"
#include "dimesh/pipeline/zero_bubble.hpp"
#include "support/far_ahead.hpp"
#include "unit/pipeline/clock.hpp"

namespace dm = dimesh;
using dm::schedule_fault;
using dm::stage_operation;
using enum dm::stage_work;

namespace {

/// A schedule as lists, which can be spoilt.
struct listed {
  int ranks = 0, micros = 0, of_stages = 0;
  std::vector<std::vector<stage_operation>> lists = {};
  std::function<int(int, int)> place = {};
  int stages() const { return of_stages; }
  int rank_of(int stage, int micro) const { return place(stage, micro); }
  int length(int rank) const { return static_cast<int>(list(rank).size()); }
  stage_operation at(int rank, int k) const { return list(rank)[static_cast<std::size_t>(k)]; }
  const std::vector<stage_operation>& list(int r) const {
    return lists[static_cast<std::size_t>(r)];
  }
  std::vector<stage_operation>& list(int r) { return lists[static_cast<std::size_t>(r)]; }
};
static_assert(dm::PipelineSchedule<listed> && dm::PipelineSchedule<dm::zb_v>);
static_assert(!dm::PipelineSchedule<int>);

template <class S> listed as_lists(const S& s) {
  listed l{s.ranks, s.micros, s.stages()};
  l.place = [s](int stage, int micro) { return s.rank_of(stage, micro); };
  for (int r = 0; r < s.ranks; ++r) {
    l.lists.emplace_back();
    for (int k = 0; k < s.length(r); ++k) l.lists.back().push_back(s.at(r, k));
  }
  return l;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// With sends that wait for their receives: operations cut into their messages, and any two ranks
/// that stand at the two ends of one move on. The naive version of `safe_blocking`.
bool runs_blocking(const listed& s) {
  struct step {
    bool is_send;
    int other;
    stage_operation message;  // the operation that sends it
  };
  std::vector<std::vector<step>> programs(static_cast<std::size_t>(s.ranks));
  for (int r = 0; r < s.ranks; ++r)
    for (const stage_operation& o : s.list(r)) {
      if (o.work == backward_weight) continue;
      const int before = o.work == forward ? o.stage - 1 : o.stage + 1;
      const int after = o.work == forward ? o.stage + 1 : o.stage - 1;
      auto& mine = programs[static_cast<std::size_t>(r)];
      const auto add = [&](bool is_send, int stage, int sender) {
        if (stage < 0 || stage >= s.stages() || s.rank_of(stage, o.micro) == r) return;
        const auto work = o.work == forward ? forward : backward;
        mine.push_back({is_send, s.rank_of(stage, o.micro), {work, o.micro, sender}});
      };
      add(false, before, before);
      add(true, after, o.stage);
    }
  std::vector<std::size_t> at(programs.size(), 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t r = 0; r < programs.size(); ++r) {
      if (at[r] == programs[r].size()) continue;
      const step& a = programs[r][at[r]];
      const auto q = static_cast<std::size_t>(a.other);
      if (at[q] == programs[q].size()) continue;
      const step& b = programs[q][at[q]];
      if (b.other != static_cast<int>(r) || a.is_send == b.is_send || a.message != b.message)
        continue;
      ++at[r], ++at[q], moved = true;
    }
  }
  for (std::size_t r = 0; r < programs.size(); ++r)
    if (at[r] != programs[r].size()) return false;
  return true;
}

}  // namespace

TEST_CASE("check_schedule: what is wrong with the numbers") {
  CHECK(dm::check_schedule(dm::gpipe{0, 4}).fault == schedule_fault::does_not_fit);
  CHECK(dm::check_schedule(dm::gpipe{4, 0}).fault == schedule_fault::does_not_fit);
  const auto f = dm::check_schedule(dm::interleaved{4, 6, 2});
  CHECK(f.fault == schedule_fault::does_not_fit);
  CHECK(has(dm::in_words(f), "not made for these numbers"));
  CHECK(dm::in_words(dm::check_schedule(dm::gpipe{4, 4})).empty());
}

TEST_CASE("check_schedule: planted faults are found, and named") {
  const listed good = as_lists(dm::one_f_one_b{3, 4});
  REQUIRE(dm::check_schedule(good).ok());

  SUBCASE("a send without a receive") {
    listed s = good;
    s.list(2).erase(s.list(2).begin());  // the forward of micro-batch 0
    const auto f = dm::check_schedule(s);
    CHECK(f.fault == schedule_fault::operation_never);
    CHECK(f.rank == 2);
    CHECK(f.what == stage_operation{forward, 0, 2});
    CHECK(
        dm::in_words(f) ==
        "rank 2 never does the forward pass of micro-batch 0 through stage 2, and nobody else has "
        "that stage");
  }
  SUBCASE("a receive without a send") {
    listed s = good;
    s.list(2).pop_back();
    const auto f = dm::check_schedule(s);
    CHECK(f.fault == schedule_fault::operation_never);
    CHECK(f.what == stage_operation{backward_input, 3, 2});
    CHECK(has(dm::in_words(f), "never does the gradient of the input for micro-batch 3"));
  }
  SUBCASE("the order swapped on one side") {
    listed s = as_lists(dm::gpipe{3, 4});
    std::swap(s.list(1)[1], s.list(1)[2]);
    const auto f = dm::check_schedule(s);
    CHECK(f.fault == schedule_fault::messages_out_of_order);
    CHECK(f.rank == 1);
    CHECK(f.place == 2);
    CHECK(f.what == stage_operation{forward, 1, 1});
    CHECK(f.awaited == stage_operation{forward, 2, 0});
    CHECK(has(dm::in_words(f), "receives what was sent before"));
  }
  SUBCASE("a rank waits for itself") {
    listed s = good;
    std::swap(s.list(2)[0], s.list(2)[1]);
    const auto f = dm::check_schedule(s);
    CHECK(f.fault == schedule_fault::waits_for_ever);
    CHECK(f.rank == 2);
    CHECK(f.place == 0);
    CHECK(f.awaited == stage_operation{forward, 0, 2});
    CHECK(has(dm::in_words(f), "waits for ever for the forward pass of micro-batch 0"));
    CHECK(test_clock::run_clock(s).makespan == -1);
  }
  SUBCASE("two ranks wait for each other") {
    // Rank 1 wants the first gradient before it sends the third micro-batch, rank 2 that one first.
    listed s = as_lists(dm::gpipe{2, 2});
    s.list(0) = {{forward, 0, 0}, {backward, 0, 0}, {forward, 1, 0}, {backward, 1, 0}};
    const auto f = dm::check_schedule(s);
    CHECK(f.fault == schedule_fault::waits_for_ever);
    CHECK(f.rank == 0);
    CHECK(f.place == 1);
    CHECK(f.awaited == stage_operation{backward, 0, 1});
    CHECK(test_clock::run_clock(s).makespan == -1);
  }
  SUBCASE("the gradient of weights before that of the input") {
    listed s = as_lists(dm::zb_h1{2, 3});
    auto& list = s.list(0);
    std::size_t input = 0, weight = 0;
    for (std::size_t k = 0; k < list.size(); ++k) {
      if (list[k] == stage_operation{backward_input, 1, 0}) input = k;
      if (list[k] == stage_operation{backward_weight, 1, 0}) weight = k;
    }
    std::swap(list[input], list[weight]);
    const auto f = dm::check_schedule(s);
    CHECK(f.fault == schedule_fault::waits_for_ever);
    CHECK(f.what == stage_operation{backward_weight, 1, 0});
    CHECK(f.awaited == stage_operation{backward_input, 1, 0});
    CHECK(has(dm::in_words(f), "the gradient of the weights for micro-batch 1"));
  }
  SUBCASE("an operation of another rank, an unknown one, one that is done twice") {
    listed s = good;
    s.list(1)[3].stage = 2;
    CHECK(dm::check_schedule(s).fault == schedule_fault::operation_elsewhere);
    CHECK(has(dm::in_words(dm::check_schedule(s)), "belongs to another rank"));
    s = good;
    s.list(1)[3].micro = 4;
    CHECK(dm::check_schedule(s).fault == schedule_fault::operation_unknown);
    CHECK(has(dm::in_words(dm::check_schedule(s)), "does not exist"));
    s = good;
    s.list(1).push_back({backward_weight, 0, 1});
    const auto f = dm::check_schedule(s);
    CHECK(f.fault == schedule_fault::operation_twice);
    CHECK(f.awaited == stage_operation{backward, 0, 1});
    CHECK(has(dm::in_words(f), "has been done before"));
  }
}

TEST_CASE("check_schedule: gradients are summed in ascending order") {
  listed s = as_lists(dm::zb_h1{2, 3});
  const auto place_of = [&s](int rank, const stage_operation& o) {
    int k = 0;
    while (s.at(rank, k) != o) ++k;
    return k;
  };
  const int one = place_of(0, {backward_weight, 1, 0}), two = place_of(0, {backward_weight, 2, 0});
  auto& first = s.list(0);
  const stage_operation late = first[static_cast<std::size_t>(one)];
  first.erase(first.begin() + one);
  first.insert(first.begin() + two, late);
  const auto f = dm::check_schedule(s);
  CHECK(f.fault == schedule_fault::backward_not_ascending);
  CHECK(f.rank == 0);
  CHECK(f.place == two);
  CHECK(f.awaited == stage_operation{backward_weight, 2, 0});
  CHECK(has(dm::in_words(f), "sums of gradients would have other bits than under other schedules"));
}

TEST_CASE("check_schedule: every single operation left out or swapped is found or harmless") {
  // Whatever is called right comes to its end on the clock; whatever is called a deadlock does not.
  int faults = 0, harmless = 0;
  for (int p = 1; p <= 3; ++p)
    for (int m = 1; m <= 4; ++m) {
      const listed good = as_lists(dm::one_f_one_b{p, m});
      for (int r = 0; r < p; ++r)
        for (int i = 0; i < good.length(r); ++i) {
          listed less = good;
          less.list(r).erase(less.list(r).begin() + i);
          // (One operation forward, and nothing else, is a schedule of its own.)
          const bool alone = p * m == 1 && i == 1;
          CHECK((dm::check_schedule(less).fault == schedule_fault::operation_never) == !alone);
          for (int j = i + 1; j < good.length(r); ++j) {
            listed s = good;
            std::swap(s.list(r)[static_cast<std::size_t>(i)],
                      s.list(r)[static_cast<std::size_t>(j)]);
            const auto f = dm::check_schedule(s);
            const bool ends = test_clock::run_clock(s).makespan >= 0;
            CHECK((f.fault == schedule_fault::waits_for_ever) == !ends);
            CHECK(f.safe_blocking == (f.ok() && runs_blocking(s)));
            ++(f.ok() ? harmless : faults);
          }
        }
    }
  CHECK(faults > 200);
  CHECK(harmless > 5);
}

TEST_CASE("check_schedule: blocking messages") {
  for (int p = 1; p <= 5; ++p)
    for (int m = p; m <= 3 * p; m += p) {
      const auto same = [](const auto& s) {
        const auto f = dm::check_schedule(s);
        CHECK(f.safe_blocking == runs_blocking(as_lists(s)));
        if (f.safe_blocking) CHECK(f.safe_paired);
        CHECK(f.window == 1);
        return f;
      };
      CHECK(same(dm::gpipe{p, m}).safe_blocking);
      CHECK(same(dm::forward_only{p, m}).safe_blocking);
      const auto f = same(dm::one_f_one_b{p, m});
      CHECK(f.safe_blocking == (p == 1 || m == 1));
      CHECK(f.safe_paired);
      same(dm::interleaved{p, m, 2});
      same(dm::zb_h1{p, m});
      same(dm::zb_v{p, m});
    }
}

/// With this many messages of a stage and direction under way at a time: the messages themselves,
/// in queues, one event at a time, ranks in an order of chance. The naive version of `window`.
bool runs_queued(const listed& s, int window, std::mt19937& chance) {
  struct message {
    int sender, stage, micro;
    bool forward;
    bool operator==(const message&) const = default;
  };
  std::vector<message> posted;  // receives that have begun, and are not over
  std::vector<message> queue;  // sends that have not been taken
  enum class phase { receive, await, send };
  std::vector<phase> now(static_cast<std::size_t>(s.ranks), phase::receive);
  std::vector<int> at(static_cast<std::size_t>(s.ranks), 0);
  const auto lies = [](const std::vector<message>& all, const message& m) {
    return std::find(all.begin(), all.end(), m);
  };
  const auto event = [&](int rank) {
    const auto r = static_cast<std::size_t>(rank);
    if (at[r] == s.length(rank)) return false;
    const stage_operation o = s.at(rank, at[r]);
    const bool ahead = o.work == forward;
    const int from = ahead ? o.stage - 1 : o.stage + 1, to = ahead ? o.stage + 1 : o.stage - 1;
    const auto elsewhere = [&](int stage) {
      return o.work != backward_weight && stage >= 0 && stage < s.stages() &&
             s.rank_of(stage, o.micro) != rank;
    };
    const auto next = [&](phase p) {
      now[r] = p;
      return true;
    };
    if (now[r] == phase::receive) {
      if (!elsewhere(from)) return next(phase::send);
      posted.push_back({s.rank_of(from, o.micro), from, o.micro, ahead});
      return next(phase::await);
    }
    if (now[r] == phase::await) {
      const message m{s.rank_of(from, o.micro), from, o.micro, ahead};
      const auto sent = lies(queue, m);
      if (sent == queue.end()) return false;
      queue.erase(sent);
      posted.erase(lies(posted, m));
      return next(phase::send);
    }
    if (elsewhere(to)) {
      // Of those under way, the first must have been taken, if there is no more room.
      std::vector<message> mine;
      for (const message& m : queue)
        if (m.sender == rank && m.stage == o.stage && m.forward == ahead) mine.push_back(m);
      if (mine.size() == static_cast<std::size_t>(window) &&
          lies(posted, mine.front()) == posted.end())
        return false;
      queue.push_back({rank, o.stage, o.micro, ahead});
    }
    ++at[r];
    return next(phase::receive);
  };
  std::vector<int> order(static_cast<std::size_t>(s.ranks));
  std::iota(order.begin(), order.end(), 0);
  for (bool moved = true; moved;) {
    moved = false;
    std::shuffle(order.begin(), order.end(), chance);
    for (const int rank : order) moved = event(rank) || moved;
  }
  for (int r = 0; r < s.ranks; ++r)
    if (at[static_cast<std::size_t>(r)] != s.length(r)) return false;
  return true;
}

TEST_CASE("check_schedule: how many messages of a stage and direction must be under way") {
  std::mt19937 chance(1);
  int most = 0;
  const auto check = [&](const auto& s) {
    const auto f = dm::check_schedule(s);
    if (!f.ok()) return 0;
    const listed l = as_lists(s);
    CAPTURE(s.ranks);
    CAPTURE(s.micros);
    CAPTURE(f.window);
    CHECK(runs_queued(l, f.window, chance));
    if (f.window > 1) CHECK_FALSE(runs_queued(l, f.window - 1, chance));
    if (f.window > most) most = f.window;
    return f.window;
  };
  // The second rank's second message back waits until the first is taken, after the first rank's
  // last forward message; the fourth of those waits for the second rank's third operation forward.
  for (int m = 1; m <= 9; ++m) CHECK(check(test_support::far_ahead{2, m}) == (m <= 3 ? 1 : m / 2));
  for (int p = 1; p <= 4; ++p)
    for (int m = 1; m <= 3 * p; ++m) {
      CHECK(check(dm::gpipe{p, m}) == 1);
      CHECK(check(dm::forward_only{p, m}) == 1);
      CHECK(check(dm::one_f_one_b{p, m}) == 1);
      CHECK(check(dm::zb_h1{p, m}) == 1);
      CHECK(check(dm::zb_h2{p, m}) == 1);
      CHECK(check(dm::zb_v{p, m}) == 1);
      CHECK(check(dm::sliced{p, m, 1}) == 1);
      if (m % 3 == 0) CHECK(check(dm::sliced{p, m, 3}) == 1);
      for (int chunks = 1; m % p == 0 && chunks <= 3; ++chunks) {
        CHECK(check(dm::interleaved{p, m, chunks}) == 1);
        const int few = check(dm::interleaved{p, m, chunks, true});
        CHECK((few == 1 || (p >= 3 && m >= 2 * p && few < m)));
      }
    }
  // Whatever order a rank goes forward and back in, as far as that runs.
  int ran = 0;
  for (int again = 0; again < 2000; ++again) {
    const int p = 2 + again % 3, m = 3 + again % 5;
    listed s = as_lists(dm::gpipe{p, m});
    for (auto& list : s.lists) {
      std::vector<stage_operation> ahead, back;
      for (const stage_operation& o : list) (o.work == forward ? ahead : back).push_back(o);
      list.clear();
      for (std::size_t f = 0, g = 0; g < back.size();)
        list.push_back(f < ahead.size() && (f == g || chance() % 2 == 0) ? ahead[f++] : back[g++]);
    }
    ran += check(s) > 0;
  }
  CHECK(ran > 100);
  CHECK(most >= 4);
}

/// One rank that does the forward and the backward pass of its micro-batch as one: the second
/// waits for the first, which is not over before it.
struct pass_within_pass {
  int ranks = 1, micros = 1;
  constexpr int stages() const { return 1; }
  constexpr int rank_of(int, int) const { return 0; }
  constexpr int length(int) const { return 2; }
  constexpr dm::stage_operation at(int, int k) const {
    return {k == 0 ? dm::stage_work::forward : dm::stage_work::backward, 0, 0};
  }
  constexpr bool together(int, int k) const { return k == 0; }
};
TEST_CASE("operations that are done as one do not wait for one another") {
  const auto facts = dm::check_schedule(pass_within_pass{});
  CHECK(facts.fault == dm::schedule_fault::waits_for_ever);
}

TEST_CASE("checked_schedule: facts, or the reason") {
  constexpr auto facts = dm::checked_schedule<dm::one_f_one_b{.ranks = 4, .micros = 8}>();
  static_assert(facts.peak == 4);
  CHECK(dm::checked_schedule(dm::one_f_one_b{4, 8}).makespan == facts.makespan);
  listed s = as_lists(dm::gpipe{2, 2});
  s.list(1).pop_back();
  try {
    dm::checked_schedule(s);
    FAIL("no error");
  } catch (const dm::error& e) {
    CHECK(has(e.what(), "checked_schedule: this schedule cannot run: rank 1 never does"));
  }
  // Beyond what a compiler evaluates: the same check when the program runs.
  CHECK(dm::checked_schedule(dm::one_f_one_b{64, 1024}).makespan == (1024 + 63) * 3);
}
