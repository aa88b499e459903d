// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do steps of conjugate gradients cost (examples/06: a stencil, halos, dots) beside MPI and
// loops by hand? Bar: 1.03 of a twin with the same passes over memory. The second twin is lean: it
// keeps p with its ghost points, which saves a copy, and updates x and r in one loop; its ratio is
// only printed.
//
//   benchmarks/conjugate_gradient [--quick]
//
// ranks: 1 2
#include <dimesh/dimesh.hpp>
#include <dimesh/op/persistent.hpp>
#include <dimesh/op/stencil.hpp>

#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "support/race.hpp"

namespace {

namespace dm = dimesh;

struct north : dm::dim<> {};
struct east : dm::dim<> {};
struct ranks : dm::axis<> {};
struct line : dm::mesh<ranks> {};
using by_rows = dm::layout<line, dm::split<north, ranks>>;
using field = dm::tensor<double, by_rows, north, east>;

struct minus_laplace {
  template <class U> constexpr auto operator()(const U& u) const {
    return 4 * dm::at<>(u) - dm::at<north>(u, -1) - dm::at<north>(u, 1) - dm::at<east>(u, -1) -
           dm::at<east>(u, 1);
  }
};
struct add_scaled {
  double a;
  template <class T> constexpr auto operator()(const T& y, const T& x) const { return y + a * x; }
};
struct scale_and_add {
  double a;
  template <class T> constexpr auto operator()(const T& y, const T& x) const { return a * y + x; }
};
double dot(const field& x, const field& y) { return dm::value(dm::complete(dm::einsum<>(x, y))); }

using edges_of_field =
    decltype(dm::persistent_halo_exchange<1, north, east>(std::declval<field>()));

/// With the edges of p that travel, and what they need, from solve to solve, as in the twins.
double typed_steps(const field& b, edges_of_field& edges, int steps) {
  field x = dm::zeros_like(b), r = b;
  field& p = edges.operand();
  double rr = dot(r, r), before = 0;
  for (int step = 0; step < steps; ++step) {
    const double beta = step == 0 ? 0 : rr / before;
    p = dm::map(scale_and_add{beta}, std::move(p), r);
    const auto ap = dm::stencil(minus_laplace{}, edges.run());
    const double alpha = rr / dot(p, ap);
    x = dm::map(add_scaled{alpha}, std::move(x), p);
    r = dm::map(add_scaled{-alpha}, std::move(r), ap);
    before = std::exchange(rr, dot(r, r));
  }
  return rr;
}

/// Rows of a square, with a border of one point where asked.
class by_hand {
 public:
  by_hand(MPI_Comm comm, const double* b, long rows, long columns)
      : comm_(comm), rows_(rows), columns_(columns), b_(b, b + rows * columns) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &size_);
    const auto n = static_cast<std::size_t>(rows * columns);
    for (auto* v : {&x_, &r_, &p_, &ap_}) v->resize(n);
    wide_.resize(static_cast<std::size_t>((rows + 2) * (columns + 2)));
  }

  double same_passes(int steps) {
    start();
    p_ = b_;
    double rr = dot(r_, r_);
    for (int step = 0; step < steps; ++step) {
      std::fill(wide_.begin(), wide_.end(), 0.0);
      for (long i = 0; i < rows_; ++i)
        std::memcpy(inner(i), &p_[at(i)], static_cast<std::size_t>(columns_) * sizeof(double));
      exchange();
      product();
      const double alpha = rr / dot(p_, ap_);
      add(x_.data(), alpha, p_.data(), x_.data());
      add(r_.data(), -alpha, ap_.data(), r_.data());
      const double before = std::exchange(rr, dot(r_, r_));
      add(r_.data(), rr / before, p_.data(), p_.data());
    }
    return rr;
  }
  double lean(int steps) {
    start();
    std::fill(wide_.begin(), wide_.end(), 0.0);
    for (long i = 0; i < rows_; ++i)
      std::memcpy(inner(i), &b_[at(i)], static_cast<std::size_t>(columns_) * sizeof(double));
    double rr = dot(r_, r_);
    for (int step = 0; step < steps; ++step) {
      exchange();
      product();
      double pap = 0;
      for (long i = 0; i < rows_; ++i) {
        const double *p = inner(i), *ap = &ap_[at(i)];
#pragma omp simd reduction(+ : pap)
        for (long j = 0; j < columns_; ++j) pap += p[j] * ap[j];
      }
      const double alpha = rr / summed(pap);
      double now = 0;
      for (long i = 0; i < rows_; ++i) {
        const double *p = inner(i), *ap = &ap_[at(i)];
        double *x = &x_[at(i)], *r = &r_[at(i)];
#pragma omp simd reduction(+ : now)
        for (long j = 0; j < columns_; ++j) {
          x[j] += alpha * p[j];
          r[j] -= alpha * ap[j];
          now += r[j] * r[j];
        }
      }
      const double before = std::exchange(rr, summed(now));
      for (long i = 0; i < rows_; ++i) add_row(&r_[at(i)], rr / before, inner(i), inner(i));
    }
    return rr;
  }

 private:
  std::size_t at(long i) const { return static_cast<std::size_t>(i * columns_); }
  double* inner(long i) { return wide_.data() + (i + 1) * (columns_ + 2) + 1; }
  void start() {
    std::fill(x_.begin(), x_.end(), 0.0);
    r_ = b_;
  }
  double summed(double mine) const {
    double all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, comm_);
    return all;
  }
  double dot(const std::vector<double>& x, const std::vector<double>& y) const {
    double sum = 0;
    const double *a = x.data(), *b = y.data();
    const long n = rows_ * columns_;
#pragma omp simd reduction(+ : sum)
    for (long k = 0; k < n; ++k) sum += a[k] * b[k];
    return summed(sum);
  }
  /// z = y + a x
  void add_row(const double* y, double a, const double* x, double* z) const {
#pragma omp simd
    for (long j = 0; j < columns_; ++j) z[j] = y[j] + a * x[j];
  }
  void add(const double* y, double a, const double* x, double* z) const {
    const long n = rows_ * columns_;
#pragma omp simd
    for (long k = 0; k < n; ++k) z[k] = y[k] + a * x[k];
  }
  void exchange() {
    const int n = static_cast<int>(columns_), up = rank_ > 0 ? rank_ - 1 : MPI_PROC_NULL,
              down = rank_ + 1 < size_ ? rank_ + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(inner(0), n, MPI_DOUBLE, up, 0, inner(rows_), n, MPI_DOUBLE, down, 0, comm_,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(inner(rows_ - 1), n, MPI_DOUBLE, down, 1, inner(-1), n, MPI_DOUBLE, up, 1, comm_,
                 MPI_STATUS_IGNORE);
  }
  void product() {
    const long w = columns_ + 2;
    for (long i = 0; i < rows_; ++i) {
      const double* u = inner(i);
      double* out = &ap_[at(i)];
#pragma omp simd
      for (long j = 0; j < columns_; ++j)
        out[j] = 4 * u[j] - u[j - w] - u[j + w] - u[j - 1] - u[j + 1];
    }
  }

  MPI_Comm comm_;
  int rank_ = 0, size_ = 1;
  long rows_, columns_;
  std::vector<double> b_, x_, r_, p_, ap_, wide_;
};

}  // namespace

int main(int argc, char** argv) {
  return dm::run(argc, argv, [&] {
    const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
    const dm::grid<line> g;
    const MPI_Comm comm = g.along<ranks>();
    const bool talks = g.rank() == 0;
    if (talks) bench::headline("10 steps of conjugate gradients");
    int met = 0, bars = 0;
    for (const long n : {64L, 256L, 1024L}) {
      const auto b = dm::uniform<field>(g, dm::random_key{1}, -1, 1, north{n}, east{n});
      by_hand hand(comm, b.data(), b.local<north>(), n);
      auto edges = dm::persistent_halo_exchange<1, north, east>(dm::zeros_like(b));
      constexpr int steps = 10;
      const double a = typed_steps(b, edges, steps), c = hand.same_passes(steps),
                   d = hand.lean(steps);
      if (!(std::abs(a - c) < 1e-9 * c && std::abs(a - d) < 1e-9 * d))
        throw dm::error("conjugate_gradient: the twins do not agree");
      double sink = 0;
      auto [typed, same, lean] = bench::race(comm, quick ? 0.3 : 3.0)(
          [&] { sink += typed_steps(b, edges, steps); }, [&] { sink += hand.same_passes(steps); },
          [&] { sink += hand.lean(steps); });
      const std::string what = std::to_string(n) + "^2 points, " + std::to_string(g.ranks()) +
                               (g.ranks() > 1 ? " ranks" : " rank");
      ++bars;
      met += bench::report(what + ", same passes", typed, {same}, 1.03, true, !talks);
      bench::report(what + ", lean twin (no bar)", typed, {lean}, 99, true, !talks);
      if (sink == 0) throw dm::error("conjugate_gradient: nothing was computed");
    }
    if (talks) std::printf("%d of %d bars met\n", met, bars);
  });
}
