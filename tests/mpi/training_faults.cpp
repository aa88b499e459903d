// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What goes wrong in a run, and who says so: a number that is none, in a parameter that has a name;
// a disk that is full, on all ranks; a rank that stalls, on stderr. And who is told to end.
//
// ranks: 1 2 4 6
// labels: device
// alone: stderr is redirected
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <dimesh/dimesh.hpp>
#include <thread>

#include "dimesh/train/run.hpp"
#include "dimesh/train/trace_steps.hpp"
#include "support/checkpoints.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
using dm::index_t;
using dm::loop_end;
using split_p = dm::layout<plane, dm::split<dm::uneven<p>, x>>;

template <class L> struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer, (dm::tensor<double, L, p>, up), (dm::tensor<double, L, p>, down));
};
template <class L> struct network {
  using both = std::array<layer<L>, 2>;
  BOOST_HANA_DEFINE_STRUCT(network, (both, layers));
};
/// log(up) * down, twice: of numbers above 1 finite.
struct loss {
  template <class W> auto operator()(const W& w) const {
    const auto& [a, b] = w.layers;
    return dm::mean(dm::log(dm::log(a.up) * a.down + b.up) * b.down);
  }
};
network<split_p> twos(const dm::grid<plane>& g) {
  return dm::build_tensors<network<split_p>>(
      [&](const auto&, auto t) { return dm::constant<typename decltype(t)::type>(g, 2, p{5}); });
}

/// The last step that is there, 0: none.
index_t last_saved(const scratch& at) {
  const auto steps = dm::detail::checkpoint::steps_in(at.path);
  return steps.empty() ? 0 : steps.back();
}

TEST_CASE("find_not_finite: parameters have their names, bad and good") {
  with_grid([](const dm::grid<plane>& g) {
    auto w = twos(g);
    const auto step = [&] { (void)dm::complete(dm::value_and_grad(loss{}, w)()); };
    CHECK(dm::find_not_finite(g, step, w).empty());
    dm::fill(w.layers[0].up, -1.0);
    const std::string good = dm::find_not_finite(g, step, w);
    has(good,
        "log gave a number that is not finite at p 0, from operands that are "
        "finite, 'layers[0].up' among them on rank 0");
    w = twos(g);
    dm::fill(w.layers[1].up, std::nan(""));
    const std::string bad = dm::find_not_finite(g, step, w);
    has(bad, ", 'layers[1].up', which has one at p 0 already on rank 0");
    // One tensor has no path, and what is not known no name.
    const std::string alone = dm::find_not_finite(g, step, w.layers[1].down);
    has(alone, ", which has one at p 0 already on rank 0");
    CHECK(alone.find("layers") == alone.npos);
  });
}

TEST_CASE(
    "find_not_finite: an operand that is given up is not overwritten before it is looked at") {
  with_grid([](const dm::grid<plane>& g) {
    auto x = twos(g).layers[0].up;
    const auto large = [](double) { return std::numeric_limits<double>::infinity(); };
    const std::string text = dm::find_not_finite(g, [&] { x = dm::map(large, std::move(x)); }, x);
    has(text, "from operands that are finite");
  });
}

TEST_CASE("training_run: a loss that is none names part and member; what was saved is there") {
  with_grid([](const dm::grid<plane>& g) {
    const scratch saved("finite");
    auto w = twos(g);
    dm::training_run run(g, {.steps = 5, .save_every = 3}, {.save = saved.path});
    run.keep("model", w);
    run.loop.step = [&](index_t n) -> dm::metrics {
      if (n == 3) dm::fill(w.layers[0].down, std::nan(""));
      return {{"loss", dm::value(dm::complete(loss{}(w)))}};
    };
    run.loop.diagnose = [&](index_t) { return run.find_not_finite([&] { (void)loss{}(w); }); };
    const std::string text = said([&] { (void)run.go(); });
    has(text, "training_loop: 'loss' is not finite in step 3: ");
    has(text, ", 'model.layers[0].down', which has one at p 0 already on rank 0");
    CHECK(dm::detail::text_from(g.everyone().handle(), 0, text) == text);
    CHECK(last_saved(saved) == 3);
  });
}

// ---- a full disk --------------------------------------------------------------------------------

/// A folder whose lines of figures go to a device that is always full.
struct full_disk {
  scratch at{"full"};
  full_disk() {
    if (scratch::first()) {
      fs::create_directories(at.path);
      fs::create_symlink("/dev/full", at.path + "/summaries.jsonl");
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
};
void check_same_on_all(const dm::grid<plane>& g, const std::string& text) {
  has(text, "/summaries.jsonl' cannot be written: No space left on device");
  CHECK(dm::detail::text_from(g.everyone().handle(), 0, text) == text);
}

TEST_CASE("summaries: a full disk is told by flush, on all ranks") {
  with_grid([](const dm::grid<plane>& g) {
    const full_disk disk;
    const auto w = twos(g);
    dm::summaries log(disk.at.path, g);
    for (index_t n = 0; n < 200; ++n) {
      log.scalar(n, "loss", 1);
      log.histogram(n, "up", w.layers[0].up);
    }
    CHECK(log.fault().empty() == (g.rank() != 0));
    check_same_on_all(g, said([&] { log.flush(); }));
    if (g.rank() != 0) return;
    dm::summaries alone(disk.at.path);
    alone.scalar(0, "loss", 1);
    has(said([&] { alone.flush(); }), "No space left on device");
  });
  with_grid([](const dm::grid<plane>& g) {
    has(said([&] { dm::summaries("/proc/none", g); }), "cannot be written");
  });
}

TEST_CASE("training_run: a full disk ends it on all ranks, saved") {
  with_grid([](const dm::grid<plane>& g) {
    for (const index_t steps : {2, 1000}) {
      const full_disk disk;
      const scratch saved("saved");
      index_t done = 0;
      auto w = twos(g);
      const auto go = [&](const dm::run_options& how) {
        dm::training_run run(g, {.steps = steps, .evaluate_every = 1}, how);
        run.keep("w", w);
        run.loop.step = [&](index_t n) -> dm::metrics {
          done = n + 1;
          return {{"loss", dm::value(dm::complete(dm::sum(w.layers[0].up)))}};
        };
        run.loop.evaluate = [](index_t) -> dm::metrics { return {{"loss", 1}}; };
        return run.go();
      };
      check_same_on_all(g, said([&] { (void)go({.save = saved.path, .log = disk.at.path}); }));
      CHECK((steps == 2 ? done == 2 : done < 200));
      CHECK(last_saved(saved) == done);
      CHECK(go({.save = saved.path}) == loop_end::steps_done);
    }
  });
}

TEST_CASE("trace_steps: a place that cannot be written ends the run on all ranks, saved") {
  with_grid([](const dm::grid<plane>& g) {
    const auto check = [&g](index_t steps, const dm::step_trace& to, const std::string& fault) {
      const scratch saved("saved");
      auto w = twos(g);
      index_t done = 0;
      const auto go = [&](const auto& prepare) {
        dm::training_run run(g, {.steps = steps, .save_every = 2}, {.save = saved.path});
        run.keep("w", w);
        run.loop.step = [&](index_t n) -> dm::metrics {
          done = n + 1;
          return {{"loss", 1}};
        };
        prepare(run.loop);
        return run.go();
      };
      const auto text = said([&] { (void)go([&](auto& l) { dm::trace_steps(l, g, 1, 2, to); }); });
      has(text, fault);
      CHECK(dm::detail::text_from(g.everyone().handle(), 0, text) == text);
      CHECK(done == 3);
      CHECK(last_saved(saved) == 3);
      CHECK_FALSE(dm::timeline::instance().on());
      CHECK(go([](auto&) {}) == loop_end::steps_done);
      CHECK(done == steps);
    };
    for (const index_t steps : {3, 20}) {  // it is known after the last one, and before
      check(steps, {.trace = "/proc/none/trace.json"},
            "write_trace: '/proc/none/trace.json' cannot be written");
      check(steps, {.picture = "/proc/none/step.svg"},
            "timeline_plot::write: '/proc/none/step.svg' cannot be written");
    }
  });
}

// ---- who is told to end -------------------------------------------------------------------------

TEST_CASE("training_run: should_end is asked on all ranks together, whoever has a signal") {
  with_grid([](const dm::grid<plane>& g) {
    for (const int signal : {0, SIGTERM, SIGUSR1})
      for (const bool logs : {false, true}) {
        const scratch saved("told"), log("told_log");
        auto w = twos(g);
        index_t asked = 0, agreed = 0;
        dm::training_run run(g, {.steps = 9},
                             {.save = saved.path, .log = logs ? log.path : std::string()});
        run.keep("w", w);
        run.loop.step = [&](index_t n) -> dm::metrics {
          if (signal != 0 && n == 3 && g.rank() == g.ranks() - 1) std::raise(signal);
          return {{"loss", 1}};
        };
        run.loop.should_end = [&] {  // asked by all but one it would wait for ever
          int ranks = 1;
          dm::collective::all_reduce(g.everyone(), &ranks, &ranks, 1,
                                     dm::collective::reduction::sum);
          agreed += ranks == g.ranks() ? 1 : 0;
          return ++asked == 6;
        };
        CHECK(run.go() == loop_end::signal);
        CHECK(asked == (signal != 0 ? 4 : 6));
        CHECK(agreed == asked);
        CHECK(run.steps_done() == asked);
        CHECK(last_saved(saved) == asked);
      }
  });
}

// ---- a rank that stalls -------------------------------------------------------------------------

/// What f writes to stderr on this rank.
template <class F> std::string on_stderr(const F& f) {
  char name[] = "/tmp/dimesh_stderr_XXXXXX";
  const int file = mkstemp(name), before = dup(STDERR_FILENO);
  unlink(name);
  dup2(file, STDERR_FILENO);
  f();
  dup2(before, STDERR_FILENO);
  close(before);
  std::string text(static_cast<std::size_t>(lseek(file, 0, SEEK_END)), ' ');
  CHECK(pread(file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
  close(file);
  return text;
}
std::string of_a_run(const dm::grid<line>& g, int sleeper, double stalled_after) {
  return on_stderr([&] {
    dm::training_run run(g, {.steps = 4}, {.stalled_after = stalled_after});
    const auto w =
        dm::constant<dm::tensor<double, dm::layout<line, dm::partial<x>>, p>>(g, 1, p{3});
    run.loop.step = [&](index_t n) -> dm::metrics {
      CHECK((dm::detail::waits_told_to != nullptr) == (stalled_after > 0));
      if (n == 2 && g.rank() == sleeper) std::this_thread::sleep_for(std::chrono::seconds(2));
      return {{"loss", dm::value(dm::sum(dm::complete(w)))}};
    };
    CHECK(run.go() == loop_end::steps_done);
  });
}

TEST_CASE("training_run: a rank that stalls is named, with step and call") {
  if (dm::detail::waits_told_to != nullptr) return;  // one that the environment asked for
  const dm::grid<line> g;
  const int sleeper = g.ranks() - 1;
  const std::string me = "dimesh: watchdog: rank " + std::to_string(g.rank());
  const std::string text = of_a_run(g, sleeper, 0.5);
  if (g.rank() == sleeper) {
    has(text, me + " has been in no call that ranks make together for 0.5 s, in step 2; "
                   "its last was ");
    if (g.ranks() > 1) has(text, "its last was 'all_reduce' with 8 bytes (its call ");
  } else {
    has(text, me + " waits in 'all_reduce'");  // in a checked build it waits before it says of what
    has(text, ") for 0.5 s, in step 2\n");
  }
  CHECK(of_a_run(g, sleeper, 0).empty());
  CHECK(of_a_run(g, -1, 600).empty());
  CHECK(dm::detail::waits_told_to == nullptr);
}

TEST_CASE("training_run: nothing is said while steps go on, for however long") {
  if (dm::detail::waits_told_to != nullptr) return;
  using clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds patience(250);
  const dm::grid<line> g;
  const auto began = clock::now();
  auto last = began;
  clock::duration longest{};
  const auto moved = [&] {
    const auto now = clock::now();
    longest = std::max(longest, now - last);
    last = now;
  };
  const std::string text = on_stderr([&] {
    dm::training_run run(g, {.steps = 1'000'000}, {.stalled_after = 0.25});
    run.loop.step = [&](index_t) -> dm::metrics {
      moved();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      return {{"loss", 1}};
    };
    run.loop.should_end = [&] { return clock::now() - began > 4 * patience; };
    CHECK(run.go() == loop_end::signal);
    moved();
  });
  INFO(text);
  // (Where a machine lets steps take so long, it is right to say so.)
  CHECK((text.empty() || 2 * longest >= patience));
}

}  // namespace
