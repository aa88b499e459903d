// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A term of coupled-cluster theory: the particle-particle ladder, the costliest one of CCSD,
//   r[a, b, i, j] = sum over c, d of v[a, b, c, d] t[c, d, i, j],
// of integrals and amplitudes that stand as blocks on a plane of ranks. Neither lies as a product
// wants it; a schedule says what travels. Beside a serial sum, with bytes as foreseen and counted,
// and a picture of which rank holds which integrals.
//
//   09_coupled_cluster [PICTURE.svg]
//
// ranks: 1 2 4
#include <cmath>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>
#include <dimesh/op/contract.hpp>
#include <dimesh/show/draw.hpp>
#include <fstream>
#include <iostream>

#include "census.hpp"

namespace dm = dimesh;

struct a : dm::dim<10> {};  // virtual orbitals
struct b : dm::dim<10> {};
struct c : dm::dim<10> {};
struct d : dm::dim<10> {};
struct i : dm::dim<6> {};  // occupied ones
struct j : dm::dim<6> {};
struct rows : dm::axis<> {};
struct cols : dm::axis<> {};
struct plane : dm::mesh<rows, cols> {};

using integrals =
    dm::tensor<double, dm::layout<plane, dm::split<a, rows>, dm::split<c, cols>>, a, b, c, d>;
using amplitudes =
    dm::tensor<double, dm::layout<plane, dm::split<c, rows>, dm::split<i, cols>>, c, d, i, j>;
using result_layout = dm::layout<plane, dm::split<a, rows>, dm::split<i, cols>>;

/// Model integrals and amplitudes, of the symmetry that real ones have: orbitals 1 and 2 may change
/// places with each other.
constexpr auto integral = [](dm::index_t p, dm::index_t q, dm::index_t r, dm::index_t s) {
  const auto one = [](dm::index_t x, dm::index_t y) {
    return 1.0 / static_cast<double>(1 + (x - y) * (x - y));
  };
  return one(p, r) * one(q, s);
};
constexpr auto amplitude = [](dm::index_t p, dm::index_t q, dm::index_t k, dm::index_t l) {
  return -integral(p, q, k, l) / static_cast<double>(20 + p + q - k - l);
};

template <class Schedule> struct ladder {
  template <class V, class T> constexpr auto operator()(const V& v, const T& t) const {
    return dm::relayout<result_layout>(dm::contract<Schedule, a, b, i, j>(v, t));
  }
};

/// The term on one rank.
double serial(dm::index_t p, dm::index_t q, dm::index_t k, dm::index_t l) {
  double sum = 0;
  for (dm::index_t r = 0; r < c::extent; ++r)
    for (dm::index_t s = 0; s < d::extent; ++s) sum += integral(p, q, r, s) * amplitude(r, s, k, l);
  return sum;
}

/// The most of what was seen and of one more difference; once NaN, it stays that.
double farther(double most, double difference) {
  const double far = std::abs(difference);
  return far > most || std::isnan(far) ? far : most;
}

template <class Schedule> void compute(const dm::grid<plane>& g, const char* name) {
  const auto v = dm::generate<integrals>(g, integral);
  const auto t = dm::generate<amplitudes>(g, amplitude);
  const auto foreseen = dm::count(ladder<Schedule>{}, v, t);
  census::reset();
  const auto r = ladder<Schedule>{}(v, t);
  const auto counted = census::snapshot();

  dm::index_t bytes = 0, seen = 0;
  for (unsigned axes = 1; axes < (1u << plane::rank); ++axes) {
    bytes += foreseen.counts.over[axes].bytes;
    seen += counted.bytes_on(axes);
  }
  const std::vector<double> all = dm::to_rank(r);
  if (g.rank() != 0) return;
  double error = 0, asymmetry = 0;
  const auto at = [&](dm::index_t p, dm::index_t q, dm::index_t k, dm::index_t l) {
    const dm::index_t place = ((p * b::extent + q) * i::extent + k) * j::extent + l;
    return all[static_cast<std::size_t>(place)];
  };
  for (dm::index_t p = 0; p < a::extent; ++p)
    for (dm::index_t q = 0; q < b::extent; ++q)
      for (dm::index_t k = 0; k < i::extent; ++k)
        for (dm::index_t l = 0; l < j::extent; ++l) {
          error = farther(error, at(p, q, k, l) - serial(p, q, k, l));
          asymmetry = farther(asymmetry, at(p, q, k, l) - at(q, p, l, k));
        }
  std::cout << name << ": foreseen " << bytes << " bytes a rank, counted " << seen
            << "; off the serial answer by " << error << ", off its symmetry by " << asymmetry
            << "\n";
  if (seen != bytes) throw dm::error("coupled_cluster: other bytes than foreseen");
  if (!(error < 1e-12 && asymmetry < 1e-12)) throw dm::error("coupled_cluster: a wrong answer");
}

int main(int argc, char** argv) {
  return dm::run(argc, argv, [&] {
    if (argc > 2) throw dm::error("coupled_cluster: too many arguments; give: [PICTURE.svg]");
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int down = ranks % 2 == 0 && ranks > 2 ? 2 : 1;
    const dm::grid<plane> g(rows{down}, cols{ranks / down});
    compute<dm::by::gather>(g, "gather");
    compute<dm::by::summa<rows, cols, 2>>(g, "summa");
    compute<dm::by::best<result_layout>>(g, "best");
    if (g.rank() == 0) std::cout << dm::draw_text<integrals>(g);
    if (g.rank() == 0 && argc > 1 &&
        !(std::ofstream(argv[1]) << dm::draw_svg<integrals>(g) << std::flush))
      throw dm::error(std::string("coupled_cluster: '") + argv[1] + "' cannot be written");
  });
}
