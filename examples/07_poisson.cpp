// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Poisson's equation on a periodic square, -laplace(u) = f, by Fourier transforms on a 2-D mesh of
// ranks. A transform needs whole lines, and each rank has a tile: the splits move on the way, by
// all-to-alls, and the type of the spectrum says where they are then. In between, each wave is
// divided by its wave number squared. Checked against the analytic answer; the bytes that MPI saw
// must be those that the types foresee.
//
//   07_poisson [POINTS [PICTURE.png]]
//
// ranks: 1 2 4
#include <census.hpp>
#include <charconv>
#include <cmath>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>
#include <dimesh/op/fft_all_to_all.hpp>
#include <iostream>
#include <numbers>
#include <string>

#include "common/paint.hpp"

namespace dm = dimesh;

struct north : dm::dim<> {};
struct east : dm::dim<> {};
struct wave : dm::dim<> {};  // of east: half of the transform of real numbers
struct down : dm::axis<> {};
struct across : dm::axis<> {};
struct square : dm::mesh<down, across> {};
using tiles =
    dm::layout<square, dm::split<dm::uneven<north>, down>, dm::split<dm::uneven<east>, across>>;
using field = dm::tensor<double, tiles, north, east>;
// What rfft_all_to_all leaves; were it otherwise, the product below would not compile.
using spectrum =
    dm::tensor<std::complex<double>, dm::layout<square, dm::split<dm::uneven<wave>, down, across>>,
               north, wave>;

constexpr double turn = 2 * std::numbers::pi;

/// u from f, of mean zero. `inverse` holds 1 / k^2 for each wave.
struct solve {
  template <class F, class S> constexpr auto operator()(const F& f, const S& inverse) const {
    const auto waves = dm::rfft_all_to_all<east, wave, north>(f);
    const auto u =
        dm::irfft_all_to_all<wave, east, north>(waves * inverse, east{f.template extent<east>()});
    return dm::relayout<tiles>(u);
  }
};

void run(const dm::grid<square>& g, dm::index_t n, const std::string& picture) {
  const auto angle = [n](dm::index_t i) { return turn * double(i) / double(n); };
  const auto answer = [&](dm::index_t i, dm::index_t j) {
    return std::sin(angle(i)) * std::cos(2 * angle(j)) + 0.5 * std::cos(angle(3 * i + j));
  };
  const auto source = [&](dm::index_t i, dm::index_t j) {  // minus the second derivatives
    return turn * turn *
           (5 * std::sin(angle(i)) * std::cos(2 * angle(j)) +
            10 * 0.5 * std::cos(angle(3 * i + j)));
  };
  const auto inverse_square = [n](dm::index_t i, dm::index_t j) {
    const double a = turn * double(2 * i > n ? i - n : i), b = turn * double(j);
    return i == 0 && j == 0 ? 0.0 : 1 / (a * a + b * b);
  };
  const auto f = dm::generate<field>(g, source, north{n}, east{n});
  const auto inverse = dm::generate<spectrum>(g, inverse_square, north{n}, wave{n / 2 + 1});

  const auto foreseen = dm::count(solve{}, f, inverse);
  census::reset();
  const field u = solve{}(f, inverse);
  const auto seen = census::snapshot();

  const auto expected = dm::generate<field>(g, answer, north{n}, east{n});
  const double error = dm::value(dm::complete(dm::max(dm::abs(u - expected))));
  const std::vector<double> whole = dm::to_rank(u);
  if (g.rank() != 0) return;
  if (!picture.empty()) example::paint(picture, whole, n, 1.5);
  std::cout << n << " x " << n << " points on " << g.ranks() << " ranks: off the answer by "
            << error << ", bytes predicted " << foreseen.bytes<>() << " = counted " << seen.bytes()
            << "\n";
  if (!(error < 1e-12)) throw dm::error("poisson: the answer is wrong");
  if (foreseen.bytes<>() != seen.bytes()) throw dm::error("poisson: other bytes than foreseen");
}

int main(int argc, char** argv) {
  return dm::run(argc, argv, [&] {
    const std::string text = argc > 1 ? argv[1] : "90";
    dm::index_t n = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), n);
    if (argc > 3 || read.ec != std::errc{} || read.ptr != text.data() + text.size() || n < 8)
      throw dm::error("poisson: give one number of points, at least 8, and a file if you like");
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int rows = static_cast<int>(std::sqrt(ranks));
    while (ranks % rows != 0) --rows;
    const dm::grid<square> g(down{rows}, across{ranks / rows});
    if (dm::local::has_fftw)
      run(g, n, argc > 2 ? argv[2] : "");
    else if (g.rank() == 0)
      std::cout << "poisson: skipped, for want of FFTW (Debian: libfftw3-dev)\n";
  });
}
