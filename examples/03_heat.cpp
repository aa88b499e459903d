// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Heat spreading over a square plate, on a 2-D mesh of ranks. `halo_exchange` fetches the
// neighbours' edges, and the type of its result says so; `stencil` then is local. A time step is
// both in one, `stencil_exchange`: the plate keeps its halos, which travel while the interior is
// computed, and nothing is copied but edges. The same text runs with the plate cut along one dim,
// along both, or not at all. Checked against the analytic answer; the bytes that MPI saw must be
// those that the types foresee.
//
//   03_heat [POINTS [STEPS [PICTURE.png]]]
//
// ranks: 4
#include <census.hpp>
#include <cmath>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>
#include <dimesh/op/stencil_exchange.hpp>
#include <iostream>
#include <numbers>
#include <string>

#include "common/number.hpp"
#include "common/paint.hpp"

namespace dm = dimesh;

struct north : dm::dim<> {};  // extents are given on the command line
struct east : dm::dim<> {};
struct down : dm::axis<2> {};
struct across : dm::axis<> {};
struct square : dm::mesh<down, across> {};

using by_rows = dm::layout<square, dm::split<dm::uneven<north>, down, across>>;
using by_tiles =
    dm::layout<square, dm::split<dm::uneven<north>, down>, dm::split<dm::uneven<east>, across>>;

/// One explicit Euler step of u' = laplace(u); c = time step over spacing squared, stable up to
/// 1/4.
struct diffuse {
  double c;
  template <class U> constexpr auto operator()(const U& u) const {
    return dm::at<>(u) + c * (dm::at<north>(u, -1) + dm::at<north>(u, 1) + dm::at<east>(u, -1) +
                              dm::at<east>(u, 1) - 4 * dm::at<>(u));
  }
};

/// A time step. The first points that need no edge of a neighbour are computed while edges travel.
struct advance {
  template <class U> auto operator()(const U& u) const {
    return dm::stencil_exchange(diffuse{0.2}, dm::beside_interior(dm::boundary::zero), u);
  }
};

/// How far is u from `factor` times what it was at first?
struct deviation {
  double factor;
  template <class U, class First> constexpr auto operator()(const U& u, const First& first) const {
    return dm::abs(dm::at<>(u) - factor * dm::at<>(first));
  }
};

/// Starts with one half wave in each direction, held at 0 around the plate; it keeps its shape and
/// shrinks by a known factor each step. Returns the largest error after all steps, and the bytes of
/// a step.
struct outcome {
  double error;
  dm::index_t bytes;
};
template <class L>
outcome spread(const dm::grid<square>& g, dm::index_t n, int steps, const std::string& picture) {
  const auto wave = [n](dm::index_t i) {
    return std::sin(std::numbers::pi * static_cast<double>(i + 1) / static_cast<double>(n + 1));
  };
  const auto start = [&](dm::index_t i, dm::index_t j) { return wave(i) * wave(j); };
  using plate = dm::tensor<double, L, north, east>;
  const auto first = dm::generate<plate>(g, start, north{n}, east{n});

  auto u = dm::halo_exchange<1, north, east>(first);  // its type: `plate` with halos of one point
  const auto foreseen = dm::count(advance{}, u);
  census::reset();
  for (int step = 0; step < steps; ++step) u = advance{}(u);
  const dm::index_t seen = census::snapshot().bytes(), bytes = foreseen.template bytes<>();
  if (g.rank() == 0 && seen != steps * bytes) throw dm::error("heat: other bytes than foreseen");

  const double shrink = 1 - 0.8 * (1 - std::cos(std::numbers::pi / static_cast<double>(n + 1)));
  const auto error = dm::stencil(deviation{std::pow(shrink, steps)}, u, first);
  if (!picture.empty()) {
    const auto whole = dm::to_rank(u);
    if (g.rank() == 0) example::paint(picture, whole, n, std::pow(shrink, steps));
  }
  return {dm::value(dm::complete(dm::max(error))), bytes};
}

int main(int argc, char** argv) {
  return dm::run(argc, argv, [&] {
    if (argc > 4) throw dm::error("heat: too many arguments; give: [POINTS [STEPS [PICTURE.png]]]");
    const int n = argc > 1 ? report::number("heat", argv[1], 1, 1 << 20) : 100;
    const int steps = argc > 2 ? report::number("heat", argv[2], 1, 1 << 20) : 200;
    dm::grid<square> g;
    const std::string picture = argc > 3 ? argv[3] : "";
    const outcome rows = spread<by_rows>(g, n, steps, ""),
                  tiles = spread<by_tiles>(g, n, steps, picture);
    if (g.rank() == 0)
      std::cout << n << " x " << n << " points, " << steps << " steps on " << g.ranks()
                << " ranks\n"
                << "largest error, cut into rows:  " << rows.error << ", " << rows.bytes
                << " bytes a step as foreseen\n"
                << "largest error, cut into tiles: " << tiles.error << ", " << tiles.bytes
                << " bytes a step as foreseen\n";
    if (!(rows.error < 1e-12 && tiles.error < 1e-12))
      throw dm::error("heat: the plate did not cool as it should");
  });
}
