// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a run keeps for the one that goes on: the state of every optimizer, of one that is sharded
// under another layout or none; and texts.
//
// ranks: 1 2 4
#include <doctest/doctest.h>

#include <cmath>
#include <dimesh/dimesh.hpp>
#include <filesystem>
#include <sstream>

#include "dimesh/io/checkpoint/safetensors.hpp"
#include "dimesh/optim/adafactor.hpp"
#include "dimesh/optim/sharded.hpp"
#include "dimesh/train/run.hpp"
#include "support/checkpoints.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
using dm::index_t;
using whole = dm::layout<plane>;

struct in : dm::dim<8> {};
struct out : dm::dim<4> {};
template <class L> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (dm::tensor<double, L, in, out>, w),
                           (dm::tensor<double, L, out>, b));
};
using by_in = dm::layout<plane, dm::split<in, x>>;
using by_out = dm::layout<plane, dm::split<out, x>>;
using spread_x = dm::layout<plane, dm::spread<x>>;

/// An optimizer of the program's own: half of what momentum of decay 0.5 makes of a gradient.
struct slow {
  template <class P> struct memory {
    P last{};
    dm::index_t taken = 0;
    double sum = 0;

    template <class S, class F> static void for_each_part(S& s, const F& f) {
      f("last", s.last), f("taken", s.taken), f("sum", s.sum);
    }
  };
  template <class P> memory<P> start(const P& p) const { return {dm::zeros_like(p)}; }
  template <class P, class G> void operator()(P& p, const G& gradient, memory<P>& s) const {
    const auto rule = [](auto& v, const auto& g, auto& m) { m = 0.5 * m + g, v -= 0.05 * m; };
    dm::update_each(rule, p, gradient, s.last);
    s.sum += 1.0 / static_cast<double>(++s.taken);
    p.b = p.b * (1 + 0.01 * s.sum);
  }
};
struct learned {
  std::vector<double> w, b;
  std::vector<std::string> kept;  // names in the last checkpoint
};
/// Eight steps under L, or as many as the run is given.
template <class L, class O>
learned learn(const dm::grid<plane>& g, const O& optimizer, const dm::run_options& how) {
  network<L> p = dm::make<network<L>>(g);
  p.w = dm::generate<decltype(p.w)>(g, [](index_t i, index_t j) {
    return 0.1 * static_cast<double>(i) - static_cast<double>(j);
  });
  p.b = dm::generate<decltype(p.b)>(g, [](index_t j) { return static_cast<double>(j); });
  auto state = optimizer.start(p);
  dm::training_run run(g, {.steps = 8}, how);
  run.keep("p", p);
  run.keep("of", state);
  run.loop.step = [&](index_t n) -> dm::metrics {
    const auto loss = [n](const auto& q) {
      return dm::complete(dm::mean(dm::square(q.w - static_cast<double>(n)))) +
             dm::complete(dm::mean(dm::square(dm::square(q.b) - 2.0)));
    };
    const auto now = dm::value_and_grad(loss, p)();
    if constexpr (requires { optimizer.optimizer; })
      optimizer(p, now.gradient, state);
    else
      optimizer(p, dm::complete(now.gradient), state);
    return {{"loss", dm::value(dm::complete(now.value))}};
  };
  (void)run.go();
  learned all{dm::to_rank(p.w, 0), dm::to_rank(p.b, 0), {}};
  if (!how.save.empty() && g.rank() == 0) {
    const auto file = how.save + "/step-" + std::to_string(run.losses().size());
    for (const auto& e : dm::read_safetensors_header(file + "/model.safetensors").tensors)
      all.kept.push_back(e.name);
  }
  return all;
}
void check_near(const std::vector<double>& a, const std::vector<double>& b, double most) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(std::abs(a[i] - b[i]) <= most);
}
/// Stopped under K after three steps, and gone on with under L.
template <class K, class L, class O, class Q>
std::vector<std::string> check_kept(const dm::grid<plane>& g, const O& first, const Q& second) {
  const scratch at("optimizer");
  const auto all = learn<K>(g, first, {});
  const auto some = learn<K>(g, first, {.save = at.path, .stop_after = 3});
  const auto rest = learn<L>(g, second, {.resume = at.path});
  const double most = std::is_same_v<K, L> && std::is_same_v<O, Q> ? 0 : 1e-10;
  check_near(rest.w, all.w, most);
  check_near(rest.b, all.b, most);
  if (g.rank() == 0) CHECK(some.w != all.w);
  return some.kept;
}
template <class O> std::vector<std::string> check_kept(const dm::grid<plane>& g, const O& o) {
  (void)check_kept<by_in, by_in>(g, o, o);
  return check_kept<by_in, by_out>(g, o, o);
}

TEST_CASE("training_run: keeps the state of every optimizer, under any layout") {
  with_grid([](const dm::grid<plane>& g) {
    using names = std::vector<std::string>;
    const auto check_names = [&](const names& kept, const names& of) {
      names all = of;
      all.insert(all.end(), {"p.b", "p.w"});
      names sorted = kept;
      std::sort(sorted.begin(), sorted.end());
      if (g.rank() != 0) return;
      REQUIRE(sorted.size() == all.size());
      for (std::size_t i = 0; i < all.size(); ++i) CHECK(sorted[i] == all[i]);
    };
    const names second = {"of.second[0][0]", "of.second[0][1]", "of.second[0][2]",
                          "of.second[1][0]"};
    names both = {"of.momentum.b", "of.momentum.w"};
    both.insert(both.end(), second.begin(), second.end());
    check_names(check_kept(g, dm::momentum{.rate = 0.05, .nesterov = true}),
                {"of.average.b", "of.average.w"});
    check_names(check_kept(g, dm::adafactor{.rate = 0.1}), second);
    check_names(check_kept(g, dm::adafactor{.rate = 0.1, .beta1 = 0.9}), both);
    check_names(check_kept(g, slow{}), {"of.last.b", "of.last.w"});
    const names averages = {"of.first.b", "of.first.w", "of.second.b", "of.second.w"};
    const dm::adam adapt{.rate = 0.1};
    const auto spread = dm::sharded<spread_x>(adapt);
    check_names(check_kept<whole, whole>(g, spread, spread), averages);
    check_names(check_kept<whole, by_out>(g, spread, adapt), averages);
    check_names(check_kept<by_in, whole>(g, adapt, spread), averages);
  });
}

TEST_CASE("training_run: sharded momentum and Adafactor go on, with shards or without") {
  with_grid([](const dm::grid<plane>& g) {
    const auto check = [&](const auto& plain) {
      const auto spread = dm::sharded<spread_x>(plain);
      (void)check_kept<whole, whole>(g, spread, spread);
      (void)check_kept<whole, by_out>(g, spread, plain);
      (void)check_kept<by_in, whole>(g, plain, spread);
    };
    check(dm::momentum{.rate = 0.05, .nesterov = true});
    check(dm::adafactor{.rate = 0.1, .beta1 = 0.9});
  });
}

TEST_CASE("training_run: momentum that the checkpoint lacks, or the program") {
  with_grid([](const dm::grid<plane>& g) {
    const scratch at("momentum");
    const dm::adafactor with{.beta1 = 0.9}, without;
    (void)learn<by_in>(g, with, {.save = at.path, .stop_after = 1});
    CHECK(has(said([&] { (void)learn<by_in>(g, without, {.resume = at.path}); }),
              "tensor 'of.momentum.b': the program has none of this name"));
    const scratch other("no_momentum");
    (void)learn<by_in>(g, without, {.save = other.path, .stop_after = 1});
    CHECK(has(said([&] { (void)learn<by_in>(g, with, {.resume = other.path}); }),
              "tensor 'of.momentum.w': the files have none of this name"));
  });
}

TEST_CASE("load_checkpoint: the weights of a run without its optimizer; names that are mistaken") {
  with_grid([](const dm::grid<plane>& g) {
    const scratch at("weights");
    const auto all = learn<by_in>(g, dm::adam{}, {.save = at.path, .stop_after = 2});
    auto q = dm::make<network<by_out>>(g);
    auto other = dm::zeros_like(q);
    const auto load = [&](const dm::load_options& how, const std::string& part) {
      dm::load_checkpoint(at.path, how, dm::part(part, q));
    };
    const auto what = [&](const dm::load_options& how, const std::string& part) {
      return said([&] { load(how, part); });
    };
    CHECK(has(what({}, "p"), "the program has none of this name; load with file_has_more"));
    load({.file_has_more = true}, "p");
    CHECK(dm::to_rank(q.w, 0) == all.w);
    CHECK(dm::to_rank(q.b, 0) == all.b);
    for (const bool partial : {false, true})
      CHECK(has(what({.file_has_more = true, .partial = partial}, "pp"),
                "tensor 'pp.w': the files have none of this name, and nothing of part 'pp'; near "
                "it: 'p.w', 'p.b'"));
    CHECK(has(said([&] {
                dm::load_checkpoint(at.path, {.partial = true}, dm::part("p", q),
                                    dm::part("of.frist", other));
              }),
              "nothing of part 'of.frist'; near it: 'of.first.w'"));
    // Of a part that is there in part, what is not stays as it was.
    const std::map<std::string, std::string> names{{"q.w", "of.first.w"}};
    CHECK(has(what({.file_has_more = true, .names = names}, "q"),
              "tensor 'q.b': the files have none of this name; near it: 'p.b'"));
    CHECK(dm::to_rank(q.w, 0) == all.w);
    load({.partial = true, .names = names}, "q");
    CHECK(has(what({.partial = true, .names = {{"q.v", "of.first.w"}}}, "q"),
              "tensor 'q.v': load_options speak of it, and the program has none of this name; near "
              "it: 'q.b', 'q.w'"));
    CHECK(
        has(what({.partial = true, .parts = {{"w", {"of.first.w"}}}}, "q"), "tensor 'w': load_op"));
    CHECK((dm::to_rank(q.w, 0) != all.w || g.rank() != 0));
    CHECK(dm::to_rank(q.b, 0) == all.b);
  });
}

TEST_CASE("training_run: a text is what the run before it kept, whatever it is given") {
  with_grid([](const dm::grid<plane>& g) {
    const scratch at("text");
    auto w = dm::constant<dm::tensor<double, whole, p>>(g, 0.5, p{2});
    const auto go = [&](std::string& text, index_t stop) {
      dm::training_run run(g, {.steps = 4}, {.save = at.path, .stop_after = stop});
      run.keep("w", w);
      run.keep("words.txt", text);
      run.loop.step = [](index_t) -> dm::metrics { return {{"loss", 1}}; };
      (void)run.go();
    };
    const auto kept = [](const dm::run_options& how) { return dm::kept_text(how, "words.txt"); };
    CHECK_FALSE(kept({}));
    CHECK_FALSE(kept({.save = at.path}));
    std::string first("a\0b\n", 4), other = "b a\n";
    go(first, 2);
    CHECK(*kept({.save = at.path}) == first);
    CHECK(*kept({.resume = at.path}) == first);
    CHECK(
        has(said([&] { go(other, 0); }), "was saved with another 'words.txt'; make what depends"));
    other.clear();
    go(other, 3);
    CHECK(other == first);
    go(first, 0);
    CHECK_THROWS_WITH_AS((void)dm::kept_text({.save = at.path}, "letters.txt"),
                         doctest::Contains("says nothing of 'letters.txt'"), dm::error);
    dm::training_run run(g, {.steps = 1}, {});
    for (const std::string no : {"metrics.txt", "a/b", "manifest.json", "model.safetensors"})
      CHECK_THROWS_WITH_AS(run.keep(no, other),
                           doctest::Contains(("a text cannot be called '" + no).c_str()),
                           dm::error);
    on_first([&] { std::ofstream(at.path + "/step-4/words.txt") << "b a\n"; });
    CHECK_THROWS_WITH_AS((void)kept({.save = at.path}),
                         doctest::Contains("words.txt': expected the bytes that were"), dm::error);
  });
}

TEST_CASE("training_run: a text that only the first rank has, or that ranks have otherwise") {
  with_grid([](const dm::grid<plane>& g) {
    const scratch at("texts");
    auto w = dm::constant<dm::tensor<double, whole, p>>(g, 0.5, p{2});
    const auto go = [&](std::string& text) {
      dm::training_run run(g, {.steps = 1}, {.save = at.path});
      run.keep("w", w);
      run.keep("words.txt", text);
      run.loop.step = [](index_t) -> dm::metrics { return {{"loss", 1}}; };
      (void)run.go();
    };
    std::string each = g.rank() == 0 ? "a" : "b";
    if (g.ranks() > 1)
      CHECK(has(said([&] { go(each); }),
                "training_run: ranks keep different texts as 'words.txt'; give all of them that of "
                "the first rank, or none"));
    std::string one = g.rank() == 0 ? "a b" : "";
    go(one);
    CHECK(one == "a b");
    CHECK(*dm::kept_text({.save = at.path}, "words.txt") == "a b");
  });
}

TEST_CASE("training_run: numbers that must be the same differ among ranks, or from then") {
  with_grid([](const dm::grid<plane>& g) {
    const scratch at("same");
    double first = 0.5;
    index_t count = 3;
    std::string text;
    const auto go = [&](index_t seed) {
      auto w = dm::constant<dm::tensor<double, whole, p>>(g, first, p{2});
      dm::training_run run(g, {.steps = 4}, {.save = at.path, .stop_after = count});
      run.keep("w", w);
      run.keep("count", count);
      run.keep("words.txt", text);
      run.keep_same("seed", seed);
      run.loop.step = [&](index_t) -> dm::metrics {
        ++count;
        return {{"loss", 1}};
      };
      const std::string what = said([&] { (void)run.go(); });
      CHECK(dm::value(dm::sum(w)) == 2 * first);
      return what;
    };
    if (g.ranks() > 1) {
      const std::string what = go(7 + g.rank());
      CHECK(has(what, "training_run: ranks keep different numbers as 'seed'; give all of them"));
      CHECK(!std::filesystem::exists(at.path));
    }
    text = "a";
    CHECK(go(7).empty());
    CHECK(count == 6);
    // What is refused leaves all as it was.
    first = 0.25, count = 1;
    CHECK(has(go(8), "was saved by a run whose seed was 7, and here it is 8"));
    text = "b";
    CHECK(has(go(7), "was saved with another 'words.txt'"));
    CHECK(count == 1);
    CHECK(text == "b");
  });
}

TEST_CASE("training_run: what is kept has names of its own") {
  with_grid([](const dm::grid<plane>& g) {
    dm::training_run run(g, {.steps = 1}, {});
    index_t count = 0;
    double number = 0;
    std::string text;
    run.keep("a", count);
    run.keep("words.txt", text);
    run.keep_same("seed", 7);
    CHECK(has(said([&] { run.keep("a", count); }), "something is kept as 'a' already"));
    CHECK(has(said([&] { run.keep("a", number); }), "something is kept as 'a' already"));
    CHECK(has(said([&] { run.keep("words.txt", text); }),
              "training_run: something is kept as 'words.txt' already; give what is kept names of "
              "its own"));
    CHECK(has(said([&] { run.keep_same("seed", 7); }), "kept as 'seed' already"));
    CHECK(has(said([&] { run.keep("loop.best", number); }), "kept as 'loop.best' already"));
    auto w = dm::constant<dm::tensor<double, whole, p>>(g, 0.5, p{2});
    run.keep("w", w);
    CHECK(has(said([&] { run.keep("w", w); }), "something is kept as 'w' already"));
  });
}
}  // namespace
