// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The training loop: steps, evaluations and saves at their times, ends that all ranks take
// together; what histograms count under every layout; and who gave the first number that is none.
//
// ranks: 1 2 3 4
#include "dimesh/train/loop.hpp"

#include <doctest/doctest.h>

#include <census.hpp>
#include <dimesh/dimesh.hpp>

#include "dimesh/reflect/describe.hpp"
#include "dimesh/train/find_not_finite.hpp"
#include "dimesh/train/histogram.hpp"
#include "dimesh/train/memory_use.hpp"
#include "dimesh/train/summaries.hpp"
#include "support/laws.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
using dm::loop_end;
using dm::loop_state;
using dm::save_reason;

/// What a loop does, as text: s step, e evaluation, S B E saves.
struct script {
  std::string said;
  dm::training_loop loop;

  template <class G> script(const G& g, dm::loop_options options) : loop(g, std::move(options)) {
    loop.step = [this](index_t n) -> dm::metrics {
      said += "s" + std::to_string(n);
      return {{"loss", 1.0 / static_cast<double>(n + 1)}};
    };
    loop.save = [this](const loop_state& at, save_reason why) {
      said += (why == save_reason::scheduled ? "S"
               : why == save_reason::best    ? "B"
                                             : "E") +
              std::to_string(at.step);
    };
  }
};

TEST_CASE("training_loop: what happens when") {
  const dm::grid<line> g;
  script all(g, {.steps = 5, .evaluate_every = 2, .save_every = 3});
  all.loop.evaluate = [&](index_t n) -> dm::metrics {
    all.said += "e" + std::to_string(n);
    return {{"loss", n == 4 ? 2.0 : 1.0 / static_cast<double>(n)}};
  };
  std::string told;
  all.loop.after_step.push_back([&](index_t n, const dm::metrics& m) {
    told += std::to_string(n) + (m.at(0).name == "loss" ? "l" : "?");
  });
  loop_state at;
  CHECK(all.loop.run(at) == loop_end::steps_done);
  CHECK(all.said == "s0s1e2B2s2S3s3e4s4e5B5");
  CHECK(told == "1l2l3l4l5l");
  CHECK(at.step == 5);
  CHECK(at.best_step == 5);
  CHECK(at.best == 0.2);
  CHECK(all.loop.run(at) == loop_end::steps_done);  // nothing is left to do
  CHECK(all.said == "s0s1e2B2s2S3s3e4s4e5B5");
}

TEST_CASE("training_loop: goes on from any state as if it had never stopped") {
  const dm::grid<line> g;
  script whole(g, {.steps = 7, .save_every = 2});
  loop_state at;
  (void)whole.loop.run(at);
  for (index_t stop = 0; stop <= 7; ++stop) {
    script first(g, {.steps = stop, .save_every = 2}), second(g, {.steps = 7, .save_every = 2});
    loop_state here;
    (void)first.loop.run(here);
    (void)second.loop.run(here);
    CHECK(here.step == 7);
    std::string steps;
    for (const char c : first.said + second.said) steps += c;
    for (index_t n = 0; n < 7; ++n) CHECK(steps.find("s" + std::to_string(n)) != std::string::npos);
  }
}

TEST_CASE("training_loop: an evaluation that was due when it was told to end is made up for") {
  const dm::grid<line> g;
  const auto with_evaluations = [&](index_t stop, loop_state& at) {
    script s(g, {.steps = 7, .evaluate_every = 2, .stop_after = stop});
    s.loop.save = nullptr;
    s.loop.evaluate = [&s](index_t n) -> dm::metrics {
      s.said += "e" + std::to_string(n);
      return {{"loss", std::abs(static_cast<double>(n) - 3.5)}};
    };
    (void)s.loop.run(at);
    return s.said;
  };
  loop_state whole;
  const std::string all = with_evaluations(0, whole);
  CHECK(all == "s0s1e2s2s3e4s4s5e6s6e7");
  for (index_t stop = 1; stop <= 7; ++stop) {
    loop_state at;
    CHECK(with_evaluations(stop, at) + with_evaluations(0, at) == all);
    CHECK(at.best_step == whole.best_step);
    CHECK(at.without_better == whole.without_better);
  }
}

TEST_CASE("training_loop: steps that are left out have any loss, and not too many in a row") {
  const dm::grid<line> g;
  const auto go = [&](std::initializer_list<int> left_out) {
    dm::training_loop loop(g, {.steps = 9, .most_left_out = 3});
    loop.step = [&](index_t n) -> dm::metrics {
      const bool out = std::count(left_out.begin(), left_out.end(), static_cast<int>(n)) > 0;
      // One rank may see what others do not.
      return {{"loss", out && g.rank() == 0 ? std::nan("") : 1}, {"left out", double(out)}};
    };
    loop_state at;
    (void)loop.run(at);
    return at.step;
  };
  CHECK(go({0, 1, 2, 4, 5, 6, 8}) == 9);
  CHECK_THROWS_WITH_AS(
      go({2, 3, 4, 5}),
      "training_loop: 4 steps in a row were left out, the last one is step 5; their "
      "gradients are not finite whatever the factor of the loss",
      dm::error);
}

TEST_CASE("training_loop: patience, and higher that is better") {
  const dm::grid<line> g;
  for (const bool higher : {false, true}) {
    script s(g, {.steps = 100,
                 .evaluate_every = 1,
                 .patience = 3,
                 .watched = "score",
                 .higher_is_better = higher});
    s.loop.save = nullptr;
    s.loop.evaluate = [higher](index_t n) -> dm::metrics {
      const double distance = std::abs(static_cast<double>(n) - 4);
      return {{"other", 0}, {"score", higher ? -distance : distance}};
    };
    loop_state at;
    CHECK(s.loop.run(at) == loop_end::no_better);
    CHECK(at.step == 7);
    CHECK(at.best_step == 4);
    CHECK(at.best == 0);
  }
}

TEST_CASE("training_loop: a signal to one rank ends all of them after the same step, saved") {
  const dm::grid<line> g;
  for (const int signal : {SIGTERM, SIGUSR1}) {
    script s(g, {.steps = 100, .save_every = 1000});
    s.loop.step = [&](index_t n) -> dm::metrics {
      if (n == 3 && g.rank() == g.ranks() - 1) std::raise(signal);
      return {{"loss", 1}};
    };
    loop_state at;
    CHECK(s.loop.run(at) == loop_end::signal);
    CHECK(at.step == 4);
    CHECK(s.said == "E4");
  }
}

TEST_CASE("training_loop: one rank that wants to end ends all of them, saved") {
  const dm::grid<line> g;
  script s(g, {.steps = 100});
  s.loop.should_end = [&] {
    return g.rank() == g.ranks() - 1 && s.said.find("s2") != std::string::npos;
  };
  loop_state at;
  CHECK(s.loop.run(at) == loop_end::signal);
  CHECK(s.said == "s0s1s2E3");
}

TEST_CASE(
    "training_loop: a loss that is not finite on one rank is an error on all, with its cause") {
  const dm::grid<line> g;
  script s(g, {.steps = 10});
  s.loop.step = [&](index_t n) -> dm::metrics {
    return {{"loss", n == 2 && g.rank() == 0 ? std::nan("") : 1.0}};
  };
  s.loop.diagnose = [](index_t) { return std::string("here is why"); };
  loop_state at;
  CHECK_THROWS_WITH_AS((void)s.loop.run(at),
                       "training_loop: 'loss' is not finite in step 2: here is why", dm::error);
  CHECK(at.step == 2);
  CHECK(s.said.empty());  // nothing bad is saved
}

TEST_CASE("training_loop: mistakes of its caller") {
  const dm::grid<line> g;
  loop_state at;
  dm::training_loop none(g, {.steps = 1});
  CHECK_THROWS_WITH_AS((void)none.run(at), doctest::Contains("it has no step"), dm::error);
  CHECK_THROWS_WITH_AS(dm::training_loop(g, {.steps = -1}), doctest::Contains("not less than 0"),
                       dm::error);
  script s(g, {.steps = 1, .watched = "score"});
  s.loop.evaluate = [](index_t) -> dm::metrics { return {{"loss", 1}}; };
  CHECK_THROWS_WITH_AS(
      (void)s.loop.run(at),
      doctest::Contains("the evaluation gives no 'score', which options.watched asks for"),
      dm::error);
  const dm::stop_request one;
  CHECK_FALSE(one.asked());
  CHECK_THROWS_WITH_AS(dm::stop_request(), doctest::Contains("there is one already"), dm::error);
}

TEST_CASE("training_loop: one reduction of eight bytes a step") {
  const dm::grid<line> g;
  script s(g, {.steps = 3});
  s.loop.save = nullptr;
  census::reset();
  loop_state at;
  (void)s.loop.run(at);
  CHECK(census::snapshot().calls() == (g.ranks() > 1 ? 3 : 0));
}

TEST_CASE("histogram_of: each element once, under every layout") {
  for_each_case<plane, unevenly_with_partial, p, q>(
      {{4, 6}, {5, 3}, {0, 2}}, [](auto v, const array& a) {
        dm::value_histogram whole;
        for (const double e : a.values) whole.add(e);
        const auto h = dm::histogram_of(v);
        CHECK(h.count == whole.count);
        CHECK(h.min == whole.min);
        CHECK(h.max == whole.max);
        CHECK(h.sum == doctest::Approx(whole.sum));
        CHECK(h.sum_of_squares == doctest::Approx(whole.sum_of_squares));
        CHECK(h.buckets().counts == whole.buckets().counts);
        CHECK(h.buckets().limits == whole.buckets().limits);
      });
}

TEST_CASE("find_not_finite: the operation, the place, the rank; back, too") {
  const dm::grid<line> g;
  using X = dm::tensor<double, dm::layout<line, dm::split<dm::uneven<p>, x>>, p>;
  auto v = dm::constant<X>(g, 1, p{5});
  const auto run = [&] { return dm::find_not_finite(g, [&] { (void)dm::log(v - 2.0 + 0.5); }); };
  CHECK(run().find("log gave a number that is not finite at p 0, from operands that are finite on "
                   "rank 0 (operation ") == 0);
  CHECK(dm::find_not_finite(g, [&] { (void)dm::exp(v); }).empty());

  // In the last element: that of the last rank that has any.
  dm::fill_by(v, [](index_t i) { return i == 4 ? -1.0 : 1.0; });
  const std::string text = dm::find_not_finite(g, [&] { (void)dm::sqrt(v); });
  const index_t per_rank = (5 + g.ranks() - 1) / g.ranks();
  CHECK(text ==
        "sqrt gave a number that is not finite at p 4, from operands that are finite on "
        "rank " +
            std::to_string(4 / per_rank) + " (operation 1)");

  dm::fill_by(v, [](index_t i) { return i == 4 ? std::nan("") : 1.0; });
  CHECK(dm::find_not_finite(g, [&] {
          (void)(v + v);
        }).find("from operand 1, which has one at p 4 already") != std::string::npos);

  // sqrt is finite at 0, its derivative is not.
  dm::fill_by(v, [](index_t) { return 0.0; });
  const auto f = [](const auto& u) { return dm::sum(dm::sqrt(u)); };
  CHECK(dm::find_not_finite(g, [&] { (void)dm::value_and_grad(f, v)(); }).find("the way back of") ==
        0);
}

TEST_CASE("memory_in_use: what tensors ask for; describe_axes: the names in a set") {
  const dm::grid<line> g;
  using X = dm::tensor<double, dm::layout<line>, p>;
  const auto before = dm::memory_in_use();
  {
    const auto v = dm::constant<X>(g, 1, p{1000});
    dm::restart_peak_memory();
    CHECK(dm::memory_in_use().live == before.live + 8000);
    const auto w = dm::constant<X>(g, 1, p{500});
  }
  CHECK(dm::memory_in_use().live == before.live);
  CHECK(dm::memory_in_use().peak == before.live + 12000);
  dm::restart_peak_memory();
  CHECK(dm::memory_in_use().peak == before.live);
  CHECK(dm::describe_axes<plane>(3) == "x+y");
  CHECK(dm::describe_axes<plane>(2) == "y");
  CHECK(dm::describe_axes<plane>(0).empty());
}

}  // namespace
