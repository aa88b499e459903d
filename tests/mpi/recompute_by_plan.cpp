// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers of many forms that run again as a plan says: inside a function whose gradient is taken, in
// the stages of a pipeline, by themselves. The same bits under every plan; what they take there and
// back is counted and measured.
//
// ranks: 1 2 4
// labels: device
#include "dimesh/pipeline/recompute_by_plan.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <dimesh/dimesh.hpp>
#include <dimesh/memory/pool.hpp>
#include <dimesh/op/dropout.hpp>
#include <filesystem>

#include "dimesh/pipeline/chain_costs.hpp"
#include "dimesh/pipeline/chain_plan.hpp"
#include "dimesh/pipeline/partition.hpp"
#include "dimesh/pipeline/pipeline.hpp"
#include "dimesh/pipeline/revolve.hpp"
#include "dimesh/pipeline/schedules.hpp"
#include "dimesh/pipeline/two_levels.hpp"
#include "dimesh/pipeline/zero_bubble.hpp"
#include "support/distance.hpp"
#include "support/host.hpp"

namespace dm = dimesh;

namespace {

using test_support::distance;

struct batch : dm::dim<16> {};
struct pixel : dm::dim<6> {};
struct width : dm::dim<10> {};
struct inner : dm::dim<10> {};
struct label : dm::dim<4> {};
struct stage : dm::axis<> {};
struct rows : dm::axis<> {};
struct pod : dm::mesh<stage, rows> {};
using everywhere = dm::layout<pod>;
using by_rows = dm::layout<pod, dm::split<batch, rows>>;
template <int K> using there = dm::layout<pod, dm::placed<stage, K>>;
using images = dm::tensor<double, by_rows, batch, pixel>;

constexpr std::size_t depth = 4;
template <class L> struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer, (dm::tensor<double, L, width, inner>, w),
                           (dm::tensor<double, L, inner>, bias));
};
template <class L>
using network = std::tuple<dm::tensor<double, L, pixel, width>, std::array<layer<L>, depth>,
                           dm::tensor<double, L, width, label>>;

constexpr auto widen = [](const auto& w, const auto& x) {
  return dm::tanh(dm::einsum<batch, width>(x, w));
};
constexpr auto block = [](const auto& p, const auto& x) {
  const auto h = dm::tanh(dm::einsum<batch, inner>(x, p.w) + p.bias);
  return x + dm::dropout(0.25, dm::random_key{9}, dm::rename<inner, width>(h));
};
constexpr auto narrow = [](const auto& w, const auto& x) { return dm::einsum<batch, label>(x, w); };
constexpr auto layers = [] { return dm::in_turn(widen, dm::each_of(block), narrow); };
constexpr int count = static_cast<int>(depth) + 2;

int ranks() {
  int n = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  return n;
}

template <class W> void draw(W& weights) {
  std::uint64_t seed = 1;
  dm::for_each_tensor(
      [&seed](const auto&, auto& w) { dm::fill_uniform(w, dm::random_key{seed++}, -0.5, 0.5); },
      weights);
}
struct problem {
  dm::grid<pod> g{MPI_COMM_WORLD, stage{1}};
  network<everywhere> weights = dm::make<network<everywhere>>(g);
  images x = dm::normal<images>(g, dm::random_key{50}, 0, 1);
  problem() { draw(weights); }
};

std::vector<double> held(const auto& s) {
  std::vector<double> all;
  dm::for_each_tensor(
      [&all](const auto&, const auto& x) {
        const auto on = test_support::on_host(x);
        all.insert(all.end(), on.data(), on.data() + x.local_size());
      },
      s);
  return all;
}

/// Uses weights and input outside of the layers, too.
template <class F> struct loss_of {
  const F& f;
  template <class P> auto operator()(const P& p) const {
    const auto& [w, x] = p;
    const auto y = f(w, x * 2.0);
    return dm::sum(y * y) + dm::sum(widen(std::get<0>(w), x)) + dm::sum(x * x);
  }
};
template <class F> auto gradient_by(const problem& p, const F& f) {
  const loss_of<F> loss{f};
  return dm::complete(dm::value_and_grad(loss, std::make_tuple(p.weights, p.x))());
}

TEST_CASE("layers of many forms, as every plan says, inside a function") {
  const problem p;
  const auto want = gradient_by(p, layers());
  const auto all = gradient_by(p, dm::recompute(dm::tape_all{count}, layers()));
  CHECK(distance(all.value, want.value) < 1e-13);
  CHECK(distance(std::get<0>(all.gradient), std::get<0>(want.gradient)) < 1e-13);
  CHECK(distance(std::get<1>(all.gradient), std::get<1>(want.gradient)) < 1e-13);
  const auto bits = held(all.gradient), value = held(all.value);
  const std::string directory = std::filesystem::temp_directory_path();
  const auto check = [&](const auto& plan) {
    CAPTURE(dm::check_plan(plan).forward);
    dm::plan_report report;
    const dm::plan_settings how{.directory = directory, .report = &report};
    const auto r = gradient_by(p, dm::recompute(plan, layers(), how));
    CHECK(held(r.value) == value);
    CHECK(held(r.gradient) == bits);
    const dm::plan_facts facts = dm::check_plan(plan);
    CHECK(report.forward == facts.forward);
    CHECK(report.kept == facts.kept);
    CHECK(report.on_disk == facts.on_disk);
  };
  check(dm::cells{count, 2});
  check(dm::cells{count, 4});
  check(dm::cells{count, count, true});
  check(dm::sqrt_cells(count));
  for (const int slots : {1, 2, 3}) check(dm::revolve{count, slots});
  check(dm::plan_two_levels(count, 1, 0.5, 0.5));
  const dm::chain costs = dm::counted_chain(layers(), p.weights, p.x);
  int found = 0;
  for (long long memory = 1000; memory < 40000; memory += 3000) {
    const auto plan = dm::plan_chain(costs, count, memory, 1024);
    if (!plan.fits()) continue;
    check(plan);
    found += dm::check_plan(plan).forward > count;
  }
  CHECK(found > 0);

  // Within a recomputed block, and one within another.
  const auto twice = dm::recompute(dm::cells{count, 3}, layers());
  const auto around = dm::recompute([&twice](const auto& w, const auto& x) { return twice(w, x); });
  CHECK(held(gradient_by(p, around).gradient) == bits);
  const auto inside = dm::in_turn(
      widen, dm::recompute(dm::revolve{static_cast<int>(depth), 1}, dm::each_of(block)), narrow);
  CHECK(held(gradient_by(p, inside).gradient) == bits);
  CHECK(held(gradient_by(p, dm::recompute(dm::cells{3, 1}, inside)).gradient) == bits);
  // Where nothing is recorded, nothing is kept.
  CHECK(distance(twice(p.weights, p.x), layers()(p.weights, p.x)) == 0);
}

TEST_CASE("one of weights and input alone is recorded") {
  const problem p;
  const auto planned = dm::recompute(dm::revolve{count, 2}, layers());
  const auto of_input = [&](const auto& f) {
    const auto loss = [&](const auto& x) { return dm::sum(dm::tanh(f(p.weights, x))); };
    return held(dm::complete(dm::value_and_grad(loss, p.x)()).gradient);
  };
  const auto of_weights = [&](const auto& f) {
    const auto loss = [&](const auto& w) { return dm::sum(dm::tanh(f(w, p.x))); };
    return held(dm::complete(dm::value_and_grad(loss, p.weights)()).gradient);
  };
  const auto close = [](const std::vector<double>& a, const std::vector<double>& b) {
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(std::abs(a[i] - b[i]) < 1e-13);
  };
  close(of_input(planned), of_input(layers()));
  close(of_weights(planned), of_weights(layers()));
}

TEST_CASE("a step that is repeated, inside a function") {
  const dm::grid<pod> g(MPI_COMM_WORLD, stage{1});
  using state = dm::tensor<double, by_rows, batch, width>;
  auto w = dm::make<layer<everywhere>>(g);
  draw(w);
  const auto u = dm::normal<state>(g, dm::random_key{5}, 0, 1);
  const auto step = [](const auto& p, const auto& x, int i) {
    return block(p, x) * (1.0 - 0.01 * i);
  };
  const auto energy = [](const auto& x) { return dm::sum(x * x); };
  const auto want = dm::value_and_grad_by(dm::tape_all{30}, step, w, u, energy);
  const auto bits = held(dm::complete(want.gradient));
  const auto by = [&](const auto& plan) {
    const auto f = [&](const auto& p) { return energy(dm::recompute(plan, step)(p, u)); };
    return held(dm::complete(dm::value_and_grad(f, w)()).gradient);
  };
  CHECK(by(dm::tape_all{30}) == bits);
  CHECK(by(dm::revolve{30, 3}) == bits);
  CHECK(by(dm::sqrt_cells(30)) == bits);
}

TEST_CASE("value_and_grad_by: layers of many forms") {
  const problem p;
  const auto squares = [](const auto& y) { return dm::sum(y * y); };
  const auto by = [&](const auto& plan) {
    const auto r = dm::value_and_grad_by(plan, layers(), p.weights, p.x, squares);
    auto all = held(dm::complete(r.gradient));
    const auto state = held(dm::complete(r.state)), value = held(dm::complete(r.value));
    all.insert(all.end(), state.begin(), state.end());
    all.insert(all.end(), value.begin(), value.end());
    return all;
  };
  const auto f = [&](const auto& q) { return squares(layers()(std::get<0>(q), std::get<1>(q))); };
  const auto plain = dm::complete(dm::value_and_grad(f, std::make_tuple(p.weights, p.x))());
  const auto bits = by(dm::tape_all{count});
  const auto want = held(plain.gradient);
  REQUIRE(bits.size() == want.size() + held(plain.value).size());
  for (std::size_t i = 0; i < want.size(); ++i) CHECK(std::abs(bits[i] - want[i]) < 1e-13);
  CHECK(by(dm::revolve{count, 2}) == bits);
  CHECK(by(dm::cells{count, 2}) == bits);
  const std::string other = ": the plan has 3 steps, the chain 6; make the plan for as many";
  CHECK_THROWS_WITH_AS((void)by(dm::revolve{3, 1}), ("value_and_grad_by" + other).c_str(),
                       dm::error);
  CHECK_THROWS_WITH_AS((void)gradient_by(p, dm::recompute(dm::revolve{3, 1}, layers())),
                       ("recompute" + other).c_str(), dm::error);
}

TEST_CASE("plans that end nowhere are refused on every rank, recorded or not") {
  const problem p;
  auto w = dm::make<layer<everywhere>>(p.g);
  draw(w);
  const auto u =
      dm::normal<dm::tensor<double, by_rows, batch, width>>(p.g, dm::random_key{5}, 0, 1);
  const auto squares = [](const auto& y) { return dm::sum(y * y); };
  const auto refuses = [&](const auto& plan, const std::string& words, bool of_call = false) {
    const auto said = [&](const char* call) {
      return doctest::Contains(((of_call ? call : "") + words).c_str());
    };
    const auto again = dm::recompute(plan, block);
    const auto f = [&](const auto& v) { return squares(again(v, u)); };
    CHECK_THROWS_WITH_AS((void)dm::value_and_grad_by(plan, block, w, u, squares),
                         said("value_and_grad_by"), dm::error);
    CHECK_THROWS_WITH_AS((void)dm::value_and_grad(f, w)(), said("recompute"), dm::error);
  };
  refuses(dm::tape_all{0}, ": 0 steps; a plan has 1 at least", true);
  refuses(dm::tape_all{-1}, ": -1 steps", true);
  refuses(dm::sqrt_cells(0), ": 0 steps", true);
  refuses(dm::cells{4, 0}, "cells: 0 steps a cell");
  refuses(dm::revolve{4, 0}, "revolve: 0 slots");
  CHECK_THROWS_WITH_AS((void)dm::recompute(dm::tape_all{0}, block)(w, u),
                       doctest::Contains("recompute: 0 steps"), dm::error);
}

TEST_CASE("a disk that fails one rank at a place fails all ranks, also where the state is not") {
  const dm::grid<pod> g(MPI_COMM_WORLD, rows{1});
  auto w = dm::make<layer<there<0>>>(g);
  draw(w);
  using at_first = dm::layout<pod, dm::placed<stage, 0>, dm::split<batch, rows>>;
  const auto u = dm::normal<dm::tensor<double, at_first, batch, width>>(g, dm::random_key{5}, 0, 1);
  const auto squares = [](const auto& y) { return dm::sum(y * y); };
  const std::string there_is = std::filesystem::temp_directory_path();
  const dm::plan_settings how{.directory = g.rank() == 0 ? "/dev/null" : there_is};
  const auto plan = dm::plan_two_levels(4, 0, 0.1, 0.1);
  CHECK_THROWS_WITH_AS((void)dm::value_and_grad_by(plan, block, w, u, squares, how),
                       doctest::Contains("value_and_grad_by: the file '/dev/null/state_0"),
                       dm::error);
  const auto f = [&](const auto& v) { return squares(dm::recompute(plan, block, how)(v, u)); };
  CHECK_THROWS_WITH_AS((void)dm::value_and_grad(f, w)(),
                       doctest::Contains("recompute: the file '/dev/null/state_0"), dm::error);
}

/// Bytes at once beyond those that were there.
template <class F> dm::index_t peak_of(const F& f) {
  dm::index_t peak = 0;
  for (int again = 0; again < 2; ++again) {  // the first run makes what stays
    dm::detail::pool& memory = dm::detail::pool::instance();
    memory.restart_peak();
    const dm::index_t before = memory.figures().live;
    f();
    peak = memory.figures().peak - before;
  }
  return peak;
}

TEST_CASE("stages of a pipeline whose layers run as a plan says") {
  const int stages = ranks() >= 2 ? 2 : 1;
  const dm::grid<pod> g(MPI_COMM_WORLD, stage{stages});
  using state = dm::tensor<double, by_rows, batch, width>;
  const auto x = dm::normal<state>(g, dm::random_key{7}, 0, 1);
  const auto train = [&](auto... k) {
    auto weights = std::make_tuple(dm::make<std::array<layer<there<decltype(k)::value>>, 8>>(g)...);
    draw(weights);
    std::vector<state> micros;
    for (int i = 0; i < 4; ++i) micros.push_back(x * (1.0 + i));
    const auto input = [&micros](int i) { return micros[static_cast<std::size_t>(i)]; };
    const auto loss = [](const auto& y, int) { return dm::sum(y * y); };
    const auto numbered = [](const auto& p, const auto& v, int micro) {
      return block(p, v) * (1.0 + 0.1 * micro);
    };
    const auto by = [&](const auto& f, const auto& s) {
      const auto net = dm::pipeline<stage>(dm::cell<decltype(k)::value>(f)...);
      const auto r = dm::complete(net.value_and_grad(s, weights, input, loss));
      auto all = held(r.gradient);
      const auto value = held(r.value);
      all.insert(all.end(), value.begin(), value.end());
      return all;
    };
    const auto each = dm::each_of(numbered);
    const dm::one_f_one_b s{stages, 4};
    const auto bits = by(dm::recompute(dm::tape_all{8}, each), s);
    const auto check = [&](const auto& f) {
      CHECK(by(f, s) == bits);
      CHECK(by(f, dm::gpipe{stages, 4}) == bits);
      CHECK(by(f, dm::zb_h1{stages, 4}) == bits);
    };
    check(dm::recompute(dm::sqrt_cells(8), each));
    check(dm::recompute(dm::revolve{8, 2}, each));
    check(dm::recompute(dm::cells{8, 8, true}, each));
    // States of one stage go to files, without the ranks of another.
    const dm::plan_settings how{.directory = std::filesystem::temp_directory_path()};
    CHECK(by(dm::recompute(dm::plan_two_levels(8, 1, 0.5, 0.5), each, how), s) == bits);
    const auto plain = by(each, s);
    for (std::size_t i = 0; i < plain.size(); ++i)
      CHECK(std::abs(plain[i] - bits[i]) <= 1e-12 * (1 + std::abs(bits[i])));

    // What the ledger foresees is what is held, and less than without a plan.
    const auto memory = [&](const auto& f) {
      const auto net = dm::pipeline<stage>(dm::cell<decltype(k)::value>(f)...);
      const dm::index_t told = net.forecast(dm::gpipe{stages, 4}, weights, input, loss).peak;
      const dm::index_t seen =
          peak_of([&] { (void)net.value_and_grad(dm::gpipe{stages, 4}, weights, input, loss); });
      CHECK(seen >= told);
      CHECK(seen <= told + (stages > 1 ? 8 * 16 * 10 * 8 : 0));  // what is sent, until it arrives
      return told;
    };
    const dm::index_t all = memory(dm::recompute(dm::tape_all{8}, each));
    CHECK(memory(dm::recompute(dm::cells{8, 3, true}, each)) < all);
    CHECK(memory(dm::recompute(dm::cells{8, 8, true}, each)) < all);
  };
  if (stages == 1) train(std::integral_constant<int, 0>{});
  if (stages == 2) train(std::integral_constant<int, 0>{}, std::integral_constant<int, 1>{});
}

TEST_CASE("what layers take is counted and measured; cells and plans are made of it") {
  const problem p;
  const dm::index_t own = p.x.local_size() / 6;  // rows of this rank, as of any
  const dm::chain counted = dm::counted_chain(layers(), p.weights, p.x);
  REQUIRE(counted.all.size() == count);
  CHECK(counted.state(0) == own * 6 * 8);
  CHECK(counted.state(1) == own * 10 * 8);
  CHECK(counted.state(count) == own * 4 * 8);
  CHECK(counted.tape(0) == 2 * own * 10 * 8);  // what tanh reads, and what it gives
  CHECK(counted.tape(count - 1) == own * 4 * 8);
  CHECK(counted.forward(0) > 2.0 * double(own) * 6 * 10);
  CHECK(counted.backward(count - 1) >= 2 * counted.forward(count - 1));
  for (int i = 2; i <= static_cast<int>(depth); ++i) {
    CHECK(counted.forward(i) == counted.forward(1));
    CHECK(counted.tape(i) == counted.tape(1));
  }
  const dm::chain measured = dm::measured_chain(layers(), p.weights, p.x);
  for (int i = 0; i < count; ++i) {
    CHECK(measured.forward(i) > 0);
    CHECK(measured.backward(i) > 0);
    CHECK(measured.tape(i) == counted.tape(i));
    CHECK(measured.state(i) == counted.state(i));
  }
  // All ranks have the same numbers, and so the same cells.
  std::vector<double> first = measured.times();
  MPI_Bcast(first.data(), count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  CHECK(first == measured.times());
  CHECK(dm::partition(measured.times(), 3).size() == 4);
  // A step, again and again.
  auto w = dm::make<layer<everywhere>>(p.g);
  draw(w);
  using state = dm::tensor<double, by_rows, batch, width>;
  const auto u = dm::normal<state>(p.g, dm::random_key{5}, 0, 1);
  const dm::chain steps = dm::counted_chain(block, w, u, 5);
  CHECK(steps.all.size() == 5);
  CHECK(steps.tape(4) == counted.tape(1));
  CHECK(steps.backward(4) == counted.backward(1));

  // A plan for half the memory is within it when it runs, beside gradients and one layer's work.
  const auto squares = [](const auto& y) { return dm::sum(y * y); };
  const auto peak = [&](const auto& plan) {
    return peak_of([&] { (void)dm::value_and_grad_by(plan, layers(), p.weights, p.x, squares); });
  };
  const dm::tape_all everything{count};
  const long long room = dm::check_plan(everything, counted).memory;
  const auto half = dm::plan_chain(counted, count, room * 6 / 10, 1024);
  REQUIRE(half.fits());
  CHECK(dm::check_plan(half, counted).memory <= room * 6 / 10);
  CHECK(peak(half) <= peak(everything));
  if (ranks() == 1) CHECK(peak(half) < peak(everything));  // of few rows gradients are more
  // The same of what was measured: memory is as counted, times are those of this machine.
  const auto timed = dm::plan_chain(measured, count, room * 6 / 10, 1024);
  REQUIRE(timed.fits());
  CHECK(dm::check_plan(timed, measured).memory <= room * 6 / 10);
  CHECK(peak(timed) <= peak(everything));
}

}  // namespace
