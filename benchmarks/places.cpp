// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a rank pay for operations on tensors that live elsewhere? Chains of operations on a
// tensor at the first place of an axis, with and without gradients, as the rank at the second place
// sees them: nanoseconds an operation, beside those of the rank that has the tensor.
// ranks: 2
//
//   mpirun -n 2 benchmarks/places [--quick]
#include <dimesh/dimesh.hpp>
#include <dimesh/op/place.hpp>

#include <cstring>

#include "support/race.hpp"

namespace {

namespace dm = dimesh;

struct row : dm::dim<64> {};
struct column : dm::dim<1024> {};
struct stage : dm::axis<2> {};
struct pod : dm::mesh<stage> {};
using at_first = dm::layout<pod, dm::placed<stage, 0>>;
using numbers = dm::tensor<float, at_first, row, column>;

/// Operations of each call.
constexpr int length = 32;
struct chain {
  template <class X> auto operator()(const X& x) const { return step<length / 2>(x); }

 private:
  template <int N, class X> static auto step(const X& x) {
    if constexpr (N == 0)
      return x;
    else
      return step<N - 1>(dm::relu(x * 0.5f));
  }
};
struct sum_of_chain {
  template <class X> auto operator()(const X& x) const { return dm::sum<>(chain{}(x)); }
};

double budget = 1;

/// Each rank times itself; the second tells the first.
template <class F> void report(const char* what, int operations, const F& f) {
  const auto [s] = bench::race(MPI_COMM_NULL, budget)(f);
  double mine = s.fast() * 1e9 / operations, other = 0;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) MPI_Send(&mine, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  MPI_Recv(&other, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  std::printf("%-32s %10.0f ns there %8.1f ns elsewhere  %6.4f\n", what, mine, other, other / mine);
}

void compare() {
  const dm::grid<pod> g;
  const auto x = dm::uniform<numbers>(g, dm::random_key{1}, -1.0f, 1.0f);
  report("64 x 1024, an operation", length, [&] { (void)chain{}(x); });
  report("the same and its transpose", 2 * length,
         [&] { (void)dm::value_and_grad(sum_of_chain{}, x)(); });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--quick") == 0) budget = 0.3;
  return dm::run(argc, argv, [] { compare(); });
}
