// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a step of a five-point stencil cost on tiles of a plane of ranks, edges and all, beside
// one written by hand: MPI_Type_vector for columns, MPI_Isend and MPI_Irecv, and a loop? Bar: 1.03
// of its time. On two ranks the columns are split, which do not lie together.
// ranks: 2 4
//
//   mpirun -n 2 benchmarks/stencil [--quick]
#include <dimesh/dimesh.hpp>
#include <dimesh/interop/host_block.hpp>
#include <dimesh/op/stencil_exchange.hpp>

#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "support/race.hpp"

namespace {

namespace dm = dimesh;

struct north : dm::dim<> {};
struct east : dm::dim<> {};
struct down : dm::axis<> {};
struct across : dm::axis<> {};
struct plane : dm::mesh<down, across> {};
using tiles = dm::layout<plane, dm::split<north, down>, dm::split<east, across>>;
using field = dm::tensor<double, tiles, north, east>;

struct diffuse {
  template <class U> constexpr auto operator()(const U& u) const {
    return dm::at<>(u) + 0.2 * (dm::at<north>(u, -1) + dm::at<north>(u, 1) + dm::at<east>(u, -1) +
                                dm::at<east>(u, 1) - 4 * dm::at<>(u));
  }
};

/// A tile with its edge of one point, as one writes it with MPI. Zero around the plane.
class by_hand {
 public:
  by_hand(MPI_Comm comm, int rows, int cols, int n, int m)
      : comm_(comm), n_(n), m_(m), u_(static_cast<std::size_t>((n + 2) * (m + 2))), v_(u_.size()) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    const int r = rank / cols, c = rank % cols;
    to_[0] = r > 0 ? rank - cols : MPI_PROC_NULL;
    to_[1] = r < rows - 1 ? rank + cols : MPI_PROC_NULL;
    to_[2] = c > 0 ? rank - 1 : MPI_PROC_NULL;
    to_[3] = c < cols - 1 ? rank + 1 : MPI_PROC_NULL;
    MPI_Type_contiguous(m, MPI_DOUBLE, &row_);
    MPI_Type_vector(n, 1, m + 2, MPI_DOUBLE, &column_);
    MPI_Type_commit(&row_);
    MPI_Type_commit(&column_);
  }
  by_hand(const by_hand&) = delete;
  ~by_hand() {
    MPI_Type_free(&row_);
    MPI_Type_free(&column_);
  }
  double& at(int i, int j) { return u_[static_cast<std::size_t>((i + 1) * (m_ + 2) + j + 1)]; }

  void step() {
    const int w = m_ + 2;
    for (int i = 1; i <= n_; ++i) {
      const double* const u = u_.data() + i * w;
      double* const v = v_.data() + i * w;
#pragma omp simd
      for (int j = 1; j <= m_; ++j)
        v[j] = u[j] + 0.2 * (u[j - w] + u[j + w] + u[j - 1] + u[j + 1] - 4 * u[j]);
    }
    u_.swap(v_);
    exchange();
  }
  void exchange() {
    const int w = m_ + 2;
    double* const u = u_.data();
    double* const inner[] = {u + w + 1, u + n_ * w + 1, u + w + 1, u + w + m_};
    double* const outer[] = {u + 1, u + (n_ + 1) * w + 1, u + w, u + w + m_ + 1};
    MPI_Request q[8];
    for (int k = 0; k < 4; ++k) {
      const MPI_Datatype edge = k < 2 ? row_ : column_;
      MPI_Irecv(outer[k], 1, edge, to_[k], k ^ 1, comm_, &q[k]);
      MPI_Isend(inner[k], 1, edge, to_[k], k, comm_, &q[4 + k]);
    }
    MPI_Waitall(8, q, MPI_STATUSES_IGNORE);
  }

 private:
  MPI_Comm comm_;
  int n_, m_, to_[4];
  std::vector<double> u_, v_;
  MPI_Datatype row_, column_;
};

void compare(const dm::grid<plane>& g, int size) {
  const int rows = static_cast<int>(g.size<down>()), cols = static_cast<int>(g.size<across>());
  const auto bump = [size](dm::index_t i, dm::index_t j) {
    return std::sin(3.0 * double(i) / size) * std::cos(5.0 * double(j) / size);
  };
  auto u = dm::halo_exchange<1, north, east>(dm::generate<field>(g, bump, north{size}, east{size}));
  by_hand twin(MPI_COMM_WORLD, rows, cols, size / rows, size / cols);
  const dm::index_t top = u.block<north>().offset, left = u.block<east>().offset;
  for (int i = 0; i < size / rows; ++i)
    for (int j = 0; j < size / cols; ++j) twin.at(i, j) = bump(top + i, left + j);
  twin.exchange();

  const auto step = [&] { u = dm::stencil_exchange(diffuse{}, dm::boundary::zero, u); };
  const auto beside = [&] {
    u = dm::stencil_exchange(diffuse{}, dm::beside_interior(dm::boundary::zero), u);
  };
  step();
  twin.step();
  double apart = 0;
  const dm::host_block values(u);  // with its edge
  for (int i = 0; i < size / rows; ++i)
    for (int j = 0; j < size / cols; ++j)
      apart = std::max(
          apart, std::abs(twin.at(i, j) - values.data()[(i + 1) * (size / cols + 2) + j + 1]));
  if (!(apart < 1e-12)) throw dm::error("stencil: the twin computes something else");

  const auto [typed, meanwhile, hand] =
      bench::race(MPI_COMM_WORLD, 2.0)(step, beside, [&] { twin.step(); });
  const bool quiet = g.rank() != 0;
  const std::string name = std::to_string(size) + " x " + std::to_string(size) + " on " +
                           std::to_string(rows) + " x " + std::to_string(cols);
  bench::report(name + ", after the points", typed, {hand}, 1.03, true, quiet);
  bench::report(name + ", beside the interior", meanwhile, {hand}, 1.03, true, quiet);
}

}  // namespace

int main(int argc, char** argv) {
  return dm::run(argc, argv, [&] {
    const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int over = ranks % 2 == 0 && ranks > 2 ? 2 : 1;
    const dm::grid<plane> g(down{over}, across{ranks / over});
    if (g.rank() == 0) bench::headline("a step of a five-point stencil");
    for (const int size : {64, 256, 1024, 4096})
      if (!quick || size <= 256) compare(g, size);
  });
}
