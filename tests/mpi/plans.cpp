// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gradient of a thousand time steps, and of a stack of layers, by plans of recomputation: the
// same bits as with everything stored, and what is held is what the plan says.
//
// ranks: 1 2 4
// labels: device
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <cstring>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/shift.hpp>
#include <filesystem>

#include "dimesh/pipeline/chain_plan.hpp"
#include "dimesh/pipeline/revolve.hpp"
#include "dimesh/pipeline/run_plan.hpp"
#include "dimesh/pipeline/two_levels.hpp"
#include "support/host.hpp"

namespace dm = dimesh;

namespace {

struct place : dm::dim<> {};
struct hidden : dm::dim<10> {};
struct line : dm::axis<> {};
struct pod : dm::mesh<line> {};
using cut = dm::layout<pod, dm::split<dm::uneven<place>, line>>;
using everywhere = dm::layout<pod>;
using rod = dm::tensor<double, cut, place>;

template <class L> struct material {
  BOOST_HANA_DEFINE_STRUCT(material, (dm::tensor<double, L>, conductivity),
                           (dm::tensor<double, L>, loss));
};

/// One explicit step of heat along a rod that loses some of it, more where it is hot.
constexpr auto spread = [](const auto& m, const auto& u) {
  const auto next = dm::shift<place>(u, 1) + dm::shift<place>(u, -1) - u * 2.0;
  return u + next * m.conductivity - u * u * m.loss;
};
constexpr auto energy = [](const auto& u) { return dm::sum(u * u); };

struct heat {
  dm::grid<pod> g;
  material<everywhere> m = dm::make<material<everywhere>>(g);
  rod u;
  heat() {
    dm::fill(m.conductivity, 0.2);
    dm::fill(m.loss, 0.001);
    u = dm::uniform<rod>(g, dm::random_key{5}, 0.0, 1.0, place{23});
  }
};

template <class X> std::vector<double> held(const X& x) {
  std::vector<double> all;
  dm::for_each_tensor(
      [&all](const auto&, const auto& t) {
        all.insert(all.end(), test_support::on_host(t).data(),
                   test_support::on_host(t).data() + t.local_size());
      },
      x);
  return all;
}
bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() &&
         std::memcmp(test_support::on_host(a).data(), test_support::on_host(b).data(),
                     a.size() * sizeof(double)) == 0;
}

template <class Plan, class Step, class W, class X, class Loss>
std::vector<double> run(const Plan& plan, const Step& step, const W& w, const X& x,
                        const Loss& loss) {
  dm::plan_report report;
  const std::string directory = std::filesystem::temp_directory_path();
  const auto r =
      dm::value_and_grad_by(plan, step, w, x, loss, {.directory = directory, .report = &report});
  const dm::plan_facts facts = dm::check_plan(plan);
  CHECK(report.forward == facts.forward);
  CHECK(report.kept == facts.kept);
  CHECK(report.on_disk == facts.on_disk);
  auto all = held(r.gradient);
  for (const auto& more : {held(r.value), held(r.state)})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST_CASE("the adjoint of a thousand time steps in memory for ten states") {
  const heat h;
  constexpr int steps = 1000;
  const auto bits = run(dm::tape_all{steps}, spread, h.m, h.u, energy);
  CHECK(same(run(dm::revolve{steps, 10}, spread, h.m, h.u, energy), bits));
  CHECK(same(run(dm::sqrt_cells(steps), spread, h.m, h.u, energy), bits));

  // One tape of all of them.
  const auto whole = [](const auto& m, const auto& u0) {
    auto u = spread(m, u0);
    for (int i = 1; i < steps; ++i) u = spread(m, u);
    return energy(u);
  };
  const auto want = dm::value_and_grad(whole, h.m)(h.u);
  auto all = held(want.gradient);
  const auto value = held(want.value);
  all.insert(all.end(), value.begin(), value.end());
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(std::abs(all[i] - bits[i]) <= 1e-13 * (1 + std::abs(all[i])));
}

TEST_CASE("few steps, by every plan") {
  const heat h;
  for (const int steps : {1, 2, 5, 12, 30}) {
    CAPTURE(steps);
    const auto bits = run(dm::tape_all{steps}, spread, h.m, h.u, energy);
    for (const int slots : {1, 2, 3, 5})
      CHECK(same(run(dm::revolve{steps, slots}, spread, h.m, h.u, energy), bits));
    CHECK(same(run(dm::cells{steps, 4, true}, spread, h.m, h.u, energy), bits));
    CHECK(same(run(dm::plan_two_levels(steps, 2, 1.5, 1.0), spread, h.m, h.u, energy), bits));
    CHECK(same(run(dm::plan_two_levels(steps, 0, 1.5, 1.0), spread, h.m, h.u, energy), bits));
    dm::chain costs;
    for (int i = 0; i < steps; ++i) costs.all.push_back({1.0 + i % 3, 2.0, 1, 3});
    costs.last_state = 1;
    const auto plan = dm::plan_chain(costs, steps, 12);
    if (plan.fits()) CHECK(same(run(plan, spread, h.m, h.u, energy), bits));
  }
}

TEST_CASE("a step may know its number; layers have weights of their own") {
  const heat h;
  const auto varying = [](const auto& m, const auto& u, int i) {
    return spread(m, u) * (1.0 + 0.01 * i);
  };
  const auto bits = run(dm::tape_all{20}, varying, h.m, h.u, energy);
  CHECK(same(run(dm::revolve{20, 3}, varying, h.m, h.u, energy), bits));
  CHECK(!same(run(dm::tape_all{20}, spread, h.m, h.u, energy), bits));

  std::vector<material<everywhere>> all;
  for (int i = 0; i < 20; ++i) {
    all.push_back(dm::clone(h.m));
    dm::fill(all.back().conductivity, 0.2 - 0.004 * i);
  }
  const auto layers = run(dm::tape_all{20}, dm::each_of(spread), all, h.u, energy);
  CHECK(same(run(dm::revolve{20, 3}, dm::each_of(spread), all, h.u, energy), layers));
  CHECK(same(run(dm::sqrt_cells(20), dm::each_of(spread), all, h.u, energy), layers));
}

/// Goes back through a step that was not taped.
struct wrong_plan {
  int steps = 3;
  template <class Sink> constexpr void each(Sink&& sink) const {
    sink(dm::plan_action{dm::plan_work::reverse, 0, 3});
  }
};

TEST_CASE("plans that are wrong, or for other chains, and directories that are not there") {
  const heat h;
  CHECK_THROWS_WITH_AS((void)dm::value_and_grad_by(wrong_plan{}, spread, h.m, h.u, energy),
                       doctest::Contains("value_and_grad_by: the plan is wrong: action 0 cannot"),
                       dm::error);
  const std::vector<material<everywhere>> two{h.m, h.m};
  CHECK_THROWS_WITH_AS(
      (void)dm::value_and_grad_by(dm::revolve{3, 1}, dm::each_of(spread), two, h.u, energy),
      doctest::Contains("the plan has 3 steps, the chain 2"), dm::error);
  CHECK_THROWS_WITH_AS((void)dm::value_and_grad_by(dm::plan_two_levels(9, 0, 1.0, 1.0), spread, h.m,
                                                   h.u, energy, {.directory = "/not/there"}),
                       doctest::Contains("value_and_grad_by: the file '/not/there/state_"),
                       dm::error);
}

/// While it lives, this rank can make files and write nothing into them.
class full_disk {
 public:
  explicit full_disk(bool here) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit none = before_;
    if (here) none.rlim_cur = 0;
    setrlimit(RLIMIT_FSIZE, &none);
  }
  full_disk(const full_disk&) = delete;
  full_disk& operator=(const full_disk&) = delete;
  ~full_disk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, signal_);
  }

 private:
  rlimit before_ = {};
  void (*signal_)(int) = std::signal(SIGXFSZ, SIG_IGN);
};

TEST_CASE("a state that one rank cannot write is an error on all, when it is to be kept") {
  const heat h;
  const int last = h.g.ranks() - 1;
  const bool here = h.g.rank() == last;
  const std::string there = std::filesystem::temp_directory_path();
  const std::string of = last > 0 ? " (rank " + std::to_string(last) + ")" : "";
  int done = 0;
  const auto fault = [&](const std::string& directory) -> std::string {
    try {
      const auto step = [&done](const auto& m, const auto& u) { return ++done, spread(m, u); };
      (void)dm::value_and_grad_by(dm::plan_two_levels(9, 0, 1.0, 1.0), step, h.m, h.u, energy,
                                  {.directory = directory});
    } catch (const dm::error& e) {
      return e.what();
    }
    return "none";
  };
  for (const bool full : {false, true}) {
    const full_disk now(full && here);
    done = 0;
    const std::string said = fault(here && !full ? "/not/there" : there);
    CHECK(said.find("cannot be written or read; give a directory with room" + of) !=
          std::string::npos);
    CHECK(done == 0);
  }
}

}  // namespace
