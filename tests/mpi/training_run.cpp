// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A run that ends and goes on, under another layout: the losses of one that never stopped, to the
// last bit, with all that it keeps; and what it refuses. Steps that are recorded.
//
// ranks: 1 2 4
#include "dimesh/train/run.hpp"

#include <doctest/doctest.h>

#include <dimesh/dimesh.hpp>
#include <dimesh/io/data/order.hpp>
#include <dimesh/io/data/prefetch.hpp>

#include "dimesh/grad/accumulate.hpp"
#include "dimesh/optim/loss_scale.hpp"
#include "dimesh/train/metrics_all_reduce.hpp"
#include "dimesh/train/trace_steps.hpp"
#include "support/checkpoints.hpp"
#include "support/host.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
namespace in = dimesh::input;
using dm::index_t;
using dm::loop_end;

struct how {
  dm::loop_options when = {
      .steps = 12, .evaluate_every = 3, .save_every = 2, .watched = "a mean of all"};
  dm::run_options options = {};
  index_t seed = 7;
  double rate = 0.1;
};
struct outcome {
  std::vector<double> losses;
  loop_end why;
  index_t done, adam_steps, count;
  std::string history;
};

/// Learns to guess numbers in a shuffled order, five an epoch, two a step.
template <class L> outcome learn(const dm::grid<plane>& g, const how& h) {
  using X = dm::tensor<double, L, p>;
  auto w = dm::constant<X>(g, 0.5, p{2});
  dm::adam optimizer;
  dm::warmup_linear rate{.peak = h.rate, .warmup = 2, .total = h.when.steps, .last = h.rate / 4};
  auto state = optimizer.start(w);
  auto load = in::numbers(5) | in::shuffle(3) | in::batch<X>(g, p{2}) | in::prefetch(1);
  index_t count = 0;
  dm::training_run run(g, h.when, h.options);
  run.keep("w", w);
  run.keep("adam", state);
  run.keep("count", count);
  run.keep("rate", rate);
  run.keep(load);
  run.keep_same("seed", h.seed);
  run.loop.step = [&](index_t n) -> dm::metrics {
    const auto [loss, gradient] = dm::complete(dm::value_and_grad(
        [](const auto& v, const auto& x) { return dm::mean(dm::square(v - x)); }, w)(load.next()));
    optimizer.rate = rate(n);
    optimizer(w, gradient, state);
    count += n;
    return {{"other", n == 3 ? HUGE_VAL : -0.0}, {"loss", dm::value(loss)}};
  };
  run.loop.evaluate = [&](index_t) -> dm::metrics {
    return {{"a mean of all", dm::value(dm::complete(dm::mean(w)))}};
  };
  const loop_end why = run.go();
  CHECK(run.seconds() >= 0);
  return {run.losses(), why, run.steps_done(), state.steps, count, run.history().text()};
}
using by_both = dm::layout<plane, dm::split<dm::uneven<p>, x>>;
using whole = dm::layout<plane>;

TEST_CASE("training_run: goes on from any step, under another layout, as if it had never stopped") {
  with_grid([](const dm::grid<plane>& g) {
    const outcome all = learn<by_both>(g, {});
    CHECK(all.why == loop_end::steps_done);
    CHECK(all.losses.size() == 12);
    for (const index_t stop : {1, 2, 5}) {
      const scratch first("run"), second("further");
      const outcome a = learn<by_both>(g, {.options = {.save = first.path, .stop_after = stop}});
      CHECK(a.why == loop_end::signal);
      CHECK(a.done == stop);
      const outcome b = learn<whole>(
          g, {.options = {.save = second.path, .resume = first.path, .stop_after = stop + 3}});
      CHECK(b.why == loop_end::signal);
      CHECK(b.done == 3);
      // Its rates are those of the run that it goes on from, whatever is asked for.
      const outcome c = learn<by_both>(g, {.options = {.resume = second.path}, .rate = 0.5});
      CHECK(c.why == loop_end::steps_done);
      CHECK(c.losses == all.losses);
      CHECK(c.adam_steps == 12);
      CHECK(c.count == all.count);
      CHECK(c.history == all.history);
    }
  });
}

TEST_CASE("training_run: one that had ended is saved again, where it goes on in another folder") {
  with_grid([](const dm::grid<plane>& g) {
    const scratch first("run"), second("again");
    const outcome a = learn<whole>(g, {.options = {.save = first.path}});
    const outcome b = learn<by_both>(g, {.options = {.save = second.path, .resume = first.path}});
    CHECK(b.done == 0);
    CHECK(b.why == loop_end::steps_done);
    CHECK(b.losses == a.losses);
    CHECK(learn<whole>(g, {.options = {.resume = second.path}}).losses == a.losses);
  });
}

TEST_CASE("training_run: its figures are lines, events and a page of plots") {
  with_grid([](const dm::grid<plane>& g) {
    const scratch at("log");
    dm::training_run run(g, {.steps = 4, .evaluate_every = 2}, {.name = "a run", .log = at.path});
    const auto w = dm::constant<dm::tensor<double, by_both, p>>(g, 1, p{3});
    run.loop.step = [&](index_t n) -> dm::metrics {
      run.log().scalar(n, "more/size", 7);
      run.log().histogram(n, "w", w);
      run.log().image(n, "w", 1, 2, 1, "ab");
      return {{"loss", 1.0 / (1.0 + n)}};
    };
    run.loop.evaluate = [](index_t) -> dm::metrics { return {{"loss", 0.5}}; };
    CHECK(run.go() == loop_end::steps_done);
    if (g.rank() != 0) return;
    const auto text_of = [&](const std::string& name) {
      std::ifstream in(at.path + "/" + name);
      return std::string{std::istreambuf_iterator<char>(in), {}};
    };
    const auto count = [](const std::string& text, const std::string& part) {
      int n = 0;
      for (auto k = text.find(part); k != text.npos; k = text.find(part, k + 1)) ++n;
      return n;
    };
    CHECK(count(text_of("summaries.jsonl"), "\"tag\":\"training/loss\"") == 4);
    CHECK(count(text_of("summaries.jsonl"), "\"tag\":\"evaluation/loss\"") == 2);
    CHECK(count(text_of("summaries.jsonl"), "\"counts\"") == 4);
    CHECK(count(text_of("report.html"), "<svg") == 3);
    CHECK(count(text_of("report.html"), "<img") == 1);
    CHECK(count(text_of("report.html"), "<h1>a run</h1>") == 1);
  });
  // A folder that cannot be is an error on all ranks.
  with_grid([](const dm::grid<plane>& g) {
    CHECK_THROWS_AS(dm::training_run(g, {.steps = 1}, {.log = "/dev/null/log"}), dm::error);
    CHECK_THROWS_WITH_AS(dm::training_run(g, {}, {}).log(),
                         doctest::Contains("training_run::log: there is none"), dm::error);
  });
}

/// Two micro-batches a step in float, the loss scaled by 2^100 at first: steps overflow until the
/// factor has fallen, and leave the parameters as they were.
struct scaled_outcome {
  std::vector<double> losses;
  double factor;
  std::vector<float> w;
};
template <class X> std::vector<float> elements_of(const X& x) {
  const auto seen = test_support::on_host(x);
  std::vector<float> all;
  for (index_t i = 0; i < x.local_size(); ++i) all.push_back(seen[i]);
  return all;
}
template <class L> scaled_outcome learn_scaled(const dm::grid<plane>& g, dm::run_options how) {
  using X = dm::tensor<float, L, p>;
  auto w = dm::generate<X>(g, [](index_t i) { return 100.0f * static_cast<float>(i); }, p{6});
  dm::sgd optimizer{.rate = 0.125};
  dm::dynamic_loss_scale scale(0x1p126);
  scale.backoff = 0x1p-20;
  scale.interval = 2, scale.most = 0x1p120;
  dm::training_run run(g, {.steps = 8}, how);
  run.keep("w", w);
  run.keep("scale", scale);
  run.loop.step = [&](index_t n) -> dm::metrics {
    auto step = dm::complete(dm::accumulate(2, [&](index_t k) {
      const auto aim = static_cast<float>(n + k);
      const auto loss = [aim](const auto& v) { return dm::mean(dm::square(v - aim)); };
      return dm::value_and_grad(scale.scaled(loss), w)();
    }));
    const double norm = dm::global_norm(step.gradient);
    const std::vector<float> before = elements_of(w);
    if (scale.accepts(norm)) optimizer(w, scale.unscaled(step.gradient));
    CHECK((elements_of(w) == before) == (w.local_size() == 0 || !scale.accepts(norm)));
    CHECK(scale.accepts(norm) == (n > 0));
    scale.update(norm);
    return {{"loss", static_cast<double>(n)}};
  };
  CHECK(run.go() != loop_end::no_better);
  return {run.losses(), scale.factor, elements_of(dm::relayout<whole>(w))};
}

TEST_CASE("training_run: accumulated, scaled, a step left out; and goes on with the factor") {
  with_grid([](const dm::grid<plane>& g) {
    const auto all = learn_scaled<by_both>(g, {});
    CHECK(all.factor == 0x1p109);
    const scratch at("scaled");
    (void)learn_scaled<by_both>(g, {.save = at.path, .stop_after = 3});
    const auto rest = learn_scaled<whole>(g, {.resume = at.path});
    CHECK(rest.factor == all.factor);
    CHECK(rest.w == all.w);
  });
}

TEST_CASE("metrics_all_reduce: each rank's numbers, joined") {
  const dm::grid<line> g;
  const double r = g.rank(), n = g.ranks();
  const auto over = [&](dm::over_ranks how) {
    const auto m = dm::metrics_all_reduce(g, {{"a", r}, {"b", 1 - r}}, how);
    CHECK(m[0].name == "a");
    return std::pair(m[0].value, m[1].value);
  };
  CHECK(over(dm::over_ranks::sum) == std::pair(n * (n - 1) / 2, n - n * (n - 1) / 2));
  CHECK(over(dm::over_ranks::mean) == std::pair((n - 1) / 2, 1 - (n - 1) / 2));
  CHECK(over(dm::over_ranks::min) == std::pair(0.0, 2 - n));
  CHECK(over(dm::over_ranks::max) == std::pair(n - 1, 1.0));
  CHECK(dm::metrics_all_reduce(g, {}, dm::over_ranks::sum).empty());
  if (g.ranks() > 1)
    CHECK_THROWS_WITH_AS(
        (void)dm::metrics_all_reduce(g, {{g.rank() == 0 ? "a" : "b", 0}}, dm::over_ranks::sum),
        doctest::Contains("metrics_all_reduce: the ranks have other numbers; give the same names"),
        dm::error);
}

TEST_CASE("training_run: a signal ends it, saved") {
  with_grid([](const dm::grid<plane>& g) {
    const scratch at("signal");
    auto w = dm::constant<dm::tensor<double, whole, p>>(g, 0.5, p{2});
    const auto go = [&](const dm::run_options& o, bool raises) {
      dm::training_run run(g, {.steps = 9}, o);
      run.keep("w", w);
      run.loop.step = [&](index_t n) -> dm::metrics {
        if (raises && n == 3 && g.rank() == g.ranks() - 1) std::raise(SIGTERM);
        return {{"loss", static_cast<double>(n)}};
      };
      const loop_end why = run.go();
      return std::pair(why, run.losses().size());
    };
    CHECK(go({.save = at.path}, true) == std::pair(loop_end::signal, std::size_t{4}));
    CHECK(go({.resume = at.path}, false) == std::pair(loop_end::steps_done, std::size_t{9}));
  });
}

TEST_CASE("training_run: what it goes on from must be of its own kind") {
  with_grid([](const dm::grid<plane>& g) {
    const scratch at("refuses");
    (void)learn<whole>(g, {.options = {.save = at.path, .stop_after = 2}});
    CHECK_THROWS_WITH_AS(learn<whole>(g, {.options = {.resume = at.path}, .seed = 8}),
                         doctest::Contains("was saved by a run whose seed was 7, and here it is 8"),
                         dm::error);
    CHECK_THROWS_AS(learn<whole>(g, {.options = {.resume = at.path + "/nowhere"}}), dm::error);
    const scratch other("other");
    auto w = dm::constant<dm::tensor<double, whole, p>>(g, 0.5, p{2});
    dm::save_checkpoint(other.path, {.step = 1}, {}, dm::part("w", w));
    dm::training_run run(g, {.steps = 3}, {.resume = other.path});
    run.keep("w", w);
    run.loop.step = [](index_t) -> dm::metrics { return {{"loss", 1}}; };
    CHECK_THROWS_WITH_AS(
        run.go(),
        doctest::Contains("says nothing of 'metrics.txt'; it was saved by another program"),
        dm::error);
    auto load = in::numbers(4) | in::batch<decltype(w)>(g, p{2}) | in::prefetch(0);
    run.keep(load);
    CHECK_THROWS_WITH_AS(
        run.keep(load),
        "training_run: it keeps the place of one loader; keep that of others as numbers",
        dm::error);
  });
}

TEST_CASE("trace_steps: three steps as a trace, the last one as a picture; none where it is late") {
  const dm::grid<line> g;
  const scratch at("trace");
  if (scratch::first()) fs::create_directories(at.path);
  const auto go = [&](index_t from, const std::string& name) {
    dm::training_loop loop(g, {.steps = 6});
    loop.step = [](index_t) -> dm::metrics { return {{"loss", 1}}; };
    dm::trace_steps(loop, g, 2, 3,
                    {.trace = at.path + "/" + name + ".json",
                     .picture = at.path + "/" + name + ".svg",
                     .title = "A step"});
    dm::loop_state state{.step = from};
    (void)loop.run(state);
    CHECK_FALSE(dm::timeline::instance().on());
  };
  go(0, "early");
  go(3, "late");
  if (!scratch::first()) return;
  std::ifstream in(at.path + "/early.json");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  index_t steps = 0;
  for (auto k = text.find("\"step\""); k != text.npos; k = text.find("\"step\"", k + 1)) ++steps;
  CHECK(steps == 3 * g.ranks());
  CHECK(fs::file_size(at.path + "/early.svg") > 500);
  CHECK_FALSE(fs::exists(at.path + "/late.json"));
}

}  // namespace
