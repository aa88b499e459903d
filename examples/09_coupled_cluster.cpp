// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A term of coupled-cluster theory: the particle-particle ladder, the costliest one of CCSD,
//   r[i, j, a, b] = 1/2 sum over e, f of t[i, j, e, f] v[a, b, e, f],
// antisymmetric in spin orbitals: of pairs those i < j, a < b and e < f, an eighth of all products.
// Integrals v, most of the memory, stay where they are; amplitudes t come to them, all at once or,
// where memory is bounded, block after block. Checked by the sum as above, and by a norm.
//
//   09_coupled_cluster [VIRTUAL OCCUPIED [PICTURE.svg]]
//
// ranks: 1 2 4
// args: 60 20
#include <census.hpp>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>
#include <dimesh/op/contract.hpp>
#include <dimesh/op/reductions.hpp>
#include <dimesh/show/draw.hpp>
#include <fstream>
#include <iostream>
#include <numbers>

#include "common/number.hpp"

namespace dm = dimesh;
using dm::index_t;

struct ij : dm::dim<> {};  // pairs of occupied orbitals
struct ab : dm::dim<> {};  // pairs of virtual ones
struct ef : dm::dim<> {};
struct rows : dm::axis<> {};
struct cols : dm::axis<> {};
struct plane : dm::mesh<rows, cols> {};
template <class P, class Q>
using tiles = dm::layout<plane, dm::split<dm::uneven<P>, rows>, dm::split<dm::uneven<Q>, cols>>;
using amplitudes = dm::tensor<double, tiles<ij, ef>, ij, ef>;
using integrals = dm::tensor<double, tiles<ab, ef>, ab, ef>;

/// Two orbitals; by a number those that are kept: 0 1, 0 2, 1 2, 0 3, ...
struct pair {
  index_t p, q;
  pair(index_t first, index_t second) : p(first), q(second) {}
  pair(index_t n) : q(index_t(1 + std::sqrt(1 + 8 * double(n))) / 2) { p = n - q * (q - 1) / 2; }
};
/// Model amplitudes, and integrals of orbitals that an orthogonal matrix turns: r is as long as t.
struct model {
  index_t virtuals;
  static double antisymmetric(const auto& f, pair x, pair y) {
    return f(x.p, y.p) * f(x.q, y.q) - f(x.p, y.q) * f(x.q, y.p);
  }
  static double t(pair x, pair y) {
    const auto near = [](index_t p, index_t q) { return 1 / double(1 + (p - q) * (p - q)); };
    return antisymmetric(near, x, y) / -double(2 + x.p + x.q + y.p + y.q);
  }
  double v(pair x, pair y) const {
    const auto turn = [n = double(virtuals + 1)](index_t p, index_t q) {
      return std::sqrt(2 / n) * std::sin(std::numbers::pi * double((p + 1) * (q + 1)) / n);
    };
    return antisymmetric(turn, x, y);
  }
  double r(pair x, pair y) const {
    double sum = 0;
    for (index_t e = 0; e < virtuals; ++e)
      for (index_t f = 0; f < virtuals; ++f) sum += t(x, {e, f}) * v(y, {e, f}) / 2;
    return sum;
  }
};
/// How many bytes a rank holds at most.
struct memory_meter final : dm::event_sink {
  index_t now = 0, most = 0;
  void take(const dm::event& e) override { most = std::max(most, now += e.memory); }
};

/// Operands are gathered if they are at most so many bytes (0: always).
template <index_t Memory>
void compute(const char* name, const amplitudes& t, const integrals& v, const model& m) {
  const auto ladder = [](const auto& x, const auto& y) {
    return dm::contract<dm::by::best<tiles<ab, ij>, Memory>, ij, ab>(x, y);
  };
  const index_t foreseen = dm::count(ladder, t, v).bytes();
  memory_meter held;
  census::reset();
  const double begin = MPI_Wtime();
  const auto r = [&, meter = dm::watch(held)] { return ladder(t, v); }();
  const double seconds = MPI_Wtime() - begin;
  const census::counts sent = census::snapshot();
  const double norm = dm::value(dm::l2_norm(t)), longer = dm::value(dm::l2_norm(r)) - norm;
  const std::vector<double> all = dm::to_rank(r);
  if (r.grid().rank() != 0) return;
  double off = 0;  // of a thousand elements, at most
  const index_t size = index_t(all.size()), n = v.extent<ab>();
  for (index_t k = 0; k < size; k += 1 + size / 1000)
    off = std::max(off, std::abs(all[std::size_t(k)] - m.r(k / n, k % n)));
  std::cout << sent << name << ": foreseen " << foreseen << " bytes a rank, which holds at most "
            << held.most << " beside operands of " << t.local_bytes() + v.local_bytes() << "; "
            << seconds << " s, off by " << off << ", longer by " << longer << "\n\n";
  if (sent.bytes() != foreseen) throw dm::error("coupled_cluster: other bytes than foreseen");
  if (!(off + std::abs(longer) < 1e-12 * norm)) throw dm::error("coupled_cluster: it is wrong");
}

int main(int argc, char** argv) {
  return dm::run(argc, argv, [&] {
    const auto orbitals = [&](int k, const char* usual) {
      return report::number<index_t>("coupled_cluster", argc > k ? argv[k] : usual, 2, 1000);
    };
    const model m{orbitals(1, "100")};
    const index_t occupied = orbitals(2, "28"), n = m.virtuals * (m.virtuals - 1) / 2;
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int across = ranks % 2 == 0 && ranks > 2 ? 2 : 1;
    const dm::grid<plane> g(rows{ranks / across}, cols{across});
    const auto t = dm::generate<amplitudes>(g, model::t, ij{occupied * (occupied - 1) / 2}, ef{n});
    const auto v = dm::generate<integrals>(g, std::bind_front(&model::v, m), ab{n}, ef{n});
    compute<0>("amplitudes at once", t, v, m);
    compute<(1 << 19)>("gathers up to 512 KiB", t, v, m);
    if (g.rank() != 0) return;
    std::cout << dm::draw_text(v);
    if (argc > 3 && !(std::ofstream(argv[3]) << dm::draw_svg(v) << std::flush))
      throw dm::error(std::string("coupled_cluster: '") + argv[3] + "' cannot be written");
  });
}
