// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is a plate made of, if one knows how hot it was at first and is in the end? The gradient of
// a thousand time steps answers that, and needs their states in reverse: `revolve` keeps ten of
// them and takes the steps between them again, with the fewest steps that ten states allow. The
// plate is cut into tiles; halos travel on the way there, and what they have caused on the way
// back.
//
//   10_heat_adjoint [POINTS [STEPS [ROUNDS]]]
//
// ranks: 1 4
// args: 16 1000 3
#include <dimesh/grad/recompute.hpp>
#include <dimesh/optim/adam.hpp>
#include <dimesh/pipeline/revolve.hpp>
#include <dimesh/pipeline/run_plan.hpp>
#include <dimesh/train/memory_use.hpp>
#include <dimesh/train/run.hpp>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <dimesh/dimesh.hpp>
#include <string>

namespace dm = dimesh;

struct north : dm::dim<> {};  // extents are given on the command line
struct east : dm::dim<> {};
struct down : dm::axis<> {};
struct across : dm::axis<> {};
struct square : dm::mesh<down, across> {};
using tiles =
    dm::layout<square, dm::split<dm::uneven<north>, down>, dm::split<dm::uneven<east>, across>>;
using plate = dm::tensor<double, tiles, north, east>;

template <class L> struct material {
  BOOST_HANA_DEFINE_STRUCT(material, (dm::tensor<double, L, north, east>, conductivity));
};

/// How much hotter are the neighbours of a point, all together? Around the plate it is 0.
struct surplus {
  template <class U> constexpr auto operator()(const U& u) const {
    return dm::at<north>(u, -1) + dm::at<north>(u, 1) + dm::at<east>(u, -1) + dm::at<east>(u, 1) -
           4 * dm::at<>(u);
  }
};
/// An explicit Euler step; conductivities are stable up to 1/4.
constexpr auto spread = [](const auto& m, const auto& u) {
  return u + m.conductivity * dm::stencil(surplus{}, dm::halo_exchange<1, north, east>(u));
};

int ranks() {
  int n = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  return n;
}

struct experiment {
  dm::grid<square> g{MPI_COMM_WORLD, down{ranks() % 2 == 0 ? 2 : 1}};
  dm::index_t n;
  int steps;
  plate first, seen;

  experiment(dm::index_t points, int steps_taken) : n(points), steps(steps_taken) {
    first = made([](double y, double x) {
      const auto near = [](double a, double b) { return std::exp(-30 * (a - b) * (a - b)); };
      return near(y, 0.3) * near(x, 0.4) + near(y, 0.7) * near(x, 0.6);
    });
    material<tiles> what{made([](double y, double x) {
      return std::hypot(y - 0.5, x - 0.5) < 0.2 ? 0.05 : 0.2;  // a disk that conducts less
    })};
    seen = first;
    for (int i = 0; i < steps; ++i) seen = spread(what, seen);
  }
  /// f(y, x) of places in [0, 1].
  template <class F> plate made(const F& f) const {
    const auto at = [this](dm::index_t i) {
      return (static_cast<double>(i) + 0.5) / static_cast<double>(n);
    };
    return dm::generate<plate>(
        g, [&](dm::index_t i, dm::index_t j) { return f(at(i), at(j)); }, north{n}, east{n});
  }
  material<tiles> guess() const {
    return {made([](double, double) { return 0.15; })};
  }
  /// How far is the plate from what was seen in the end?
  auto mismatch() const {
    return [this](const auto& u) {
      const auto off = u - dm::stop_gradient(seen);
      return dm::sum(off * off) * 0.5;
    };
  }
  template <class Plan>
  auto gradient(const Plan& plan, const material<tiles>& m,
                dm::plan_report* report = nullptr) const {
    return dm::value_and_grad_by(plan, spread, m, first, mismatch(), {.report = report});
  }
  double loss(const material<tiles>& m) const {
    plate u = first;
    for (int i = 0; i < steps; ++i) u = spread(m, u);
    return dm::value(dm::complete(mismatch()(u)));
  }
  bool tells() const { return g.rank() == 0; }
};

/// A row of the table; returns the most bytes of tensors at once on this rank beyond those that
/// were there before.
template <class Plan>
double took(const experiment& e, const char* name, const Plan& plan, const material<tiles>& m) {
  dm::plan_report report;
  const dm::index_t before = dm::memory_in_use().live;
  dm::restart_peak_memory();
  const double began = dm::timeline::now();
  const auto r = e.gradient(plan, m, &report);
  const double seconds = dm::timeline::now() - began;
  const auto bytes = static_cast<double>(dm::memory_in_use().peak - before);
  if (e.tells())
    std::printf("%-12s %6d %9lld %12.1f %10.3f\n", name, report.kept, report.forward, bytes / 1024,
                seconds);
  return bytes;
}

/// Plans beside each other; those that keep so many states need as much for half of the steps.
void compare_plans(const experiment& e) {
  const auto m = e.guess();
  if (e.tells())
    std::printf("%-12s %6s %9s %12s %10s\n", "plan", "states", "steps", "KiB a rank", "seconds");
  took(e, "tape_all", dm::tape_all{e.steps}, m);
  took(e, "sqrt_cells", dm::sqrt_cells(e.steps), m);
  for (const int slots : {30, 3}) took(e, "revolve", dm::revolve{e.steps, slots}, m);
  const double whole = took(e, "revolve", dm::revolve{e.steps, 10}, m);
  const double half = took(e, "half of it", dm::revolve{e.steps / 2, 10}, m);
  if (whole != half)
    throw dm::error("heat: ten states take more memory where there are more steps");
}

/// The gradient along a direction beside a difference of two losses.
void check_gradient(const experiment& e) {
  const auto m = e.guess();
  const auto along = dm::uniform<plate>(e.g, dm::random_key{3}, -1.0, 1.0, north{e.n}, east{e.n});
  const auto r = e.gradient(dm::revolve{e.steps, 10}, m);
  const double slope =
      dm::value(dm::complete(dm::sum(dm::complete(r.gradient.conductivity) * along)));
  constexpr double h = 1e-5;
  const double difference =
      (e.loss({m.conductivity + along * h}) - e.loss({m.conductivity + along * -h})) / (2 * h);
  if (e.tells())
    std::printf("along a direction: gradient %.9g, difference %.9g\n", slope, difference);
  if (!(std::abs(slope - difference) <= 1e-5 * std::abs(difference)))
    throw dm::error("heat: the gradient is not what the loss does");
}

/// Follows the gradient from a plate of one material.
void find_material(const experiment& e, int rounds) {
  auto m = e.guess();
  const dm::adam optimizer{.rate = 0.01};
  auto state = optimizer.start(m);
  dm::training_run run(e.g, {.steps = rounds, .loss = "mismatch"}, {});
  run.loop.step = [&](dm::index_t i) -> dm::metrics {
    auto r = e.gradient(dm::revolve{e.steps, 10}, m);
    const double now = dm::value(dm::complete(r.value));
    if (e.tells()) std::printf("round %3d: mismatch %.6g\n", static_cast<int>(i), now);
    optimizer(m, dm::complete(r.gradient), state);
    return {{"mismatch", now}};
  };
  run.go();
  if (rounds > 1 && !(run.losses().back() < run.losses().front()))
    throw dm::error("heat: the mismatch does not get smaller");
}

/// The number that an argument is, at least `least`.
int number(const std::string& text, int least) {
  int n = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, n);
  if (read.ec != std::errc{} || read.ptr != end || n < least || n > 1 << 20)
    throw dm::error("heat: '" + text + "' is no number from " + std::to_string(least) + " to " +
                    std::to_string(1 << 20) + "; give: [POINTS [STEPS [ROUNDS]]]");
  return n;
}

int main(int argc, char** argv) {
  return dm::run(argc, argv, [&] {
    if (argc > 4) throw dm::error("heat: too many arguments; give: [POINTS [STEPS [ROUNDS]]]");
    const int points = argc > 1 ? number(argv[1], 4) : 100,
              steps = argc > 2 ? number(argv[2], 40) : 1000;
    const experiment e(points, steps);
    if (e.tells())
      std::printf("%d x %d points, %d steps on %s\n", points, points, steps,
                  dm::describe_mesh(e.g).c_str());
    compare_plans(e);
    check_gradient(e);
    find_material(e, argc > 3 ? number(argv[3], 0) : 10);
  });
}
