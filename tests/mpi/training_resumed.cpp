// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs that go on in other folders than that from which they come; which evaluation was the best,
// and on whose word; the tensors of then.
//
// ranks: 1 2 4
// labels: device
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <dimesh/dimesh.hpp>
#include <iostream>
#include <sstream>

#include "dimesh/train/run.hpp"
#include "support/checkpoints.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
using dm::index_t;
using whole = dm::layout<plane>;
using split_p = dm::layout<plane, dm::split<dm::uneven<p>, x>>;
std::vector<index_t> steps_in(const scratch& at) {
  return dm::detail::checkpoint::steps_in(at.path);
}

/// Twelve steps, of which w counts; each third is evaluated, and the sixth is the best.
template <class L, class F>
void count_to_twelve(const dm::grid<plane>& g, const dm::run_options& how, const F& then,
                     bool evaluates = true) {
  auto w = dm::constant<dm::tensor<double, L, p>>(g, 0, p{5});
  dm::training_run run(g, {.steps = 12, .evaluate_every = 3, .save_every = 5}, how);
  run.keep("w", w);
  run.loop.step = [&](index_t n) -> dm::metrics {
    dm::fill(w, static_cast<double>(n + 1));
    return {{"loss", 1}};
  };
  if (evaluates)
    run.loop.evaluate = [](index_t n) -> dm::metrics {
      return {{"loss", std::abs(static_cast<double>(n) - 6.5)}};
    };
  (void)run.go();
  then(run, [&w] { return dm::value(dm::complete(dm::sum(w))) / 5; });
}

TEST_CASE("training_run: the best step is kept, and its tensors can be had") {
  with_grid([](const dm::grid<plane>& g) {
    const scratch at("best"), other("other");
    const auto check = [](dm::training_run& run, const auto& count) {
      CHECK(run.best_step() == 6);
      CHECK(run.best() == 0.5);
      CHECK(count() == 12);
      CHECK(run.load_best() == 6);
      CHECK(count() == 6);
    };
    count_to_twelve<split_p>(g, {.save = at.path}, check);
    CHECK(steps_in(at) == std::vector<index_t>{6, 10, 12});
    count_to_twelve<whole>(g, {.save = at.path}, check);
    count_to_twelve<split_p>(g, {.save = other.path, .resume = at.path}, check);
    CHECK(steps_in(other) == std::vector<index_t>{12});
    count_to_twelve<whole>(g, {.save = other.path}, check);  // it is not in `other`
    const scratch third("third");
    count_to_twelve<whole>(g, {.save = third.path, .resume = at.path + "/step-10"}, check);
    // A best step of its own that was not saved is not that of another run, which has one there.
    auto w = dm::constant<dm::tensor<double, whole, p>>(g, 0, p{5});
    dm::training_run unsaved(g, {.steps = 12}, {.resume = at.path + "/step-10"});
    unsaved.keep("w", w);
    unsaved.loop.step = [](index_t) -> dm::metrics { return {{"loss", 1}}; };
    unsaved.loop.evaluate = [](index_t) -> dm::metrics { return {{"loss", 0}}; };
    (void)unsaved.go();
    CHECK(unsaved.best_step() == 12);
    has(said([&] { (void)unsaved.load_best(); }), "no checkpoint; give a folder in run_options");
    const auto none = [](dm::training_run& run, const auto&) {
      has(said([&] { (void)run.load_best(); }),
          run.best_step() == 0 ? "load_best: there is no best evaluation"
                               : "after 6 steps, of which there is no "
                                 "checkpoint; give a folder in run_options.save");
    };
    count_to_twelve<whole>(g, {}, none);
    count_to_twelve<whole>(g, {}, none, false);
  });
}

TEST_CASE("training_run: the best evaluation was made up for at the start of a run without saves") {
  with_grid([](const dm::grid<plane>& g) {
    const scratch first("first_best"), second("second_best");
    // w at the end; w and the step of load_best.
    const auto go = [&](index_t steps, double by, double loss_at_4, const dm::run_options& how) {
      auto w = dm::constant<dm::tensor<double, whole, p>>(g, 0, p{5});
      dm::training_run run(g, {.steps = steps, .evaluate_every = 2, .save_every = 2}, how);
      run.keep("w", w);
      run.loop.step = [&](index_t) -> dm::metrics {
        w = w + by;
        return {{"loss", 1}};
      };
      run.loop.evaluate = [&](index_t n) -> dm::metrics {
        return {{"loss", n == 4 ? loss_at_4 : 1}};
      };
      (void)run.go();
      const double last = dm::value(dm::sum(w)) / 5;
      const index_t best = run.load_best();
      CHECK(best == run.best_step());
      return std::array{last, static_cast<double>(best), dm::value(dm::sum(w)) / 5};
    };
    using three = std::array<double, 3>;
    CHECK(go(4, 1, 5, {.save = first.path}) == three{4, 2, 2});
    CHECK(go(6, 10, 5, {.save = second.path, .resume = first.path + "/step-2", .stop_after = 4}) ==
          three{22, 2, 2});
    CHECK(go(4, 10, 0.5, {.resume = second.path}) == three{22, 4, 22});
    CHECK(go(4, 10, 0.5, {.resume = second.path + "/step-4"}) == three{22, 4, 22});
  });
}

TEST_CASE("training_run: resumed from one folder into another, and told to end, by one command") {
  with_grid([](const dm::grid<plane>& g) {
    const scratch first("first"), second("second");
    const auto go = [&](const dm::run_options& how) {
      auto w = dm::constant<dm::tensor<double, whole, p>>(g, 0, p{5});
      dm::training_run run(g, {.steps = 9, .save_every = 2}, how);
      run.keep("w", w);
      run.loop.step = [&w](index_t) -> dm::metrics {
        w = w + 1.0;
        return {{"loss", 1}};
      };
      (void)run.go();
      return std::pair(run.steps_done(), dm::value(dm::complete(dm::sum(w))) / 5);
    };
    using done = std::pair<index_t, double>;
    CHECK(go({.save = first.path, .stop_after = 3}) == done(3, 3));
    const auto same = [&](index_t stop) {
      return go({.save = second.path, .resume = first.path + "/", .stop_after = stop});
    };
    std::ostringstream heard;
    std::streambuf* const usual = std::cerr.rdbuf(heard.rdbuf());
    CHECK(same(5) == done(2, 5));
    CHECK(heard.str().empty());
    CHECK(same(7) == done(2, 7));
    CHECK(same(0) == done(2, 9));
    CHECK(same(0) == done(0, 9));
    std::cerr.rdbuf(usual);
    CHECK((heard.str().find("goes on from '" + second.path) != std::string::npos) ==
          (g.rank() == 0));
  });
}

TEST_CASE("training_loop: ranks whose evaluations differ do not part") {
  with_grid([](const dm::grid<plane>& g) {
    dm::training_loop loop(g, {.steps = 6, .evaluate_every = 1, .patience = 2});
    std::vector<index_t> saved;
    const auto w = dm::constant<dm::tensor<double, split_p, p>>(g, 1, p{5});
    loop.step = [](index_t) -> dm::metrics { return {{"loss", 1}}; };
    loop.evaluate = [&g](index_t n) -> dm::metrics {  // only the first rank's gets no better
      const double mine = g.rank() == 0 ? 1 : 1 - 0.01 * static_cast<double>(n);
      return {{"loss", mine}};
    };
    loop.save = [&](const dm::loop_state& at, dm::save_reason) {
      saved.push_back(at.step);
      CHECK(dm::value(dm::complete(dm::sum(w))) == 5);  // a collective
    };
    CHECK(loop.run() == dm::loop_end::no_better);
    CHECK(saved == std::vector<index_t>{1, 3});
    loop.evaluate = [&g](index_t) -> dm::metrics {
      if (g.rank() == 0) return {};
      return {{"loss", 1}};
    };
    CHECK(has(said([&] { (void)loop.run(); }), "the evaluation gives no 'loss'"));
    const scratch at("differ");
    auto v = dm::constant<dm::tensor<double, split_p, p>>(g, 1, p{5});
    dm::training_run run(g, {.steps = 4, .evaluate_every = 1}, {.save = at.path});
    run.keep("v", v);
    run.loop.step = loop.step;
    run.loop.evaluate = [&g](index_t n) -> dm::metrics {
      return {{"loss", 1 + static_cast<double>(g.rank() * n) / 3}};
    };
    CHECK(run.go() == dm::loop_end::steps_done);
    CHECK(run.load_best() == 1);
  });
}
}  // namespace
