// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A linear solver as it stands in the textbook: conjugate gradients for -laplace(u) = b on a square
// that is held at 0 around, the matrix being a stencil. Products with it fetch the neighbours'
// edges, dots are completed over all ranks, everything else is local; the types say which is which.
// One text for every way to cut the square; a serial solver checks the answer.
//
//   06_conjugate_gradient [POINTS]
//
// ranks: 1 4
#include <charconv>
#include <cmath>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/persistent.hpp>
#include <iostream>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace dm = dimesh;

struct north : dm::dim<> {};
struct east : dm::dim<> {};
struct down : dm::axis<> {};
struct across : dm::axis<> {};
struct square : dm::mesh<down, across> {};

using by_rows = dm::layout<square, dm::split<dm::uneven<north>, down, across>>;
using by_tiles =
    dm::layout<square, dm::split<dm::uneven<north>, down>, dm::split<dm::uneven<east>, across>>;

/// -laplace(u), times the spacing squared.
struct minus_laplace {
  template <class U> constexpr auto operator()(const U& u) const {
    return 4 * dm::at<>(u) - dm::at<north>(u, -1) - dm::at<north>(u, 1) - dm::at<east>(u, -1) -
           dm::at<east>(u, 1);
  }
};
/// y + a x, in one pass; in the memory of y where that is given up.
struct add_scaled {
  double a;
  template <class T> constexpr auto operator()(const T& y, const T& x) const { return y + a * x; }
};
/// a y + x, likewise.
struct scale_and_add {
  double a;
  template <class T> constexpr auto operator()(const T& y, const T& x) const { return a * y + x; }
};

double dot(const auto& x, const auto& y) { return dm::value(dm::complete(dm::einsum<>(x, y))); }

/// Solves A x = b from x = 0 until |r| <= tolerance |b|. Returns x and the steps taken.
template <class X> std::pair<X, int> conjugate_gradient(const X& b, double tolerance, int most) {
  X x = dm::zeros_like(b), r = b;
  auto edges = dm::persistent_halo_exchange<1, north, east>(b);  // the same messages in each step
  X& p = edges.operand();
  double rr = dot(r, r);
  const double enough = tolerance * tolerance * rr;
  int step = 0;
  for (; rr > enough && step < most; ++step) {
    const auto ap = dm::stencil(minus_laplace{}, edges.run());
    const double alpha = rr / dot(p, ap);
    x = dm::map(add_scaled{alpha}, std::move(x), p);
    r = dm::map(add_scaled{-alpha}, std::move(r), ap);
    const double before = std::exchange(rr, dot(r, r));
    p = dm::map(scale_and_add{rr / before}, std::move(p), r);
  }
  return {x, step};
}

/// The same on one rank, with loops over an array.
std::vector<double> serial(const std::vector<double>& b, dm::index_t n, double tolerance) {
  const auto size = b.size();
  const auto at = [n](const std::vector<double>& u, dm::index_t i, dm::index_t j) {
    return i < 0 || j < 0 || i >= n || j >= n ? 0 : u[static_cast<std::size_t>(i * n + j)];
  };
  const auto inner = [](const auto& x, const auto& y) {
    return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
  };
  std::vector<double> x(size), r = b, p = b, ap(size);
  double rr = inner(r, r);
  const double enough = tolerance * tolerance * rr;
  while (rr > enough) {
    for (dm::index_t i = 0; i < n; ++i)
      for (dm::index_t j = 0; j < n; ++j)
        ap[static_cast<std::size_t>(i * n + j)] =
            4 * at(p, i, j) - at(p, i - 1, j) - at(p, i + 1, j) - at(p, i, j - 1) - at(p, i, j + 1);
    const double alpha = rr / inner(p, ap);
    for (std::size_t k = 0; k < size; ++k) x[k] += alpha * p[k], r[k] -= alpha * ap[k];
    const double before = std::exchange(rr, inner(r, r));
    for (std::size_t k = 0; k < size; ++k) p[k] = r[k] + rr / before * p[k];
  }
  return x;
}

template <class L> void solve(const dm::grid<square>& g, dm::index_t n, const char* how) {
  using field = dm::tensor<double, L, north, east>;
  constexpr double tolerance = 1e-10;
  const auto source = [n](dm::index_t i, dm::index_t j) {  // two charges and some noise
    const bool here = i == n / 4 && j == n / 3, there = i == 3 * n / 4 && j == n / 2;
    return (here ? 1.0 : 0.0) - (there ? 1.0 : 0.0) + 1e-3 * std::sin(double(7 * i + 3 * j));
  };
  const auto b = dm::generate<field>(g, source, north{n}, east{n});
  const auto [x, steps] = conjugate_gradient(b, tolerance, static_cast<int>(10 * n));

  const std::vector<double> answer = dm::to_rank(x), whole = dm::to_rank(b);
  if (g.rank() != 0) return;
  const std::vector<double> expected = serial(whole, n, tolerance);
  double error = 0, scale = 0;
  for (std::size_t k = 0; k < answer.size(); ++k) {
    const double off = std::abs(answer[k] - expected[k]);
    if (off > error || std::isnan(off)) error = off;  // NaN stays
    scale = std::max(scale, std::abs(expected[k]));
  }
  std::cout << n << " x " << n << " points in " << how << " on " << g.ranks() << " ranks: " << steps
            << " steps, off the serial answer by " << error / scale << "\n";
  if (!(scale > 0 && error <= 1e-7 * scale))
    throw dm::error("conjugate_gradient: the answer is wrong");
}

int main(int argc, char** argv) {
  return dm::run(argc, argv, [&] {
    const std::string text = argc > 1 ? argv[1] : "60";
    dm::index_t n = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), n);
    if (argc > 2 || read.ec != std::errc{} || read.ptr != text.data() + text.size() || n < 2)
      throw dm::error("conjugate_gradient: give one number of points, at least 2");
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int rows = static_cast<int>(std::sqrt(ranks));
    while (ranks % rows != 0) --rows;
    const dm::grid<square> g(down{rows}, across{ranks / rows});
    solve<by_rows>(g, n, "rows");
    solve<by_tiles>(g, n, "tiles");
  });
}
