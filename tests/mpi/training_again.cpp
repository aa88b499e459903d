// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A run that is started again by the same command, in the same folder, wherever it was told to end:
// its evaluations, what they end, and which was the best; what a step or an evaluation that goes
// wrong leaves behind.
//
// ranks: 1 2 4
#include <doctest/doctest.h>

#include <cmath>
#include <dimesh/dimesh.hpp>
#include <filesystem>

#include "dimesh/op/halo_exchange.hpp"
#include "dimesh/train/run.hpp"
#include "support/checkpoints.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
using dm::index_t, dm::loop_end;
using whole = dm::layout<plane>;

struct outcome {
  loop_end why;
  index_t done;
  std::string history;
  friend bool operator==(const outcome&, const outcome&) = default;
};
/// Twelve steps, the third, sixth, ... evaluated; the sixth evaluation would be the best.
outcome go(const dm::grid<plane>& g, const std::string& folder, index_t stop, index_t patience = 0,
           index_t evaluate_every = 3) {
  auto w = dm::constant<dm::tensor<double, whole, p>>(g, 0.5, p{2});
  dm::training_run run(g, {.steps = 12, .evaluate_every = evaluate_every, .patience = patience},
                       {.save = folder, .stop_after = stop});
  run.keep("w", w);
  run.loop.step = [](index_t n) -> dm::metrics { return {{"loss", static_cast<double>(n)}}; };
  if (evaluate_every > 0)
    run.loop.evaluate = [](index_t n) -> dm::metrics {
      return {{"loss", n <= 6 ? 7.0 - static_cast<double>(n) : static_cast<double>(n)}};
    };
  const loop_end why = run.go();
  return {why, run.steps_done(), run.history().text()};
}

TEST_CASE("training_run: told to end anywhere, the same command goes on as if it had not been") {
  with_grid([](const dm::grid<plane>& g) {
    const scratch straight("straight");
    const outcome all = go(g, straight.path, 0);
    CHECK(all.why == loop_end::steps_done);
    for (index_t stop = 1; stop <= 12; ++stop) {
      CAPTURE(stop);
      const scratch at("again");
      const outcome first = go(g, at.path, stop);
      CHECK(first.why == (stop < 12 ? loop_end::signal : loop_end::steps_done));
      for (int again = 0; again < 2; ++again) {  // the second time nothing is left to do
        const outcome rest = go(g, at.path, 0);
        CHECK(rest.why == loop_end::steps_done);
        CHECK(rest.done == (again == 0 ? 12 - stop : 0));
        CHECK(rest.history == all.history);
      }
    }
    // Told at every step.
    const scratch often("often");
    for (index_t stop = 1; stop <= 12; ++stop) CHECK(go(g, often.path, stop).done == 1);
    CHECK(go(g, often.path, 0).history == all.history);
  });
}

TEST_CASE("training_run: what evaluations have ended stays ended") {
  with_grid([](const dm::grid<plane>& g) {
    const scratch straight("patience");
    const outcome all = go(g, straight.path, 0, 1);
    CHECK(all.why == loop_end::no_better);
    CHECK(all.done == 9);
    CHECK(go(g, straight.path, 0, 1) == outcome{loop_end::no_better, 0, all.history});
    // The one that ends it is made up for.
    const scratch at("made_up");
    CHECK(go(g, at.path, 9, 1).why == loop_end::signal);
    CHECK(go(g, at.path, 0, 1) == outcome{loop_end::no_better, 0, all.history});
  });
}

TEST_CASE("training_run: evaluations that an earlier run did not have begin where it ended") {
  with_grid([](const dm::grid<plane>& g) {
    const scratch at("without");
    CHECK(go(g, at.path, 12, 0, 0).why == loop_end::steps_done);
    const outcome then = go(g, at.path, 0);
    CHECK(then.done == 0);
    CHECK(then.history.find("evaluation/loss\n12 ") != std::string::npos);
  });
}

TEST_CASE("training_run: an evaluation without its number leaves the save that is on its way") {
  with_grid([](const dm::grid<plane>& g) {
    const scratch at("lost");
    auto w = dm::constant<dm::tensor<double, whole, p>>(g, 0.5, p{2});
    dm::training_run run(g, {.steps = 9, .evaluate_every = 3, .save_every = 2}, {.save = at.path});
    run.keep("w", w);
    run.loop.step = [](index_t) -> dm::metrics { return {{"loss", 1}}; };
    run.loop.evaluate = [](index_t) -> dm::metrics { return {{"other", 1}}; };
    CHECK_THROWS_WITH_AS(run.go(),
                         doctest::Contains("the evaluation gives no 'loss', which options.watched"),
                         dm::error);
    CHECK(std::filesystem::exists(at.path + "/step-2"));
  });
}

using split_p = dm::layout<plane, dm::split<dm::uneven<p>, x>>;
std::vector<index_t> steps_in(const scratch& at) {
  return dm::detail::checkpoint::steps_in(at.path);
}

/// Learns by the square root of what is 0 in step 3: its loss is finite then, its gradient is not.
struct rooted {
  dm::loop_options when;
  bool takes_any = false, is_mended = false, may_be_infinite = false;

  loop_end go(const dm::grid<plane>& g, const std::string& folder) const {
    using X = dm::tensor<double, split_p, p>;
    auto w = dm::constant<X>(g, 1, p{5});
    dm::training_run run(g, when, {.save = folder, .check_finite = !may_be_infinite});
    run.keep("w", w);
    const auto step = dm::value_and_grad([](const auto& v) { return dm::sum(dm::sqrt(v)); }, w);
    run.loop.step = [&](index_t n) -> dm::metrics {
      if (n == 3 && !is_mended)
        w = dm::generate<X>(g, [](index_t i) { return 4.0 - double(i); }, p{5});
      const auto [loss, gradient] = dm::complete(step());
      const double norm = dm::global_norm(gradient);
      if (takes_any || std::isfinite(norm)) dm::sgd{.rate = 0.01}(w, gradient);
      return {{"loss", dm::value(loss)}, {"norm", norm}};
    };
    run.loop.diagnose = [&](index_t) { return run.find_not_finite([&] { (void)step(); }); };
    return run.go();
  }
};

TEST_CASE(
    "training_run: what is not finite is not saved, and the same command goes on from before") {
  with_grid([](const dm::grid<plane>& g) {
    const auto check = [&](rooted r, std::initializer_list<const char*> words) {
      const scratch at("rooted");
      const std::string text = said([&] { (void)r.go(g, at.path); });
      for (const char* const part : words) has(text, part);
      CHECK(dm::detail::text_from(g.everyone().handle(), 0, text) == text);
      CHECK(steps_in(at) == std::vector<index_t>{2});
      CHECK(said([&] { (void)r.go(g, at.path); }) == text);
      r.is_mended = true;
      CHECK(r.go(g, at.path) == loop_end::steps_done);
      CHECK(steps_in(at).back() == r.when.steps);
    };
    for (const index_t steps : {4, 9})  // to be saved as it ends, and on its way
      check({{.steps = steps, .save_every = 2}, true},
            {"training_run: 'w' is not finite at p 4, and step-4 is not saved; where a gradient"});
    check({{.steps = 9, .save_every = 2, .finite = {"norm"}}},
          {"training_loop: 'norm' is not finite in step 3: the way back of ",
           " gave a number that is not finite at p 4, from "});
    const scratch at("infinite");
    CHECK(rooted{{.steps = 4}, true, false, true}.go(g, at.path) == loop_end::steps_done);
    CHECK(steps_in(at) == std::vector<index_t>{4});
    has(said([&] { (void)rooted{{.steps = 4, .finite = {"norm", "size"}}}.go(g, ""); }),
        "training_loop: step 0 gives no 'size', which options.finite asks for");
  });
}

TEST_CASE("training_run: of a tensor that is saved, what halos hold may be infinite") {
  with_grid([](const dm::grid<plane>& g) {
    const auto go = [&](float first, const scratch& at) {
      auto x = dm::log(dm::halo_exchange<1, q>(
          dm::generate<dm::tensor<float, dm::layout<plane>, p, q>>(
              g, [&](index_t i, index_t j) { return first + static_cast<float>(i + j); }, p{2},
              q{3}),
          dm::boundary::zero));
      CHECK(dm::detail::first_bad(dm::detail::core_of(x)) == 0);
      dm::training_run run(g, {.steps = 1}, {.save = at.path});
      run.keep("x", x);
      run.loop.step = [](index_t) -> dm::metrics { return {{"loss", 1}}; };
      return run.go();
    };
    const scratch good("halo"), bad("halo_bad");
    CHECK(go(1, good) == loop_end::steps_done);
    has(said([&] { (void)go(-1, bad); }), "'x' is not finite at p 0, q 0, and step-1 is not saved");
  });
}

TEST_CASE("training_run: goes on without halos, which are not saved, not with those of before") {
  with_grid([](const dm::grid<plane>& g) {
    using X = dm::tensor<double, dm::layout<plane, dm::split<p, x>>, p>;
    const auto go = [&](auto& kept, index_t steps, const scratch& at) {
      dm::training_run run(g, {.steps = steps, .evaluate_every = 1}, {.save = at.path});
      run.keep("u", kept);
      run.loop.step = run.loop.evaluate = [](index_t) -> dm::metrics { return {{"loss", 1}}; };
      (void)run.go();
      return said([&] { (void)run.load_best(); });
    };
    const scratch at("halos_again");
    const std::string no = "training_run: 'u' carries halos, which are not saved; keep it without";
    auto haloed = dm::halo_exchange<1, p>(dm::constant<X>(g, 2, p{8}), dm::boundary::zero);
    has(go(haloed, 2, at), no);
    has(said([&] { (void)go(haloed, 3, at); }), no);
    auto plain = dm::constant<X>(g, 0, p{8});
    CHECK(go(plain, 3, at).empty());
    CHECK(dm::value(dm::complete(dm::sum(plain))) == 16);
  });
}

TEST_CASE("training_loop: whichever rank has a number that is none, all say the same of it") {
  const dm::grid<line> g;
  dm::training_loop loop(g, {.steps = 3, .finite = {"first", "second"}});
  loop.step = [&](index_t n) -> dm::metrics {
    const bool mine = n == 2 && g.rank() == g.ranks() - 1;
    return {{"second", n == 2 ? NAN : 0}, {"first", mine ? HUGE_VAL : 0}, {"loss", 1}};
  };
  CHECK(said([&] { (void)loop.run(); }) == "training_loop: 'first' is not finite in step 2");
}

TEST_CASE("training_loop: an evaluation that is no number is no better one") {
  with_grid([](const dm::grid<plane>& g) {
    dm::training_loop loop(g, {.steps = 9, .evaluate_every = 1, .patience = 3});
    loop.step = [](index_t) -> dm::metrics { return {{"loss", 1}}; };
    loop.evaluate = [](index_t n) -> dm::metrics { return {{"loss", n == 2 ? 5.0 : NAN}}; };
    dm::loop_state at;
    CHECK(loop.run(at) == loop_end::no_better);
    CHECK(at.best == 5);
    CHECK(at.step == 5);
  });
}

TEST_CASE("training_loop: whatever goes wrong at the end, the loss that is none comes first") {
  with_grid([](const dm::grid<plane>& g) {
    int asked = 0;
    dm::training_loop loop(g, {.steps = 1});
    loop.step = [](index_t) -> dm::metrics { return {{"loss", NAN}}; };
    loop.diagnose = [](index_t) -> std::string { throw std::runtime_error("no diagnosis"); };
    loop.at_end.push_back([&] { ++asked, throw 7; });
    loop.at_end.push_back([&] { ++asked; });
    CHECK_THROWS_WITH_AS(loop.run(), "training_loop: 'loss' is not finite in step 0: no diagnosis",
                         dm::error);
    CHECK(asked == 2);
    const dm::training_loop none(g, {.steps = 1});
    dm::training_loop other(g, {.steps = 1});
    other.step = none.step;  // none: not one that calls none
    CHECK_FALSE(other.step);
    other.evaluate = loop.evaluate;
    CHECK_FALSE(other.evaluate);
  });
}
}  // namespace
