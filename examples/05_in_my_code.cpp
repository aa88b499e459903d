// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A code that is there already: its own MPI_Init and communicator, its own Kokkos, its own fields
// with ghost rows, its own kernels. It keeps them all. Where it wants a distributed product (here:
// the strengths of some waves in its field, and the field without them) it lends its memory to
// tensors, and takes the result back. What tensors it keeps between calls, it keeps under names,
// and knows none of their types. What goes wrong reaches it as an exception.
//
// ranks: 1 3 4
#include <mpi.h>

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdio>
#include <dimesh/any_tensor.hpp>
#include <dimesh/dimesh.hpp>
#include <dimesh/interop/borrow.hpp>
#include <map>
#include <numbers>
#include <string>

namespace my_code {  // nothing of the library here

using array = Kokkos::View<double**, Kokkos::LayoutRight>;

struct field {
  int first = 0, rows = 0, columns = 0;  // of the whole, this rank has rows first..first+rows-1
  array u;                               // and one ghost row on each side
};

/// n rows over the ranks of a communicator, ceil(n / ranks) each, as long as there are some.
field make_field(MPI_Comm comm, int n, int columns) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const int each = (n + ranks - 1) / ranks, first = std::min(n, rank * each);
  field f{first, std::min(n, first + each) - first, columns, {}};
  f.u = array("u", static_cast<std::size_t>(f.rows + 2), static_cast<std::size_t>(columns));
  for (int i = 0; i < f.rows; ++i)
    for (int j = 0; j < columns; ++j)
      f.u(i + 1, j) = std::sin(0.3 * (first + i)) + 2 * std::cos(0.7 * j) * std::sin(first + i);
  return f;
}

double energy(MPI_Comm comm, const field& f) {
  double sum = 0, total = 0;
  for (int i = 1; i <= f.rows; ++i)
    for (int j = 0; j < f.columns; ++j) sum += f.u(i, j) * f.u(i, j);
  MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, comm);
  return total;
}

}  // namespace my_code

namespace dm = dimesh;

struct row : dm::dim<> {};
struct column : dm::dim<> {};
struct wave : dm::dim<3> {};
struct ranks : dm::axis<> {};
struct line : dm::mesh<ranks> {};

// The code's own way to cut its rows, in a type: blocks of ceil(n / ranks), one ghost row.
using cut = dm::layout<line, dm::split<dm::uneven<row>, ranks>>;
using ghosted = dm::layout<line, dm::split<dm::halo<dm::uneven<row>, 1>, ranks>>;
using with_ghosts = dm::tensor<double, ghosted, row, column>;
using waves = dm::tensor<double, cut, wave, row>;  // sines along the rows, of length 1

struct point {
  template <class U> constexpr auto operator()(const U& u) const { return dm::at<>(u); }
};

/// Of any layouts: whoever wants one of them says which.
using kept_tensors = std::map<std::string, dm::any_tensor>;

/// The waves along n rows, made when they are asked for first.
waves basis_of(const dm::grid<line>& g, kept_tensors& kept, int n) {
  dm::any_tensor& held = kept["waves"];
  if (!held.defined() || held.extent(1) != n)
    held = dm::generate<waves>(
        g,
        [n](dm::index_t k, dm::index_t i) {
          return std::sqrt(2.0 / (n + 1)) *
                 std::sin(std::numbers::pi * double((k + 1) * (i + 1)) / (n + 1));
        },
        row{n});
  return held.as<waves>();  // throws if it is of another type
}

/// Takes what some waves make of the field out of it; returns their strength.
double filter(const dm::grid<line>& g, my_code::field& f, int n, kept_tensors& kept) {
  const auto lent = dm::borrow<with_ghosts>(g, f.u, row{n}, column{f.columns});  // no copy
  const auto u = dm::stencil(point{}, lent);                                     // no ghosts
  const waves basis = basis_of(g, kept, n);
  // [wave, row] x [row, column]: a product on each rank, and a sum over the ranks that the type
  // asks for. Without `complete` the next product would not compile.
  const auto strength = dm::complete(dm::einsum<wave, column>(basis, u));
  const auto rest = u - dm::einsum<row, column>(basis, strength);
  dm::copy_to(Kokkos::subview(f.u, std::pair(1, f.rows + 1), Kokkos::ALL), rest);
  return dm::value(dm::complete(dm::einsum<>(strength, strength)));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Kokkos::initialize(argc, argv);
  int failed = 0;
  {
    MPI_Comm mine = MPI_COMM_NULL;  // the solver's ranks: here all, in turned order
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &mine);
    constexpr int n = 50, columns = 20;
    my_code::field f = my_code::make_field(mine, n, columns);
    {
      const dm::grid<line> g(mine);
      kept_tensors kept;
      const double before = my_code::energy(mine, f), taken = filter(g, f, n, kept);
      const double after = my_code::energy(mine, f);
      if (g.rank() == 0)
        std::printf("energy %.6f = %.6f in the waves + %.6f in the rest\n", before, taken, after);
      const double again = filter(g, f, n, kept);  // of these waves nothing is left
      failed = !(std::abs(before - taken - after) < 1e-9 * before && again < 1e-9 * before);
      if (g.rank() == 0)
        for (const auto& [name, t] : kept)
          std::printf("kept: %s, %s\n", name.c_str(), t.text().c_str());
      try {  // a length that is not the field's: the code goes on
        filter(g, f, n + 40, kept);
        failed = 1;
      } catch (const dm::error& e) {
        if (g.rank() == 0) std::printf("refused: %s\n", e.what());
      }
    }
    MPI_Comm_free(&mine);
  }
  Kokkos::finalize();
  MPI_Finalize();
  return failed;
}
